//! Text that goes to others: without the folders of the user.

/// The same with the last part of each path that begins at the root or at home: `git:~/src/linux@v6.1` becomes
/// `git:linux@v6.1`, `/srv/ada/it.sh` becomes `./it.sh`.
pub(super) fn public(text: &str) -> String {
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

fn word(word: &str) -> String {
    let (quote, rest) = match word.strip_prefix('\'') {
        Some(rest) => ("'", rest),
        None => ("", word),
    };
    if let Some((path, revision)) = rest.strip_prefix("git:").and_then(|rest| rest.split_once('@')) {
        return format!("{quote}git:{}@{revision}", last(path));
    }
    let is_private = rest.starts_with("~/") || (rest.starts_with('/') && rest.len() > 1);
    if is_private { format!("{quote}./{}", last(rest)) } else { word.to_owned() }
}

fn last(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_the_user_are_left_out() {
        for (text, expected) in [
            (
                "kiln run git:/srv/ada/src/linux@v6.1..v6.2 --exec /srv/ada/it.sh -- -x",
                "kiln run git:linux@v6.1..v6.2 --exec ./it.sh -- -x",
            ),
            (
                "kiln run 'git:~/my-linux/@HEAD~3' --case 'fs/*'",
                "kiln run 'git:my-linux@HEAD~3' --case 'fs/*'",
            ),
            ("40 commits from ~/linux to here", "40 commits from ./linux to here"),
            ("deb:6.1.0-56-cloud, fs/ext4 and a / b", "deb:6.1.0-56-cloud, fs/ext4 and a / b"),
        ] {
            assert_eq!(public(text), expected);
        }
    }
}

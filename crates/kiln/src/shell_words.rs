//! Calls of kiln as a shell reads them.

/// A call with these words after the name.
pub(crate) fn quoted(words: &[String]) -> String {
    let plain = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_=+,./:@%~".contains(&byte))
    };
    let quote = |word: &String| match plain(word) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    std::iter::once("kiln".to_string()).chain(words.iter().map(quote)).collect::<Vec<_>>().join(" ")
}

/// This call.
pub(crate) fn this_call() -> String {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    quoted(&words.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_take_apart_stays_one_word() {
        let words = ["run", "git:~/linux@HEAD", "--append", "a b", "it's", ""].map(str::to_string);
        assert_eq!(quoted(&words), r"kiln run git:~/linux@HEAD --append 'a b' 'it'\''s' ''");
    }
}

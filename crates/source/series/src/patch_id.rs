//! Whether two patches change the same.

/// The changes of a patch: what `git patch-id` counts, without the numbers of lines and without spaces. Empty for a text
/// without a patch.
pub(crate) fn changes(patch: &[u8]) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut is_inside = false;
    for line in patch.split(|&byte| byte == b'\n') {
        if line.starts_with(b"diff -") || line.starts_with(b"--- ") && line != b"--- " {
            is_inside = true;
        }
        // The signature.
        if line == b"-- " {
            break;
        }
        if !is_inside || line.starts_with(b"@@ -") || line.starts_with(b"index ") {
            continue;
        }
        kept.extend(line.iter().filter(|byte| !byte.is_ascii_whitespace()));
        kept.push(b'\n');
    }
    kept
}

/// The changes of a patch for a reader who compares it with another: without diffstat, signature, hashes and numbers of lines.
pub(crate) fn readable(patch: &[u8]) -> String {
    let text = String::from_utf8_lossy(patch);
    let lines = text.lines().skip_while(|line| !line.starts_with("diff -") && !line.starts_with("--- a"));
    let mut kept = String::new();
    for line in lines.take_while(|line| *line != "-- ").filter(|line| !line.starts_with("index ")) {
        let hunk = line.strip_prefix("@@ -").and_then(|rest| rest.split_once(" @@"));
        match hunk {
            Some((_, function)) => kept.push_str(&format!("@@{function}\n")),
            None => kept.push_str(&format!("{line}\n")),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_the_same_wherever_they_apply() {
        let one = b"---\n a | 2 +-\n\ndiff --git a/a b/a\nindex 1..2\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n-- \n2.39\n";
        let moved =
            b"diff --git a/a b/a\nindex 3..4\n--- a/a\n+++ b/a\n@@ -10 +11 @@ f\n- a\n+b\n-- \n2.40\n";
        let other = b"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+c\n";
        assert_eq!(changes(one), changes(moved));
        assert_ne!(changes(one), changes(other));
        assert!(changes(b"---\nwords\n").is_empty());
        assert_eq!(readable(moved), "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ f\n- a\n+b\n");
    }
}

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
    }
}

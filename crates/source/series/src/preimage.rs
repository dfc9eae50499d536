//! Which files a series expects, by the hashes that its patches name.

use std::collections::HashSet;

/// Most files of a series.
const FILES_MAX: usize = 10_000;

/// Shortest hash of a file that counts, in hexadecimal digits.
const HASH_MIN: usize = 7;

/// A file as it was before a series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preimage {
    /// Where it is in the tree.
    pub path: String,
    /// Its hash, abbreviated or not.
    pub blob: String,
}

/// The files that patches change, in the order in which they are met, as they were before the first of them: what an
/// earlier patch has changed or made is not expected of the tree.
pub fn preimages<'p>(patches: impl IntoIterator<Item = &'p [u8]>) -> Vec<Preimage> {
    let mut known: HashSet<String> = HashSet::new();
    let mut found = Vec::new();
    for patch in patches {
        for change in changes(&String::from_utf8_lossy(patch)) {
            let is_first = change.old.as_ref().is_some_and(|path| !known.contains(path));
            if let (Some(path), Some(blob)) = (&change.old, change.blob.filter(|_| is_first)) {
                found.push(Preimage { path: path.clone(), blob });
            }
            known.extend(change.old.into_iter().chain(change.new));
            if found.len() >= FILES_MAX || known.len() >= 2 * FILES_MAX {
                return found;
            }
        }
    }
    found
}

/// What a patch does to a file.
#[derive(Debug, Default)]
struct Change {
    /// Nothing if it makes the file.
    old: Option<String>,
    new: Option<String>,
    blob: Option<String>,
}

fn changes(patch: &str) -> Vec<Change> {
    let mut found: Vec<Change> = Vec::new();
    let mut is_header = false;
    for line in patch.lines() {
        if let Some(names) = line.strip_prefix("diff --git ") {
            is_header = true;
            let (old, new) = both(names).unzip();
            found.push(Change { old, new, blob: None });
        }
        is_header &= !line.starts_with("@@ -");
        if let Some(change) = found.last_mut().filter(|_| is_header) {
            change.heed(line);
        }
    }
    found
}

impl Change {
    /// Takes in a line of the extended header: git-diff(1).
    fn heed(&mut self, line: &str) {
        if let Some(hashes) = line.strip_prefix("index ") {
            let blob = hashes.split("..").next().unwrap_or_default();
            let is_hash = blob.len() >= HASH_MIN && blob.bytes().all(|byte| byte.is_ascii_hexdigit());
            // Nothing but zeros stands for no file.
            self.blob = (is_hash && blob.bytes().any(|byte| byte != b'0')).then(|| blob.to_owned());
        } else if line.starts_with("new file mode ") {
            self.old = None;
        } else if line.starts_with("deleted file mode ") {
            self.new = None;
        } else if let Some(path) =
            line.strip_prefix("rename from ").or_else(|| line.strip_prefix("copy from "))
        {
            self.old = unquoted(path);
        } else if let Some(path) = line.strip_prefix("rename to ").or_else(|| line.strip_prefix("copy to ")) {
            self.new = unquoted(path);
        }
    }
}

/// The names in `a/x b/x`, which are the same unless a file is renamed.
fn both(names: &str) -> Option<(String, String)> {
    if let Some(rest) = names.strip_prefix('"') {
        let (old, _) = rest.split_once("\" ")?;
        let path = unquoted(&format!("\"{old}\""))?.strip_prefix("a/")?.to_owned();
        return Some((path.clone(), path));
    }
    let half = names.len().checked_sub(1)? / 2;
    let (old, new) = (names.get(..half)?.strip_prefix("a/")?, names.get(half + 1..)?.strip_prefix("b/")?);
    (old == new).then(|| (old.to_owned(), new.to_owned()))
}

/// A name as git writes it, in quotes and with octal escapes if it has unusual characters; nothing if it cannot stand in a line.
fn unquoted(name: &str) -> Option<String> {
    let Some(inner) = name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) else {
        return Some(name.to_owned());
    };
    let mut bytes = Vec::new();
    let mut rest = inner.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let digits = rest.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(code) = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            bytes.push(code);
            rest = &rest[3..];
        } else {
            let (&escaped, after) = rest.split_first()?;
            bytes.push(escaped);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok().filter(|path| !path.contains(char::is_control))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(patches: &[&str]) -> String {
        let found = preimages(patches.iter().map(|patch| patch.as_bytes()));
        found.iter().map(|file| format!("{}={}", file.path, file.blob)).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn files_are_expected_as_they_were_before_the_series() {
        let first = "---\n a | 1 +\n\ndiff --git a/a b/a\nindex 1111111..2222222 100644\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-index 9999999..\n\
                     diff --git a/new b/new\nnew file mode 100644\nindex 0000000..3333333\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n";
        let second = "diff --git a/a b/a\nindex 2222222..4444444 100644\n@@ -1 +1 @@\ndiff --git a/new b/new\nindex 3333333..5555555 100644\n\
                      diff --git a/gone b/gone\ndeleted file mode 100644\nindex 6666666..0000000\n\
                      diff --git a/x/from b/y/to\nsimilarity index 90%\nrename from x/from\nrename to y/to\nindex 7777777..8888888 100644\n\
                      diff --git \"a/\\303\\244 b\" \"b/\\303\\244 b\"\nindex abcdef0..1234567 100644\n\
                      diff --git a/mode b/mode\nold mode 100644\nnew mode 100755\n";
        assert_eq!(shown(&[first]), "a=1111111");
        assert_eq!(shown(&[first, second]), "a=1111111 gone=6666666 x/from=7777777 ä b=abcdef0");
        assert_eq!(shown(&[second]), "a=2222222 new=3333333 gone=6666666 x/from=7777777 ä b=abcdef0");
        assert_eq!(shown(&["words\nindex 1111111..2222222\n"]), "");
    }

    proptest! {
        #[test]
        fn no_patch_does_harm(text in "(diff --git |a/|b/|\"|\\\\|index |rename from |[0-9a-fé]{0,8}|\n| |\\.\\.){0,60}") {
            for file in preimages([text.as_bytes()]) {
                prop_assert!(!file.path.contains('\n') && file.blob.len() >= HASH_MIN);
            }
        }
    }
}

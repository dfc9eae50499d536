//! Paths of source files, as a compiler writes them down.

/// The path without `.` and `..`, as far as that can be said without looking at a disk.
pub(super) fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| !matches!(*last, "" | "..")) => {
                parts.pop();
            }
            // Twice the same stroke.
            "" if !parts.is_empty() => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The path below `root`, which ends in a stroke; as it is if it lies elsewhere.
pub(super) fn below(root: Option<&str>, path: &str) -> String {
    root.and_then(|root| path.strip_prefix(root)).unwrap_or(path).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_shown_as_it_is_in_the_tree() {
        let path = normal("/src/u/objects/../linux/./fs//pipe.c");
        assert_eq!(path, "/src/u/linux/fs/pipe.c");
        assert_eq!(below(Some("/src/u/linux/"), &path), "fs/pipe.c");
        assert_eq!(below(Some("/src/v/"), &path), path);
        assert_eq!(normal("../../x/./y.h"), "../../x/y.h");
        assert_eq!(normal("/../x"), "/../x");
    }
}

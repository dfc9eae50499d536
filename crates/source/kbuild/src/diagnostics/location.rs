//! Where a diagnostic is: paths as programs print them, made relative to the tree.

use std::path::Path;

/// A place as a program printed it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Location<'a> {
    pub(crate) file: &'a str,
    pub(crate) line: Option<u32>,
    pub(crate) column: Option<u32>,
}

impl<'a> Location<'a> {
    /// Reads `file`, `file:12`, `file:12:3`, and dtc's `file:12.3-14` and `file:12.3-13.4`.
    pub(crate) fn of(text: &'a str) -> Self {
        let Some((before, last)) = text.rsplit_once(':') else {
            return Self { file: text, ..Self::default() };
        };
        let Some((last, column)) = numbers(last) else { return Self { file: text, ..Self::default() } };
        if column.is_some() {
            return Self { file: before, line: Some(last), column };
        }
        match before.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?))) {
            Some((file, line)) => Self { file, line: Some(line), column: Some(last) },
            None => Self { file: before, line: Some(last), column: None },
        }
    }

    /// The file, if it is one that a person can open.
    pub(super) fn known_file(&self) -> Option<String> {
        let name = self.file.rsplit('/').next().unwrap_or_default();
        // What gcc hands to the assembler has a new name each time.
        let is_passing = name.len() == 10 && name.starts_with("cc") && name.ends_with(".s");
        let is_no_file = self.file.is_empty() || self.file.starts_with(['<', '{']);
        (!is_passing && !is_no_file).then(|| self.file.to_owned())
    }
}

/// `12`, or line and column of `12.3-14`.
fn numbers(text: &str) -> Option<(u32, Option<u32>)> {
    match text.split_once('.') {
        None => Some((text.parse().ok()?, None)),
        Some((line, rest)) => Some((line.parse().ok()?, Some(rest.split('-').next()?.parse().ok()?))),
    }
}

/// The source that the linker names without its directory, beside the object that it was compiled to.
pub(super) fn beside(object: Option<&str>, file: &str) -> String {
    match object.and_then(|object| object.rsplit_once('/')) {
        Some((directory, _)) if !file.contains('/') => format!("{directory}/{file}"),
        _ => file.to_owned(),
    }
}

/// The directories of a build.
#[derive(Debug)]
pub(crate) struct Places {
    objects: String,
    /// Both with a slash at the end, the longer one first: one may be inside the other.
    prefixes: Vec<String>,
}

impl Places {
    pub(crate) fn new(tree: &Path, objects: &Path) -> Self {
        let [tree, objects] = [tree, objects].map(|path| clean(&path.to_string_lossy()));
        let mut prefixes: Vec<String> = [&tree, &objects]
            .into_iter()
            .filter(|path| path.starts_with('/') && path.len() > 1)
            .map(|path| format!("{path}/"))
            .collect();
        prefixes.sort_by_key(|path| std::cmp::Reverse(path.len()));
        Self { objects, prefixes }
    }

    /// A path relative to the directory that it is in.
    pub(crate) fn file(&self, path: &str) -> String {
        // make runs in the object directory, and names sources from there where the tree is above it.
        let whole =
            if path.starts_with("../") { clean(&format!("{}/{path}", self.objects)) } else { clean(path) };
        let relative = self.prefixes.iter().find_map(|prefix| whole.strip_prefix(prefix.as_str()));
        relative.map_or(whole.as_str(), |relative| relative).to_owned()
    }

    /// A text without the directories in it.
    pub(super) fn in_text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for prefix in self.prefixes.iter().filter(|prefix| text.contains(prefix.as_str())).collect::<Vec<_>>()
        {
            text = text.replace(prefix.as_str(), "");
        }
        text
    }
}

/// A path without `.`, `..` and doubled slashes, as far as its text tells.
fn clean(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if path.starts_with('/') => {}
            part => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_files() {
        let at = |file, line, column| Location { file, line, column };
        for (text, wanted) in [
            ("a.c", at("a.c", None, None)),
            ("a.c:1", at("a.c", Some(1), None)),
            ("a.c:1:2", at("a.c", Some(1), Some(2))),
            ("a:b.c:1", at("a:b.c", Some(1), None)),
            ("a.dts:4.8-26", at("a.dts", Some(4), Some(8))),
            ("a.dts:4.8-5.3", at("a.dts", Some(4), Some(8))),
            ("a.c:", at("a.c:", None, None)),
            ("", at("", None, None)),
            ("a.c:99999999999", at("a.c:99999999999", None, None)),
        ] {
            assert_eq!(Location::of(text), wanted, "{text}");
        }
        assert_eq!(Location::of("/t/ccAb12x9.s").known_file(), None);
        assert_eq!(Location::of("<stdin>:1").known_file(), None);
        assert_eq!(Location::of("lib/ccan.s").known_file().as_deref(), Some("lib/ccan.s"));
    }

    #[test]
    fn paths_become_relative() {
        let places = Places::new(Path::new("/src/linux/"), Path::new("/src/linux/build"));
        for (path, wanted) in [
            ("/src/linux/lib/a.c", "lib/a.c"),
            ("/src/linux/./Kbuild", "Kbuild"),
            ("/src/linux/build/lib/a.o", "lib/a.o"),
            ("../lib/a.c", "lib/a.c"),
            ("./lib//a.c", "lib/a.c"),
            ("arch/x86/boot/compressed/../voffset.h", "arch/x86/boot/voffset.h"),
            ("/usr/include/stdio.h", "/usr/include/stdio.h"),
            ("/../..", "/"),
            ("lib/a.c", "lib/a.c"),
        ] {
            assert_eq!(places.file(path), wanted, "{path}");
        }
        assert_eq!(places.in_text("in /src/linux/build/a.o and /src/linux/b"), "in a.o and b");
        let unknown = Places::new(Path::new(""), Path::new("/"));
        assert_eq!(unknown.file("/lib/a.c"), "/lib/a.c");
    }
}

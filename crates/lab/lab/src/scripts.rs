//! What scripts need to run in a machine.

use machine::program::interpreter;

/// Names under which busybox is a shell.
const SHELLS: &[&str] = &["sh", "ash"];

/// Interpreters that do nothing without a tree of modules, which differs from host to host.
const WITH_MODULES: &[&str] = &["python", "perl", "ruby", "tclsh", "expect", "node", "php"];

/// Who runs a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reader {
    /// The machine's shell, which has to be there under this path.
    Shell(String),
    /// A program of the host that can be shipped.
    Program,
    /// One that cannot; why.
    Missing(String),
}

/// Who runs the script with this content; nothing for other files.
pub(super) fn reader(content: &[u8]) -> Option<Reader> {
    let words = interpreter(content)?;
    let path = words.first().map_or("", String::as_str);
    if !path.starts_with('/') {
        return Some(Reader::Missing(format!("its interpreter {path:?} is not an absolute path")));
    }
    let base = |path: &str| path.rsplit('/').next().unwrap_or_default().to_string();
    let by_env = (base(path) == "env").then(|| words[1..].iter().find(|word| !word.starts_with('-')));
    let name = by_env.flatten().map_or_else(|| base(path), |name| base(name));
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    Some(match () {
        () if SHELLS.contains(&name.as_str()) => Reader::Shell(path.to_string()),
        () if WITH_MODULES.contains(&stem) => {
            Reader::Missing(format!("needs {name} with its modules, which kiln does not ship"))
        }
        () => Reader::Program,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shells_are_there_modules_are_not_and_the_rest_is_shipped() {
        let shell = |path: &str| Some(Reader::Shell(path.into()));
        assert_eq!(reader(b"#!/bin/sh -e\n"), shell("/bin/sh"));
        assert_eq!(reader(b"#! /usr/bin/env sh\n"), shell("/usr/bin/env"));
        assert_eq!(reader(b"#!/bin/bash\n"), Some(Reader::Program));
        assert_eq!(reader(b"#!/usr/bin/env -S gawk -f\n"), Some(Reader::Program));
        for text in
            ["#!/usr/bin/python3\n", "#!/usr/bin/env python3.11\n", "#!/usr/bin/perl -w\n", "#!x\n", "#!\n"]
        {
            assert!(matches!(reader(text.as_bytes()), Some(Reader::Missing(_))), "{text}");
        }
        assert_eq!(reader(b"\x7fELF"), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken(mut bytes: Vec<u8>) {
            bytes.splice(0..0, *b"#!");
            prop_assert!(reader(&bytes).is_some());
        }
    }
}

//! What scripts need to run in a machine.

use std::path::Path;

use machine::Error;
use machine::program::{Program, interpreter, read};

/// Names under which busybox is a shell.
const SHELLS: &[&str] = &["sh", "ash"];

/// Interpreters that do nothing without a tree of modules, which differs from host to host.
const WITH_MODULES: &[&str] = &["python", "perl", "ruby", "tclsh", "expect", "node", "php"];

/// Who runs a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reader {
    /// The machine's shell, which has to be there under this path.
    Shell(String),
    /// A program of the host that can be shipped.
    Program,
    /// One that cannot; why.
    Missing(String),
}

/// The user's own program at `path`, with what it needs.
///
/// # Errors
///
/// When it cannot be read, is no program, or is a script whose interpreter cannot be shipped.
pub(crate) fn load(path: &Path) -> Result<Program, Error> {
    let program = Program::load(path)?;
    match reader(&program.content) {
        Some(Reader::Missing(why)) => {
            let why = format!("{why}: use a script for sh or bash, or a compiled program");
            Err(Error::Program { program: path.display().to_string(), why })
        }
        _ => Ok(program),
    }
}

/// Who runs the script with this content; nothing for other files.
pub(crate) fn reader(content: &[u8]) -> Option<Reader> {
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
        () if is_script(path, &name) => Reader::Missing(format!(
            "its interpreter {name} is a script itself, and what that runs is not known"
        )),
        () => Reader::Program,
    })
}

/// Whether the interpreter is a wrapper, at its path or, if env finds it, in this host's `PATH`.
fn is_script(path: &str, name: &str) -> bool {
    let found = if path.ends_with(name) { Some(path.into()) } else { Program::find(name) };
    found.and_then(|path| read(&path).ok()).is_some_and(|content| interpreter(&content).is_some())
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

    #[test]
    fn a_wrapper_is_no_interpreter() {
        let folder = tempfile::tempdir().unwrap();
        let wrapper = folder.path().join("py");
        std::fs::write(&wrapper, "#!/bin/sh\nexec python3 \"$@\"\n").unwrap();
        let script = format!("#!{}\n", wrapper.display());
        let expected = "its interpreter py is a script itself, and what that runs is not known";
        assert_eq!(reader(script.as_bytes()), Some(Reader::Missing(expected.to_string())));
    }

    #[test]
    fn a_program_in_python_is_refused_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("it.py");
        std::fs::write(&script, "#!/usr/bin/env python3\n").unwrap();
        let error = load(&script).unwrap_err();
        assert!(error.is_usage());
        let advice = "it.py: needs python3 with its modules, which kiln does not ship: \
                      use a script for sh or bash, or a compiled program";
        assert!(error.to_string().ends_with(advice), "{error}");
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken(mut bytes: Vec<u8>) {
            bytes.splice(0..0, *b"#!");
            prop_assert!(reader(&bytes).is_some());
        }
    }
}

//! The lists of LTP, a test a line: `TAG COMMAND...`, where a shell reads the command; `#` begins a comment.

use thiserror::Error;

/// Longest line, in bytes: it travels in one message.
const LINE_MAX: usize = 4096;

/// One test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name in the list.
    pub tag: String,
    /// What a shell is to run.
    pub command: String,
}

/// A line that is no test.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {why}")]
pub struct Malformed {
    /// From 1.
    pub line: usize,
    /// What is wrong.
    pub why: &'static str,
}

/// Reads a list.
///
/// # Errors
///
/// At the first line that has a tag without a command, is too long, or is no text.
pub fn parse(text: &str) -> Result<Vec<Entry>, Malformed> {
    let mut entries = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        entries.push(entry(line).map_err(|why| Malformed { line: index + 1, why })?);
    }
    Ok(entries)
}

fn entry(line: &str) -> Result<Entry, &'static str> {
    if line.len() > LINE_MAX {
        return Err("the line is too long");
    }
    if line.contains(|c: char| c.is_control() && c != '\t') {
        return Err("the line holds control characters");
    }
    let (tag, command) = line.split_once(char::is_whitespace).ok_or("a tag without a command")?;
    // The tag becomes the name of a case, whose parts are folders.
    if tag.split('/').any(|part| part.is_empty() || part == "." || part == "..") {
        return Err("the tag is not a name");
    }
    Ok(Entry { tag: tag.to_string(), command: command.trim().to_string() })
}

/// The name of the program that a command begins with, as far as that can be told without a shell.
#[must_use]
pub fn program(command: &str) -> Option<&str> {
    let is_assignment = |word: &&str| word.split_once('=').is_some_and(|(name, _)| is_name(name));
    let word = command.split_whitespace().find(|word| !is_assignment(word))?.trim_end_matches(';');
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.+".contains(c);
    (!word.is_empty() && word.chars().all(is_plain) && !is_after_quote(command, word)).then_some(word)
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether something stands before `word`, a part of `command`, by which a shell would split it otherwise.
fn is_after_quote(command: &str, word: &str) -> bool {
    let start = word.as_ptr() as usize - command.as_ptr() as usize;
    command[..start].contains(['"', '\'', '`', '$', '\\'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_list_is_read_line_by_line() {
        let entries = parse("#DESCRIPTION:x\n\nabort01 abort01\nfs_di\tfs_di -d $TMPDIR\n").unwrap();
        let pairs: Vec<_> =
            entries.iter().map(|entry| (entry.tag.as_str(), entry.command.as_str())).collect();
        assert_eq!(pairs, [("abort01", "abort01"), ("fs_di", "fs_di -d $TMPDIR")]);
    }

    #[test]
    fn a_bad_line_is_named() {
        for (text, line) in [("a b\nalone\n", 2), ("../x y\n", 1), ("a/../b c\n", 1), ("a \x1b[2J\n", 1)] {
            assert_eq!(parse(text).unwrap_err().line, line, "{text}");
        }
        assert!(parse(&format!("a {}", "x".repeat(5000))).is_err());
    }

    #[test]
    fn the_program_is_found_where_that_is_plain() {
        for (command, expected) in [
            ("abort01 -i 5", Some("abort01")),
            ("A=1 B_2=x run.sh; other", Some("run.sh")),
            ("cd /x; y", Some("cd")),
            ("A=\"1 2\" run", None),
            ("$LTPROOT/x", None),
            ("(a; b)", None),
            ("a|b", None),
            ("A=1", None),
        ] {
            assert_eq!(program(command), expected, "{command}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text in "(\\PC{0,8}|\\s|=|\"){0,40}") {
            if let Ok(entries) = parse(&text) {
                for entry in entries {
                    prop_assert!(!entry.tag.is_empty() && !entry.command.is_empty());
                    let _ = program(&entry.command);
                }
            }
        }
    }
}

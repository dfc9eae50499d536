//! The commands that a shell script runs, as far as its text shows them: shell words at command positions.
//!
//! A reader, not a shell: what a variable or an `eval` makes a command is not found, and a word that only looks like a
//! command costs a program that nobody starts.

use std::collections::BTreeSet;

/// Longest script that is read, in bytes.
const SCRIPT_MAX: usize = 1 << 20;

/// Most commands and directories of one script.
const COMMANDS_MAX: usize = 256;

/// Substitutions inside each other that are followed.
const DEPTH_MAX: usize = 32;

/// Words after which the next word is a command, too.
const BEFORE_COMMANDS: &[&str] = &[
    "!", "{", "builtin", "command", "do", "elif", "else", "env", "eval", "exec", "if", "nice", "nohup",
    "setsid", "sudo", "then", "time", "until", "while",
];

/// Commands that start others, which stand somewhere among their arguments.
const STARTERS: &[&str] =
    &["chroot", "chrt", "ip", "nsenter", "setpriv", "strace", "taskset", "timeout", "unshare", "xargs"];

/// What a script asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Commands {
    /// Names without a slash, each once.
    pub(crate) names: BTreeSet<String>,
    /// Absolute directories that the script puts into its `PATH`.
    pub(crate) directories: Vec<String>,
}

/// Reads a script.
pub(crate) fn read(content: &[u8]) -> Commands {
    let text = String::from_utf8_lossy(&content[..content.len().min(SCRIPT_MAX)]).into_owned();
    let mut reader = Reader { is_command: true, ..Reader::default() };
    let mut text = text.chars().peekable();
    while let Some(c) = text.next() {
        reader.take(c, text.peek().copied());
        reader.last = c;
    }
    reader.end_word();
    reader.found
}

/// Where the reader is.
#[derive(Debug, Default)]
struct Reader {
    found: Commands,
    word: String,
    /// A part of the word was quoted or comes from a variable: it is no keyword and no plain name.
    is_made: bool,
    /// The next word is a command.
    is_command: bool,
    /// Each of the next words may be a command.
    is_started: bool,
    /// The next word is where something is redirected to.
    is_target: bool,
    quote: Option<char>,
    /// What was read before.
    last: char,
    escaped: bool,
    comment: bool,
    /// For each open substitution: what was quoted outside of it, and whether it ends with a parenthesis.
    outside: Vec<(Option<char>, bool)>,
}

impl Reader {
    fn take(&mut self, c: char, next: Option<char>) {
        match (c, self.quote) {
            _ if self.comment => {
                if c == '\n' {
                    self.comment = false;
                    self.end_command();
                }
            }
            _ if self.escaped => {
                self.escaped = false;
                // A line that goes on is no part of a word.
                if c != '\n' {
                    self.push_made(c);
                }
            }
            ('\'', Some('\'')) | ('"', Some('"')) => self.quote = None,
            (_, Some('\'')) => self.push_made(c),
            ('\\', _) => self.escaped = true,
            ('`', _) => self.turn_backtick(),
            // The parenthesis that follows opens it.
            ('$', _) => self.is_made = true,
            ('(', quote) if self.last == '$' || quote.is_none() => self.open(next),
            (_, Some(_)) => self.push_made(c),
            ('\'' | '"', None) => self.quote = Some(c),
            ('#', None) if self.word.is_empty() && !self.is_made => self.comment = true,
            (')', None) => self.close(),
            ('\n' | ';' | '|' | '&', None) => self.end_command(),
            ('<' | '>', None) => {
                self.end_word();
                self.is_target = true;
            }
            (' ' | '\t' | '\r', None) => self.end_word(),
            (_, None) => self.word.push(c),
        }
    }

    fn push_made(&mut self, c: char) {
        self.is_made = true;
        self.word.push(c);
    }

    fn turn_backtick(&mut self) {
        match self.outside.last() {
            Some((_, false)) => self.close(),
            _ => self.enter(false),
        }
    }

    /// A parenthesis: of a substitution, a subshell or a function's name.
    fn open(&mut self, next: Option<char>) {
        if next == Some(')') {
            // What is defined here is no program.
            self.word.clear();
        }
        self.enter(true);
    }

    fn enter(&mut self, parenthesis: bool) {
        self.end_word();
        if self.outside.len() < DEPTH_MAX {
            self.outside.push((self.quote.take(), parenthesis));
        }
        self.is_command = true;
    }

    fn close(&mut self) {
        self.end_word();
        self.quote = self.outside.pop().and_then(|(quote, _)| quote);
        // The pattern of a `case` ends like this, too, and a command follows.
        self.is_command = self.quote.is_none();
    }

    fn end_command(&mut self) {
        self.end_word();
        (self.is_command, self.is_started, self.is_target) = (true, false, false);
    }

    fn end_word(&mut self) {
        let word = std::mem::take(&mut self.word);
        let is_made = std::mem::take(&mut self.is_made);
        if word.is_empty() {
            return;
        }
        if std::mem::take(&mut self.is_target) {
            return;
        }
        if let Some(path) = word.strip_prefix("PATH=") {
            return self.add_path(path);
        }
        // An assignment before a command is none itself, but what is assigned may become one.
        if let Some(value) = assigned(&word) {
            return value.split_whitespace().for_each(|name| self.add(name));
        }
        let is_word = |words: &[&str]| !is_made && words.contains(&word.as_str());
        let (is_command, is_started) = (self.is_command, self.is_started);
        if is_command {
            (self.is_command, self.is_started) = (is_word(BEFORE_COMMANDS), is_word(STARTERS));
        }
        if (is_command || is_started) && !is_made {
            self.add(&word);
        }
    }

    fn add(&mut self, name: &str) {
        if is_name(name) && self.found.names.len() < COMMANDS_MAX {
            self.found.names.insert(name.to_string());
        }
    }

    fn add_path(&mut self, path: &str) {
        let absolute = path.split(':').filter(|directory| directory.starts_with('/'));
        let room = COMMANDS_MAX.saturating_sub(self.found.directories.len());
        self.found.directories.extend(absolute.take(room).map(str::to_string));
    }
}

/// The value of an assignment, if the word is one.
fn assigned(word: &str) -> Option<&str> {
    let (name, value) = word.split_once('=')?;
    let is_variable = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_variable.then_some(value)
}

/// Whether it can be the name of a program.
fn is_name(word: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_.-+".contains(c);
    word.len() <= 64 && word.starts_with(|c: char| c.is_ascii_alphanumeric()) && word.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names(script: &str) -> Vec<String> {
        read(script.as_bytes()).names.into_iter().collect()
    }

    #[test]
    fn words_at_command_positions_are_commands() {
        for (script, expected) in [
            ("#!/bin/sh\nmkfs.ext4 -q /dev/vda\n", vec!["mkfs.ext4"]),
            ("ip link; tc qdisc | grep fq && sleep 1 &", vec!["grep", "ip", "link", "sleep", "tc"]),
            ("A=: B='/x ./y' fio --name=x", vec!["fio"]),
            ("NEEDS=\"mkfs.xfs xfs_io\"; FS=mkfs.ext4", vec!["mkfs.ext4", "mkfs.xfs", "xfs_io"]),
            ("timeout 5 ping -c1 ::1; true 7", vec!["5", "ping", "timeout", "true"]),
            ("echo \"size: $(stat /x)\"", vec!["echo", "stat"]),
            ("x=$(stat -c %s \"$(which ls)\")", vec!["stat", "which"]),
            ("echo \"now `date +%s`\" 'not `this`'", vec!["date", "echo"]),
            (
                "if test -e /x; then mount /x; else umount /x; fi",
                vec!["else", "fi", "if", "mount", "test", "then", "umount"],
            ),
            ("exec setpriv --reuid 1 id", vec!["1", "exec", "id", "setpriv"]),
            ("ls > cat 2>/dev/null", vec!["ls"]),
            ("# rm -rf /\nsync # blkid", vec!["sync"]),
            ("helper() { lspci; }\nhelper", vec!["helper", "lspci"]),
            ("(cd /x && make)", vec!["cd", "make"]),
            ("strace \\\n ls", vec!["ls", "strace"]),
            ("\"$TOOL\" a; $X b; ./own c; /bin/abs d", vec![]),
        ] {
            assert_eq!(names(script), expected, "{script}");
        }
    }

    #[test]
    fn its_path_is_read() {
        let found = read(b"export PATH=/opt/x/bin:$PATH\nPATH=\"/a:b:/c\" frob");
        assert_eq!(found.directories, ["/opt/x/bin", "/a", "/c"]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_within_bounds(bytes: Vec<u8>) {
            let found = read(&bytes);
            prop_assert!(found.names.len() <= COMMANDS_MAX && found.directories.len() <= COMMANDS_MAX);
        }

        #[test]
        fn any_script_is_read(script in "[a-z \"'`$();|&<>#=\\\\\n]{0,200}") {
            let found = read(script.as_bytes());
            prop_assert!(found.names.iter().all(|name| is_name(name)));
        }

        #[test]
        fn a_command_is_found_wherever_it_stands(name in "[a-z][a-z0-9]{1,9}", before in "[;|&\n]") {
            let script = format!("true {before} {name} x");
            prop_assert!(read(script.as_bytes()).names.contains(&name));
        }
    }
}

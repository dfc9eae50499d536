//! What a shell says about the commands of a program.

use super::{Judgement, Seen};
use crate::outcome::Blame;

/// Most commands that are named.
const NAMED: usize = 20;

/// Names under which shells speak of themselves.
const SHELLS: &[&str] = &["sh", "bash", "dash", "ash"];

/// It ended with what a shell ends with that cannot run a command, and the shell says so.
pub(super) fn without_command(seen: &Seen<'_>, code: i32) -> Option<Judgement> {
    let command = missing_command(seen.output).filter(|_| matches!(code, 126 | 127))?;
    Some(Judgement::broken(Blame::Case, format!("exit status {code}: its shell cannot run {command}")))
}

/// The command that a shell could not run, from the last line in which one says so: dash, bash, busybox and env.
fn missing_command(output: &str) -> Option<&str> {
    const REASONS: [&str; 5] = [
        "not found",
        "command not found",
        "No such file or directory",
        "Permission denied",
        "cannot execute",
    ];
    output.lines().rev().find_map(|line| {
        let line = line.strip_suffix(": required file not found").unwrap_or(line);
        let (before, _) = line.rsplit_once(": ").filter(|(_, reason)| REASONS.contains(reason))?;
        let command = before.rsplit_once(": ")?.1;
        Some(unquoted(command)).filter(|command| !command.is_empty())
    })
}

/// The commands that shells did not find, each once: a script may go on without them and end well.
#[must_use]
pub fn not_found(output: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    for command in output.lines().filter_map(complaint) {
        if !commands.iter().any(|known| known == command) {
            commands.push(command.to_string());
        }
        if commands.len() == NAMED {
            break;
        }
    }
    commands
}

/// The command of a line in which a shell complains: `it.sh: 3: frob: not found`, `it.sh: line 3: frob: command not found`,
/// `sh: frob: not found`, `env: 'frob': No such file or directory`.
fn complaint(line: &str) -> Option<&str> {
    let (before, reason) = line.rsplit_once(": ")?;
    let (speaker, command) = before.rsplit_once(": ")?;
    let place = speaker.rsplit(": ").next().unwrap_or(speaker);
    let name = place.rsplit('/').next().unwrap_or(place);
    let number = place.strip_prefix("line ").unwrap_or(place);
    let is_line = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_complaint = match reason {
        "not found" | "command not found" => is_line || SHELLS.contains(&name),
        "No such file or directory" => (is_line && command.contains('/')) || name == "env",
        _ => false,
    };
    let command = unquoted(command);
    (is_complaint && !command.is_empty() && !command.contains(char::is_whitespace)).then_some(command)
}

fn unquoted(command: &str) -> &str {
    command.trim_matches(['\'', '"', '\u{2018}', '\u{2019}'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_command_is_that_of_the_last_complaint() {
        for (output, command) in [
            ("x\n/usr/local/bin/it.sh: 3: frob: not found\n", Some("frob")),
            ("it.sh: line 3: frob: not found\n", Some("frob")),
            ("it.sh: line 3: frob: command not found", Some("frob")),
            ("it.sh: line 2: ./frob: cannot execute: required file not found", Some("./frob")),
            ("/bin/it: 1: ./frob: Permission denied\nbye", Some("./frob")),
            ("/usr/bin/env: \u{2018}frob\u{2019}: No such file or directory", Some("frob")),
            ("frob: not found", None),
            ("all is well", None),
            ("", None),
        ] {
            assert_eq!(missing_command(output), command, "{output}");
        }
    }

    #[test]
    fn commands_that_were_not_found_are_named_once() {
        let output = "it.sh: 3: frob: not found\n\
                      it.sh: line 4: frob: command not found\n\
                      /bin/it: line 4: ./baz: No such file or directory\n\
                      sh: grep: not found\n\
                      /usr/bin/env: \u{2018}python3\u{2019}: No such file or directory\n\
                      ls: /x: No such file or directory\n\
                      getfattr: user.x: not found\n\
                      it.sh: 5: cannot open /x: No such file or directory\n\
                      all: is well\n";
        assert_eq!(not_found(output), ["frob", "./baz", "grep", "python3"]);
    }

    proptest! {
        #[test]
        fn any_output_is_read_without_panic(output: String, odd in "(sh|: |line |7|not found|é|/|\n){0,40}") {
            for output in [output, odd] {
                let _ = missing_command(&output);
                prop_assert!(not_found(&output).len() <= NAMED);
            }
        }
    }
}

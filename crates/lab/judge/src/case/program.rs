//! Cases of kiln, and programs that know of no other words than their exit status.

use protocol::{Counts, End, ReportKind};

use super::{Dialect, Judgement, Seen, first, first_or};
use crate::outcome::{Blame, Outcome};

/// Nothing went wrong by anybody's word.
pub(super) fn ended(seen: &Seen<'_>, end: &End, counts: Counts) -> Judgement {
    let is_program = seen.dialect != Dialect::Kiln;
    match end {
        // A program that does not report speaks by its exit status, in the words of kselftest.
        End::Exited(4) if is_program => first_or(seen, ReportKind::Skip, Outcome::Skip, "exit status 4"),
        End::Exited(code @ 1..) => {
            let without = without_command(seen, *code).filter(|_| is_program);
            without.unwrap_or_else(|| Judgement::new(Outcome::Fail, format!("exit status {code}")))
        }
        _ if is_program && counts.total() == 0 => Judgement::new(Outcome::Pass, ""),
        _ => reported(seen, counts),
    }
}

/// It ended with what a shell ends with that cannot run a command, and the shell says so.
pub(super) fn without_command(seen: &Seen<'_>, code: i32) -> Option<Judgement> {
    let command = missing_command(seen.output).filter(|_| matches!(code, 126 | 127))?;
    Some(Judgement::broken(Blame::Case, format!("exit status {code}: its shell cannot run {command}")))
}

/// What the results page says when nothing else does.
pub(super) fn reported(seen: &Seen<'_>, counts: Counts) -> Judgement {
    match counts {
        _ if counts.total() == 0 => {
            Judgement::broken(Blame::Case, "the case ended without reporting anything")
        }
        Counts { pass: 0, .. } => first(seen, ReportKind::Skip, Outcome::Skip),
        _ => Judgement::new(Outcome::Pass, ""),
    }
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
        Some(command.trim_matches(['\'', '"', '\u{2018}', '\u{2019}'])).filter(|command| !command.is_empty())
    })
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

    proptest! {
        #[test]
        fn any_output_is_read_without_panic(output: String) {
            let _ = missing_command(&output);
        }
    }
}

//! The exit code of a session, and whose it is.

use protocol::End;
use serde::{Deserialize, Serialize};

use crate::outcome::Accused;
use crate::run::Summary;

/// The user stopped it.
pub const INTERRUPTED: u8 = 130;

/// Broken: no verdict; also where a program's own status cannot be an exit code.
pub const BROKEN: u8 = 3;

/// An exit code. Those of a program can be the same numbers as kiln's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// The code.
    pub code: u8,
    /// Whose it is.
    pub of: Speaker,
}

/// Who speaks by an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Speaker {
    /// By the Outcomes of all cases.
    Kiln,
    /// The user's own program.
    Program,
}

impl Exit {
    /// The exit code of a session with these Outcomes.
    #[must_use]
    pub fn of_session(summary: Summary, interrupted: bool) -> Self {
        let code = if interrupted { INTERRUPTED } else { summary.exit_code() };
        Self { code, of: Speaker::Kiln }
    }

    /// The exit code of a session that ran just the user's own program, which ended so: the program's, unless it ended well,
    /// nothing is known about it, or a defect of the kernel killed it.
    #[must_use]
    pub fn of_program(
        summary: Summary,
        interrupted: bool,
        (end, accused): (Option<&End>, Option<Accused>),
    ) -> Self {
        let is_victim = accused == Some(Accused::Kernel) && matches!(end, Some(End::Signalled(_)));
        let is_known = !interrupted && summary.broken == 0 && !is_victim;
        let status = end.filter(|_| is_known).and_then(status);
        let of_program = status.filter(|&code| code != 0).map(|code| Self { code, of: Speaker::Program });
        of_program.unwrap_or_else(|| Self::of_session(summary, interrupted))
    }
}

/// As a shell gives it: the program's own, or 128 and the number of the signal that ended it.
fn status(end: &End) -> Option<u8> {
    match end {
        End::Exited(code) => Some(u8::try_from(*code).unwrap_or(BROKEN)),
        End::Signalled(signal) => Some(u8::try_from(128 + signal).unwrap_or(BROKEN)),
        End::TimedOut { .. } | End::NotStarted(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_program(end: &End, summary: Summary) -> (u8, Speaker) {
        let Exit { code, of } = Exit::of_program(summary, false, (Some(end), Some(Accused::Program)));
        (code, of)
    }

    #[test]
    fn a_program_speaks_for_itself_unless_it_ended_well() {
        let fail = Summary { fail: 1, ..Summary::default() };
        for (end, code) in [(End::Exited(3), 3), (End::Exited(130), 130), (End::Signalled(11), 139)] {
            assert_eq!(of_program(&end, fail), (code, Speaker::Program), "{end:?}");
        }
        let late = End::TimedOut { stacks: String::new(), killed: true };
        assert_eq!(of_program(&late, Summary { hang: 1, ..Summary::default() }), (1, Speaker::Kiln));
        assert_eq!(of_program(&End::Exited(0), fail), (1, Speaker::Kiln), "the kernel reported a defect");
        assert_eq!(of_program(&End::Signalled(9), Summary { broken: 1, ..fail }), (1, Speaker::Kiln));
        let kiln = Exit { code: 1, of: Speaker::Kiln };
        assert_eq!(Exit::of_program(fail, false, (None, None)), kiln);
        let oops = (Some(&End::Signalled(9)), Some(Accused::Kernel));
        assert_eq!(Exit::of_program(fail, false, oops), kiln, "the kernel killed it over its own defect");
    }

    #[test]
    fn an_interruption_is_kilns_own() {
        let fail = Summary { fail: 1, ..Summary::default() };
        let interrupted = Exit { code: 130, of: Speaker::Kiln };
        assert_eq!(
            Exit::of_program(fail, true, (Some(&End::Exited(7)), Some(Accused::Program))),
            interrupted
        );
        assert_eq!(Exit::of_session(fail, true), interrupted);
        assert_eq!(Exit::of_session(fail, false), Exit { code: 1, of: Speaker::Kiln });
    }
}

//! One Run beside another of the same case.

use judge::Run;

use crate::safe::safe_line;
use crate::words::why;

/// Whether the case ended as before, in one line.
#[must_use]
pub fn compared(before: &Run, now: Option<&Run>) -> String {
    let conclusion = |run: &Run| (run.outcome, run.blame, run.reason.clone());
    match now {
        Some(now) if conclusion(now) == conclusion(before) && now.case == before.case => {
            format!("same as before: {}", line(now))
        }
        Some(now) => format!("before: {}; now: {}", line(before), line(now)),
        None => format!("before: {}; now: not run", line(before)),
    }
}

/// Outcome, case and reason.
fn line(run: &Run) -> String {
    let why = why(run);
    let separator = if why.is_empty() { "" } else { ": " };
    format!("{} {}{separator}{why}", run.outcome.name(), safe_line(&run.case))
}

#[cfg(test)]
mod tests {
    use super::*;
    use judge::{Blame, Outcome};

    fn run(outcome: Outcome, reason: &str) -> Run {
        Run { case: "pipe/full".into(), outcome, reason: reason.into(), ..Run::unstarted() }
    }

    #[test]
    fn outcome_blame_and_reason_are_compared() {
        let before = run(Outcome::Fail, "3 bytes\u{1b}[m");
        assert_eq!(compared(&before, Some(&before)), "same as before: fail pipe/full: 3 bytes");
        let now = run(Outcome::Pass, "");
        assert_eq!(compared(&before, Some(&now)), "before: fail pipe/full: 3 bytes; now: pass pipe/full");
        assert_eq!(compared(&before, None), "before: fail pipe/full: 3 bytes; now: not run");
        let broken = |blame| Run { blame: Some(blame), ..run(Outcome::Broken, "x") };
        let text = compared(&broken(Blame::Case), Some(&broken(Blame::Host)));
        assert_eq!(text, "before: broken pipe/full: by the case: x; now: broken pipe/full: by the host: x");
    }
}

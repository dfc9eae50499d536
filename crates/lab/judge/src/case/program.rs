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
        End::Exited(code @ 1..) => Judgement::new(Outcome::Fail, format!("exit status {code}")),
        _ if is_program && counts.total() == 0 => Judgement::new(Outcome::Pass, ""),
        _ => reported(seen, counts),
    }
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

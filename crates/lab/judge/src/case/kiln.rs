//! Cases of kiln: they report each check.

use protocol::{Counts, End, ReportKind};

use super::{Judgement, Seen, first};
use crate::outcome::{Blame, Outcome};

/// Nothing went wrong by its own word.
pub(super) fn ended(seen: &Seen<'_>, end: &End, counts: Counts) -> Judgement {
    match end {
        End::Exited(code @ 1..) => Judgement::new(Outcome::Fail, format!("exit status {code}")),
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

//! What a comparison comes to.

use measure::BOOT;
use verdict::{Comparison, Missing, Row, Runs, Verdict};

/// The smallest fraction by which a boot that takes more counts: its layout and the size of the image, which is
/// decompressed, move it by thousandths whatever has changed.
const BOOT_ALLOWED: f64 = 0.01;

/// What a comparison comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conclusion {
    /// A kernel is worse than the base, by more than is allowed, or cannot do what the base can.
    Worse,
    /// None is.
    NotWorse,
    /// Nothing was measured on both but the boot.
    Nothing,
}

impl Conclusion {
    /// What `comparison` comes to where figures may be worse by the fraction `allowed`, or by anything. The boot counts if
    /// nothing else was asked for by name.
    #[must_use]
    pub fn of(comparison: &Comparison, allowed: Option<f64>, boot_counts: bool) -> Self {
        let rows = || comparison.others.iter().flat_map(|against| &against.rows);
        let mut missing = comparison.others.iter().flat_map(|against| &against.missing);
        let counts = |row: &Row| boot_counts || row.metric != BOOT;
        let is_too_bad = |row: &Row| allowed.is_some_and(|allowed| counts(row) && is_worse(row, allowed));
        let runs = || comparison.others.iter().filter_map(|against| against.runs.as_ref());
        let fails = |runs: &Runs| runs.verdict == Verdict::Worse || runs.is_lost();
        let has_run = |runs: &Runs| runs.base.total() > 0 && runs.new.total() > 0;
        // What the base can do and the other cannot is no matter of percents.
        if rows().any(is_too_bad) || missing.any(is_lost) || runs().any(fails) {
            Self::Worse
        } else if rows().any(|row| row.metric != BOOT) || runs().any(has_run) {
            Self::NotWorse
        } else {
            Self::Nothing
        }
    }
}

/// Whether it is worse by more than the fraction `allowed`; where the base is 0, by anything.
fn is_worse(row: &Row, allowed: f64) -> bool {
    let allowed = if row.metric == BOOT { allowed.max(BOOT_ALLOWED) } else { allowed };
    row.verdict == Verdict::Worse && row.percent.is_none_or(|percent| percent.abs() > allowed * 100.0)
}

fn is_lost(missing: &Missing) -> bool {
    missing.base.is_none() && missing.new.as_ref().is_some_and(|why| why.outcome.is_failure())
}

#[cfg(test)]
mod tests {
    use super::*;
    use judge::Outcome;
    use measure::{Kind, NotMeasured, Subject, Unit};
    use verdict::{Against, Side};

    fn row(metric: &str, verdict: Verdict, percent: Option<f64>) -> Row {
        let side = || Side { min: 1.0, median: 1.0, max: 1.0, boots: vec![1.0], apart: None };
        let (base, new) = (side(), side());
        let (about, unit) = (String::new(), Unit::Instructions);
        let (difference, interval, p, why) = (1.0, None, None, None);
        let (steadiness, ground) = (None, None);
        Row {
            metric: metric.into(),
            about,
            unit,
            base,
            new,
            difference,
            percent,
            interval,
            p,
            verdict,
            steadiness,
            ground,
            why,
        }
    }

    fn lost(outcome: Outcome) -> Missing {
        let new = Some(NotMeasured { outcome, reason: String::new() });
        Missing { metric: "workload".into(), base: None, new }
    }

    fn concluded(rows: Vec<Row>, missing: Vec<Missing>, allowed: Option<f64>) -> Conclusion {
        let against = Against { subject: Subject::default(), rows, missing, runs: None };
        let (base, others) = (Subject::default(), vec![against]);
        let comparison = Comparison { kind: Kind::Exact, base, others, noise: None, notes: Vec::new() };
        Conclusion::of(&comparison, allowed, true)
    }

    #[test]
    fn a_figure_may_be_worse_by_what_is_allowed() {
        let worse =
            |percent, allowed| concluded(vec![row("fs/open", Verdict::Worse, percent)], Vec::new(), allowed);
        assert_eq!(worse(Some(1.5), Some(0.0)), Conclusion::Worse);
        assert_eq!(worse(Some(1.5), Some(0.01)), Conclusion::Worse);
        assert_eq!(worse(Some(1.5), Some(0.02)), Conclusion::NotWorse);
        assert_eq!(worse(None, Some(1000.0)), Conclusion::Worse);
        assert_eq!(worse(None, None), Conclusion::NotWorse);
        let better = row("fs/open", Verdict::Better, Some(-1.5));
        assert_eq!(concluded(vec![better], Vec::new(), Some(0.0)), Conclusion::NotWorse);
    }

    #[test]
    fn what_only_the_base_can_do_is_worse_whatever_is_allowed() {
        assert_eq!(concluded(Vec::new(), vec![lost(Outcome::Crash)], None), Conclusion::Worse);
        assert_eq!(concluded(Vec::new(), vec![lost(Outcome::Skip)], Some(0.0)), Conclusion::Nothing);
    }

    #[test]
    fn a_boot_counts_from_one_percent_on_unless_something_else_was_asked_for() {
        let slower =
            |percent| vec![row(BOOT, Verdict::Worse, Some(percent)), row("a", Verdict::Same, Some(0.0))];
        assert_eq!(concluded(slower(0.9), Vec::new(), Some(0.0)), Conclusion::NotWorse);
        assert_eq!(concluded(slower(1.1), Vec::new(), Some(0.0)), Conclusion::Worse);
        assert_eq!(concluded(slower(1.1), Vec::new(), Some(0.02)), Conclusion::NotWorse);
        let against =
            Against { subject: Subject::default(), rows: slower(9.0), missing: Vec::new(), runs: None };
        let (base, others) = (Subject::default(), vec![against]);
        let comparison = Comparison { kind: Kind::Exact, base, others, noise: None, notes: Vec::new() };
        assert_eq!(Conclusion::of(&comparison, Some(0.0), false), Conclusion::NotWorse);
    }

    #[test]
    fn the_boot_alone_is_nothing() {
        let boot = row(BOOT, Verdict::Same, Some(0.0));
        assert_eq!(concluded(vec![boot], Vec::new(), Some(0.0)), Conclusion::Nothing);
    }
}

//! Whether more is stolen than may be.

use super::{Pass, Side, StealReport};
use crate::{Report, ReportKind};

/// What a limit says of a report.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// There is no limit, or no more than it is stolen.
    Within,
    /// This share is stolen, which is more.
    Exceeded(f64),
    /// The figures do not agree on which side of the limit they are, or are missing.
    Undecided,
}

impl StealReport {
    /// What the limit of the request says. The worst set-up counts, with its median.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let Some(limit) = self.request.max_steal else { return Verdict::Within };
        let verdicts: Vec<Verdict> = self.sides.iter().map(|side| side.verdict(limit)).collect();
        let exceeded = verdicts.iter().find(|it| matches!(it, Verdict::Exceeded(_))).copied();
        let is_decided = !verdicts.is_empty() && !verdicts.contains(&Verdict::Undecided);
        exceeded.unwrap_or(if is_decided { Verdict::Within } else { Verdict::Undecided })
    }

    /// The conclusion of a case that asked for it.
    #[must_use]
    pub fn conclusion(&self) -> Report {
        let limit = self.request.max_steal.unwrap_or(1.0) * 100.0;
        let (kind, text) = match self.verdict() {
            Verdict::Within => (ReportKind::Pass, String::new()),
            Verdict::Exceeded(stolen) => (
                ReportKind::Fail,
                format!("{:.1} % of CPU {} was stolen, more than {limit:.1} %", stolen * 100.0, self.cpu),
            ),
            Verdict::Undecided => (
                ReportKind::Broken,
                format!(
                    "no verdict on the limit of {limit:.1} %: the figures do not agree on it, or are missing"
                ),
            ),
        };
        Report { kind, text }
    }
}

impl Side {
    fn verdict(&self, limit: f64) -> Verdict {
        let by_work = self.median(Pass::stolen_by_work).zip(self.median(Pass::stolen_by_gaps));
        // Nothing but a trace tells what was stolen from a command.
        let by_trace = || self.seen()?.stolen().map(|stolen| (stolen, stolen));
        match by_work.or_else(by_trace) {
            Some((work, gaps)) if work > limit && gaps > limit => Verdict::Exceeded(gaps),
            Some((work, gaps)) if work <= limit && gaps <= limit => Verdict::Within,
            _ => Verdict::Undecided,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{pass, report, side};
    use super::super::{Trace, Traced};
    use super::*;

    fn verdict(sides: Vec<Side>) -> Verdict {
        let mut report = report();
        report.request.max_steal = Some(0.5);
        report.sides = sides;
        report.verdict()
    }

    #[test]
    fn both_figures_must_be_on_the_same_side() {
        assert_eq!(verdict(vec![side(vec![pass(400, 590)])]), Verdict::Exceeded(0.59));
        assert_eq!(verdict(vec![side(vec![pass(600, 390)])]), Verdict::Within);
        assert_eq!(verdict(vec![side(vec![pass(400, 390)])]), Verdict::Undecided);
        assert_eq!(verdict(vec![]), Verdict::Undecided);
        let sides = [pass(600, 390), pass(400, 590)].map(|pass| side(vec![pass]));
        assert_eq!(verdict(sides.to_vec()), Verdict::Exceeded(0.59));
    }

    #[test]
    fn a_command_is_judged_by_its_trace() {
        let traced = |waited_ns| {
            let trace = Trace { victim_ns: 40, waited_ns, ..Trace::default() };
            Side { trace: Traced::Seen(trace), ..side(vec![Pass { work: None, ..pass(0, 0) }]) }
        };
        assert_eq!(verdict(vec![traced(60)]), Verdict::Exceeded(0.6));
        assert_eq!(verdict(vec![traced(40)]), Verdict::Within);
        assert_eq!(verdict(vec![Side { trace: Traced::None, ..traced(0) }]), Verdict::Undecided);
    }

    #[test]
    fn the_conclusion_names_cpu_and_limit() {
        let mut report = report();
        report.request.max_steal = Some(0.5);
        report.sides = vec![side(vec![pass(400, 590)])];
        assert_eq!(report.conclusion().text, "59.0 % of CPU 1 was stolen, more than 50.0 %");
        report.sides.clear();
        assert_eq!(report.conclusion().kind, ReportKind::Broken);
    }
}

//! What a race of the kernel is.

use std::time::Duration;

use harness::check::{Checked, broken, pass, program_failed, skip};
use harness::needs::missing;
use protocol::Need;
use protocol::race::{Ended, RaceReport};

use crate::plan::Plan;
use crate::runner::Runner;
use crate::supervisor::supervise;

/// How long a race takes unless its author says otherwise.
const TIME: Duration = Duration::from_secs(10);

/// What its preparation, what follows its rounds and the end of one that hangs take at most.
const AROUND: Duration = Duration::from_secs(30);

/// A race whose defect was fixed.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// `area/what-races`.
    pub name: &'static str,
    /// One line on what it shows.
    pub about: &'static str,
    /// What fixed it: commits of the kernel, by the first twelve digits of their hashes.
    pub fixes: &'static [&'static str],
    /// The number of the vulnerability, such as `2017-2671`.
    pub cve: Option<&'static str>,
    /// Without these it is skipped.
    pub needs: &'static [Need],
    /// It ends after this time.
    pub time: Duration,
    /// Prepares, has the runner race, and cleans up; in a process and a directory of its own.
    pub body: fn(&Runner) -> Checked,
}

impl Known {
    /// A race with no needs that was fixed by `fixes`.
    #[must_use]
    pub const fn new(
        name: &'static str,
        about: &'static str,
        fixes: &'static [&'static str],
        body: fn(&Runner) -> Checked,
    ) -> Self {
        Self { name, about, fixes, cve: None, needs: &[], time: TIME, body }
    }

    /// Its number among the vulnerabilities.
    #[must_use]
    pub const fn cve(self, number: &'static str) -> Self {
        Self { cve: Some(number), ..self }
    }

    /// What it cannot do without.
    #[must_use]
    pub const fn needs(self, needs: &'static [Need]) -> Self {
        Self { needs, ..self }
    }

    /// How long it takes at most, on an unloaded machine: with its preparation, and until a hang is known for one.
    #[must_use]
    pub const fn limit(&self) -> Duration {
        self.time.saturating_add(AROUND)
    }

    /// Runs it as a case: it fails on a hit, on a hang and when the kernel reports a defect of its own.
    ///
    /// # Errors
    ///
    /// What the kernel did wrong; or what is missing or broken, which says nothing about it.
    pub fn check(&self) -> Checked {
        if let Some(why) = self.needs.iter().find_map(|&need| missing(need)) {
            return skip(&why);
        }
        let report = supervise(&Plan::new(self.time), self.body, |_| ())?;
        self.conclude(&report)
    }

    fn conclude(&self, report: &RaceReport) -> Checked {
        match (self.fault(report), report.ended) {
            (Some(fault), _) => program_failed(&fault),
            (None, Ended::Signal) => broken("it was interrupted"),
            (None, _) => {
                pass();
                Ok(())
            }
        }
    }

    /// What the kernel did wrong.
    pub(crate) fn fault(&self, report: &RaceReport) -> Option<String> {
        let detail = report.detail.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
        match report.ended {
            _ if report.hits > 0 => {
                let fixes = self.fixes.join(" and ");
                let round = report.first_hit.map_or(report.rounds, |hit| hit.round);
                Some(format!("the defect that {fixes} fixed: hit in round {round}{detail}"))
            }
            Ended::Hang => Some(format!("the kernel hangs{detail}")),
            Ended::Taint => Some(format!("the kernel became tainted in round {}", report.rounds)),
            Ended::Signal | Ended::Running | Ended::Hits | Ended::Time | Ended::Rounds => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::race::{Judgement, Race};
    use harness::check::Stop;
    use protocol::ReportKind;

    fn misses(runner: &Runner) -> Checked {
        runner.run(Race::between(|| (), || ()))
    }

    fn hits(runner: &Runner) -> Checked {
        runner.run(Race::between(|| (), || ()).judge(|(), ()| Ok(Judgement::Hit)))
    }

    const RACE: Known = Known::new("test/race", "a race", &["0123456789ab", "cdef01234567"], misses);
    const SHORT: Known = Known { time: Duration::from_millis(1), ..RACE };

    #[test]
    fn surviving_passes() {
        assert_eq!(SHORT.check(), Ok(()));
    }

    #[test]
    fn a_hit_fails_and_names_the_fix() {
        let Err(Stop(report)) = (Known { body: hits, ..RACE }).check() else { panic!("it is hit") };
        assert_eq!(report.kind, ReportKind::Fail);
        let expected = "the defect that 0123456789ab and cdef01234567 fixed: hit in round 1";
        assert_eq!(report.text, expected);
    }

    #[test]
    fn what_is_missing_skips() {
        let race = SHORT.needs(&[Need::Device("/dev/no-such-device")]);
        let Err(Stop(report)) = race.check() else { panic!("it has no such device") };
        assert_eq!(report.kind, ReportKind::Skip);
    }
}

//! The instrument from its request to its report.

use std::time::Duration;

use harness::check::{Checked, Stop};
use harness::instrument::{Ending, Listener};
use harness::needs::missing;
use protocol::race::{RaceReport, RaceRequest};
use protocol::{Need, Report, ReportKind};

use crate::plan::Plan;
use crate::runner::Runner;
use crate::supervisor::supervise;
use crate::{races, synthetic};

/// How long a synthetic race takes unless the request says it.
const SYNTHETIC: Duration = Duration::from_secs(10);

/// Does what `request` asks for.
pub fn carry_out(request: &RaceRequest, listener: Listener<'_, RaceReport>) -> Ending<RaceReport> {
    let Some(race) = Chosen::find(&request.race) else { return Ending::WrongRequest(unknown(&request.race)) };
    if let Some(why) = race.needs().iter().find_map(|&need| missing(need)) {
        return Ending::Stopped(Report { kind: ReportKind::Skip, text: why });
    }
    // A reader that has gone gets nothing more; the race still comes to its end.
    let so_far = |report: &RaceReport| drop(listener(report));
    match supervise(&Plan::asked(request, race.time()), |runner| race.run(runner), so_far) {
        Ok(report) => {
            let fault = race.fault(&report);
            let kind = if fault.is_some() { ReportKind::Fail } else { ReportKind::Pass };
            Ending::Done(report, Report { kind, text: fault.unwrap_or_default() })
        }
        Err(Stop(report)) => Ending::Stopped(report),
    }
}

fn unknown(race: &str) -> String {
    let names: Vec<_> = races::all().map(|race| race.name).collect();
    format!("there is no race {race}: use synthetic/... or one of {}", names.join(", "))
}

/// The race that a request names.
enum Chosen {
    Real(&'static races::Known),
    Synthetic(synthetic::Synthetic),
}

impl Chosen {
    fn find(name: &str) -> Option<Self> {
        races::find(name).map(Self::Real).or_else(|| synthetic::find(name).map(Self::Synthetic))
    }

    fn time(&self) -> Duration {
        match self {
            Self::Real(race) => race.time,
            Self::Synthetic(_) => SYNTHETIC,
        }
    }

    fn needs(&self) -> &'static [Need] {
        match self {
            Self::Real(race) => race.needs,
            Self::Synthetic(_) => &[],
        }
    }

    /// A synthetic race is there to be hit.
    fn fault(&self, report: &RaceReport) -> Option<String> {
        match self {
            Self::Real(race) => race.fault(report),
            Self::Synthetic(_) => None,
        }
    }

    fn run(&self, runner: &Runner) -> Checked {
        match self {
            Self::Real(race) => (race.body)(runner),
            Self::Synthetic(race) => race.run(runner),
        }
    }
}

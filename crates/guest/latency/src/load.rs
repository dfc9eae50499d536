//! What runs beside a measurement: the instrument `stress`.

use std::time::{Duration, Instant};

use harness::companion::Companion;
use harness::instrument::broken;
use protocol::instrument::scheme;
use protocol::stress::{InstanceReport, StressReport, StressRequest};
use protocol::{Report, ReportKind};

use crate::signals::{self, Event};

/// The name of the instrument.
const STRESS: &str = "stress";

/// How long stressors may take to do their first operation: the first that a large one does fills its memory.
const WARM_UP_MAX: Duration = Duration::from_secs(30);

/// How often signals are looked for until then.
const TICK: Duration = Duration::from_millis(100);

/// A load that runs. It ends when this value is dropped.
#[derive(Debug)]
pub(crate) struct Load {
    stress: Companion<StressReport>,
    is_interrupted: bool,
}

impl Load {
    /// Starts it, and waits until each stressor has done something, or a signal ends the measurement. The load inherits
    /// the limits of this process.
    ///
    /// # Errors
    ///
    /// `broken` if the instrument is not there; how the load ended, if it did: a measurement without it is not the one
    /// that was asked for.
    pub(crate) fn begin(request: &StressRequest) -> Result<Self, Report> {
        let stress = Companion::start(STRESS, request)
            .map_err(|error| broken(format!("{}: {error}: a load needs this program", scheme(STRESS))))?;
        let mut load = Self { stress, is_interrupted: false };
        let end = Instant::now() + WARM_UP_MAX;
        while load.stress.hear(TICK) {
            load.is_interrupted = signals::wait(Duration::ZERO) == Event::End;
            let is_warm = load.stress.so_far().is_some_and(is_warm) || Instant::now() >= end;
            if load.is_interrupted || is_warm {
                return Ok(load);
            }
        }
        let ended = load.stress.finish()?.outcome();
        Err(match ended.kind {
            ReportKind::Pass => broken("the load ended before the measurement began"),
            kind => Report { kind, text: format!("the load: {}", ended.text) },
        })
    }

    /// Whether there is reason to measure beside it.
    pub(crate) fn goes_on(&mut self) -> bool {
        !self.is_interrupted && self.stress.hear(Duration::ZERO)
    }

    /// Ends it, and gives its report.
    ///
    /// # Errors
    ///
    /// When it does not end, or has no report.
    pub(crate) fn end(self) -> Result<StressReport, Report> {
        self.stress.interrupt();
        self.stress.finish()
    }
}

/// Whether each stressor has done something, or never will.
fn is_warm(report: &StressReport) -> bool {
    report.instances.iter().all(|instance| instance.operations() > 0 || has_ended(instance))
}

fn has_ended(instance: &InstanceReport) -> bool {
    instance.workers.iter().all(|worker| worker.end.is_some())
}

#[cfg(test)]
mod tests {
    use protocol::End;
    use protocol::stress::WorkerReport;

    use super::*;

    #[test]
    fn it_is_warm_once_all_have_begun_or_ended() {
        let worker = |operations, end| WorkerReport { operations, end, ..WorkerReport::default() };
        let instance = |workers| InstanceReport { workers, ..InstanceReport::default() };
        let report = |instances| StressReport { instances, ..StressReport::default() };
        let (refused, runs) = (instance(Vec::new()), instance(vec![worker(0, None), worker(3, None)]));
        let (begins, ended) =
            (instance(vec![worker(0, None)]), instance(vec![worker(0, Some(End::Exited(1)))]));
        assert!(is_warm(&report(vec![refused.clone(), runs.clone(), ended])));
        assert!(!is_warm(&report(vec![refused, runs, begins])));
    }
}

//! From a request to a report.
//!
//! * `plan`: what a request means on this machine
//! * `round`: instances that run together
//! * `process`: a worker from its start to its end
//! * `signals`: what the engine is told meanwhile

mod plan;
mod process;
mod round;
mod signals;
#[cfg(test)]
mod tests;

use harness::check::describe;
use harness::storage::own_mounts;
use harness::sys::unshare;
use protocol::results::cut;
use protocol::stress::report::{LEFTOVERS_MAX, TEXT_MAX};
use protocol::stress::{Mode, StressReport, StressRequest};
use protocol::{Leftover, Report, ReportKind};
use rustix::process::{getpid, set_child_subreaper};
use rustix::thread::UnshareFlags;

use crate::leftovers;
use crate::stressor::Stressor;
use crate::thermal::Thermal;
use plan::Plan;
use round::Round;

/// Why a request was not carried out at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// It makes no sense: what is wrong, and what is allowed.
    WrongRequest(String),
    /// Something that the engine itself needs is missing.
    Stopped(Report),
}

impl Refusal {
    pub(crate) fn broken(what: &str, why: impl std::fmt::Display) -> Self {
        Self::Stopped(Report { kind: ReportKind::Broken, text: format!("{what}: {why}") })
    }
}

/// Takes this process out of what others share, as far as the user may: System V ids, message queues and mounts that a
/// killed worker leaves end with this process.
pub fn isolate() {
    // Whoever may not do it has fewer ways to leave something behind; what is left is reported.
    let _ = unshare(UnshareFlags::NEWIPC);
    let _ = own_mounts();
}

/// Carries out `request` with those of `stressors` that it names; gives what was done so far about once a second and at
/// SIGUSR2. SIGINT and SIGTERM end it early.
///
/// The process must have one thread. It becomes the parent of all that outlives its workers, and blocks these signals.
///
/// # Errors
///
/// When nothing can be run.
pub fn run(
    request: &StressRequest,
    stressors: &[&'static Stressor],
    so_far: &mut dyn FnMut(StressReport),
) -> Result<StressReport, Refusal> {
    let plans = plan::plans(request, stressors)?;
    let failed = |error| Refusal::broken("preparing", describe(error));
    set_child_subreaper(Some(getpid())).map_err(failed)?;
    signals::block().map_err(failed)?;
    let before = leftovers::present();
    let mut report = StressReport::default();
    let mut thermal = request.thermal.then(Thermal::begin);
    let together = match request.mode {
        Mode::Parallel => plans.len().max(1),
        Mode::Sequential => 1,
    };
    for plans in plans.chunks(together) {
        if report.interrupted {
            break;
        }
        let mut round = Round::start(request, plans)?;
        round.watch(&mut |instances, is_interrupted| {
            let mut current = report.clone();
            current.instances.extend(instances);
            current.interrupted = is_interrupted;
            add_thermal(&mut current, thermal.as_mut());
            so_far(current);
        });
        round.finish(&mut report);
    }
    report.leftovers.extend(leftovers::since(&before));
    bound(&mut report.leftovers);
    add_thermal(&mut report, thermal.as_mut());
    Ok(report)
}

/// As many as are named, each as long as a text may be.
fn bound(leftovers: &mut Vec<Leftover>) {
    leftovers.truncate(LEFTOVERS_MAX);
    leftovers.iter_mut().for_each(|leftover| leftover.name = cut(&leftover.name, TEXT_MAX).to_string());
}

fn add_thermal(report: &mut StressReport, thermal: Option<&mut Thermal>) {
    if let Some(thermal) = thermal {
        thermal.observe();
        (report.thermal, report.throttled) = (thermal.zones(), thermal.throttled());
    }
}

/// What plans look like in a report before any of their workers was started.
fn described(plan: &Plan) -> protocol::stress::InstanceReport {
    protocol::stress::InstanceReport {
        stressor: plan.stressor.name.to_string(),
        options: plan.texts(),
        refused: plan.refused.clone(),
        workers: Vec::new(),
        coverage: None,
    }
}

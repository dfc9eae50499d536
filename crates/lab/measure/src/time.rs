//! Times operations on one boot after the other, of several Kernels in turns.

use std::sync::atomic::AtomicBool;

use host::Conditions;
use judge::parameters;
use machine::Built;
use protocol::measure::{Clock, Order};

use crate::event::Progress;
use crate::exact::measuring;
use crate::figures::empty;
use crate::samples::BootSamples;
use crate::take::Take;
use crate::{Boot, Candidate, Failure, Kind, Measurement, Unit, procedure};
use machine::TimeoutScale;

/// Times. `next` sees what there is and says which of the candidates is booted next, until it knows enough.
///
/// # Errors
///
/// When one of them cannot be measured, or `interrupt` is set.
pub fn time(
    candidates: &[Candidate<'_>],
    interrupt: &AtomicBool,
    emit: &mut dyn FnMut(Progress),
    next: &mut dyn FnMut(&[Measurement]) -> Option<usize>,
) -> Result<Vec<Measurement>, Failure> {
    let built: Vec<Built<'_>> = candidates
        .iter()
        .map(|candidate| Built::new(&candidate.spec, candidate.kernel))
        .collect::<Result<_, _>>()?;
    let procedure = procedure()?;
    let mut measured: Vec<Measurement> =
        candidates.iter().map(|candidate| nothing(candidate, &procedure)).collect();
    while let Some(which) = next(&measured) {
        let boot = One { candidate: &candidates[which], built: &built[which], interrupt };
        boot.measure(&mut measured[which], emit)?;
    }
    Ok(measured)
}

/// What is known of a candidate before its first boot.
fn nothing(candidate: &Candidate<'_>, procedure: &str) -> Measurement {
    let metrics = candidate.jobs.iter().map(|job| {
        let not_measured = job.skip.clone();
        super::Metric { not_measured, ..empty(&job.name, &job.about, Unit::Nanoseconds) }
    });
    Measurement {
        subject: candidate.subject.clone(),
        kind: Kind::Timed,
        procedure: procedure.to_string(),
        boots: Vec::new(),
        code: std::collections::BTreeMap::new(),
        metrics: metrics.collect(),
        notes: Vec::new(),
    }
}

/// One boot.
struct One<'a> {
    candidate: &'a Candidate<'a>,
    built: &'a Built<'a>,
    interrupt: &'a AtomicBool,
}

impl One<'_> {
    fn measure(&self, measured: &mut Measurement, emit: &mut dyn FnMut(Progress)) -> Result<(), Failure> {
        let Candidate { subject, spec, jobs, .. } = self.candidate;
        let boot = u32::try_from(measured.boots.len()).unwrap_or(u32::MAX);
        // What has failed once says nothing any more.
        let todo: Vec<usize> =
            (0..jobs.len()).filter(|&job| measured.metrics[job].not_measured.is_none()).collect();
        let works = todo.iter().map(|&job| jobs[job].work.clone()).collect();
        let order = Order { clock: Clock::Nanoseconds, jobs: works, symbols: false, trace: None };
        emit(Progress::Boot { kernel: subject.label.clone(), number: boot + 1, of: None });
        let starting = self.built.start_measuring(&order)?;
        let mut unknown = Vec::new();
        let booted = starting.wait_for_measuring(self.interrupt, &mut |line| {
            unknown.extend(parameters::unknown([line], &spec.append));
        });
        let (mut machine, release, took) =
            booted.map_err(|failure| Failure::of_boot(&subject.label, failure))?;
        let unknown_note = parameters::note(&unknown);
        emit(Progress::Booted { kernel: subject.label.clone(), took, kept: false, unknown });
        let watching = Conditions::watch();
        let timeouts = TimeoutScale::new(spec.engine);
        let begun = |job: usize| emit(measuring(&subject.label, jobs, boot, todo[job]));
        let take = Take::from(&mut machine, todo.len(), timeouts, self.interrupt, begun)?;
        let conditions = Some(watching.finish());
        for (&job, result) in todo.iter().zip(&take.jobs) {
            let metric = &mut measured.metrics[job];
            match result {
                Some(Ok(samples)) => metric.add(BootSamples::new(boot, samples)),
                Some(Err(why)) => metric.not_measured = Some(why.clone()),
                None => {}
            }
        }
        if take.jobs.iter().all(Option::is_none) {
            let why = take.notes.last().cloned().unwrap_or_else(|| "the machine said nothing".to_string());
            return Err(Failure::Silent { kernel: subject.label.clone(), why });
        }
        let is_new = |note: &String| !measured.notes.contains(note);
        let new: Vec<String> = unknown_note.into_iter().chain(take.notes).filter(is_new).collect();
        measured.notes.extend(new);
        measured.subject.release = release;
        measured.boots.push(Boot { seed: 0, took, conditions, run: None });
        Ok(())
    }
}

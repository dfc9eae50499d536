//! From the samples of several boots to figures.

use judge::Outcome;
use protocol::measure::Samples;

use crate::profile::events::Happened;
use crate::profile::{EVENTS, Event};
use crate::samples::{BootSamples, exactly};
use crate::{BOOT, Detail, Job, Metric, NotMeasured, Unit, Value};

/// The metric of a job, from what each boot says about it.
pub(super) fn metric<'a>(
    job: &Job,
    unit: Unit,
    boots: impl Iterator<Item = (u32, Option<&'a Result<Samples, NotMeasured>>)>,
) -> Metric {
    let mut metric = empty(&job.name, &job.about, unit);
    metric.not_measured.clone_from(&job.skip);
    for (boot, result) in boots {
        match result {
            Some(Ok(samples)) => metric.add(BootSamples::new(boot, samples)),
            Some(Err(why)) => metric.not_measured = Some(why.clone()),
            None => {}
        }
    }
    // What worked in one boot only says nothing.
    if metric.not_measured.is_some() {
        metric.forget();
    }
    metric
}

/// The metric of the way to user space.
pub(super) fn boot_metric(clocks: impl Iterator<Item = (u32, Option<u64>)>) -> Metric {
    let about = "from the machine's reset to the first instruction of process 1";
    let once = |(boot, clock): (u32, Option<u64>)| {
        let clock = exactly(clock?);
        Some(Value { boot, min: clock, median: clock, max: clock, repetitions: 1, left_out: 0 })
    };
    Metric { values: clocks.filter_map(once).collect(), ..empty(BOOT, about, Unit::Instructions) }
}

/// Metrics of what else was counted in the operation of `metric`, in the order of [`EVENTS`], from the boots that
/// something was counted in.
pub(super) fn event_metrics(metric: &Metric, boots: &[(u32, Vec<Option<Happened>>)]) -> Vec<Metric> {
    let of = |(place, event): (usize, &Event)| {
        let happened = |(boot, all): &(u32, Vec<Option<Happened>>)| Some((*boot, *all.get(place)?));
        let counted: Vec<_> = boots.iter().filter_map(happened).collect();
        let values = counted.iter().filter_map(|&(boot, happened)| Some(of_event(boot, happened?))).collect();
        let is_unknown = counted.iter().any(|(_, happened)| happened.is_none());
        let not_measured = is_unknown.then(|| NotMeasured {
            outcome: Outcome::Skip,
            reason: format!("this kernel has no function whose calls are {}", event.name),
        });
        let name = format!("{}:{}", metric.name, event.name);
        Metric { values, not_measured, ..empty(&name, &metric.about, Unit::Count) }
    };
    if boots.is_empty() { Vec::new() } else { EVENTS.iter().enumerate().map(of).collect() }
}

fn of_event(boot: u32, Happened { min, typical, max }: Happened) -> Value {
    let (min, median, max) = (exactly(min), exactly(typical), exactly(max));
    Value { boot, min, median, max, repetitions: 1, left_out: 0 }
}

pub(super) fn empty(name: &str, about: &str, unit: Unit) -> Metric {
    Metric {
        name: name.to_string(),
        about: about.to_string(),
        unit,
        values: Vec::new(),
        samples: Vec::new(),
        not_measured: None,
        detail: None::<Detail>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_boot_counts_events_and_a_kernel_without_their_functions_counts_none() {
        let operation = empty("pipe/round-trip", "", Unit::Instructions);
        let once = |count| Some(Happened { min: count, typical: count, max: count + 1 });
        let mut first = vec![once(2); EVENTS.len()];
        let mut second = vec![once(3); EVENTS.len()];
        (first[1], second[1]) = (None, None);
        let metrics = event_metrics(&operation, &[(0, first), (1, second)]);
        assert_eq!((metrics.len(), metrics[0].name.as_str()), (EVENTS.len(), "pipe/round-trip:system-calls"));
        let values: Vec<_> = metrics[0].values.iter().map(|it| (it.boot, it.median, it.max)).collect();
        assert_eq!(values, [(0, 2.0, 3.0), (1, 3.0, 4.0)]);
        let why = metrics[1].not_measured.as_ref().map(|why| why.reason.as_str());
        assert_eq!(why, Some("this kernel has no function whose calls are context-switches"));
        assert!(metrics[1].values.is_empty() && metrics[0].not_measured.is_none());
        assert!(event_metrics(&operation, &[]).is_empty());
    }
}

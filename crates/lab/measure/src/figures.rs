//! From the samples of several boots to figures.

use protocol::measure::Samples;

use crate::profile::{EVENTS, Event};
use crate::quantile::median;
use crate::watched::Happened;
use crate::{BOOT, Detail, Job, Metric, NotMeasured, Unit, Value};

/// Repetitions without a timer interrupt that suffice to leave the others out.
const CLEAN_MIN: usize = 5;

/// What one boot says about a job.
///
/// Repetitions in which the kernel's timer interrupt came are left out, unless nearly all are such: an operation that
/// takes longer than from one interrupt to the next has them among its costs.
pub(super) fn value(boot: u32, samples: &Samples) -> Option<Value> {
    let ticked = |index: usize| u32::try_from(index).is_ok_and(|index| samples.ticked.contains(&index));
    let all = samples.costs.iter().enumerate();
    let mut clean: Vec<u64> = all.filter(|&(index, _)| !ticked(index)).map(|(_, &cost)| cost).collect();
    if clean.len() < CLEAN_MIN {
        clean.clone_from(&samples.costs);
    }
    let clean: Vec<f64> = clean.into_iter().map(exactly).collect();
    let count = |of: usize| u32::try_from(of).unwrap_or(u32::MAX);
    Some(Value {
        boot,
        min: clean.iter().copied().min_by(f64::total_cmp)?,
        median: median(&clean)?,
        max: clean.iter().copied().max_by(f64::total_cmp)?,
        repetitions: count(clean.len()),
        left_out: count(samples.costs.len() - clean.len()),
    })
}

/// Counts stay far below where a float is not exact any more.
#[expect(clippy::cast_precision_loss, reason = "2^53 instructions take a month")]
pub(super) fn exactly(count: u64) -> f64 {
    count as f64
}

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
            Some(Ok(samples)) => metric.values.extend(value(boot, samples)),
            Some(Err(why)) => metric.not_measured = Some(why.clone()),
            None => {}
        }
    }
    // What worked in one boot only says nothing.
    if metric.not_measured.is_some() {
        metric.values.clear();
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

/// Metrics of what else was counted in the operation of `metric`, in the order of [`EVENTS`].
pub(super) fn event_metrics(metric: &Metric, events: &[Happened]) -> Vec<Metric> {
    let of = |(event, &Happened { min, typical, max }): (&Event, &Happened)| {
        let (min, median, max) = (exactly(min), exactly(typical), exactly(max));
        let value = Value { boot: 0, min, median, max, repetitions: 1, left_out: 0 };
        let name = format!("{}:{}", metric.name, event.name);
        Metric { values: vec![value], ..empty(&name, &metric.about, Unit::Count) }
    };
    EVENTS.iter().zip(events).map(of).collect()
}

pub(super) fn empty(name: &str, about: &str, unit: Unit) -> Metric {
    Metric {
        name: name.to_string(),
        about: about.to_string(),
        unit,
        values: Vec::new(),
        not_measured: None,
        detail: None::<Detail>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(costs: &[u64], ticked: &[u32]) -> Samples {
        Samples { costs: costs.to_vec(), ticked: ticked.to_vec() }
    }

    #[test]
    fn repetitions_with_a_timer_interrupt_are_left_out() {
        let found = value(2, &samples(&[10, 9000, 12, 11, 10, 10, 10], &[1])).unwrap();
        assert_eq!((found.min, found.median, found.max), (10.0, 10.0, 12.0));
        assert_eq!((found.boot, found.repetitions, found.left_out), (2, 6, 1));
    }

    #[test]
    fn an_operation_that_always_has_them_keeps_them() {
        let found = value(0, &samples(&[900, 910, 905, 907], &[0, 1, 3])).unwrap();
        assert_eq!((found.min, found.median, found.max), (900.0, 906.0, 910.0));
        assert_eq!((found.repetitions, found.left_out), (4, 0));
    }

    #[test]
    fn no_samples_are_no_value() {
        assert_eq!(value(0, &Samples::default()), None);
    }
}

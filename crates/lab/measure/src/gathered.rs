//! From what all boots of a candidate said to the measurement.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::exact::BootTake;
use crate::figures::{boot_metric, event_metrics, metric};
use crate::profile::Symbols;
use crate::watched::Seen;
use crate::{Boot, Code, Job, Kind, Measurement, Metric, Subject, Unit};

/// A boot by its number, from 0, and what it said.
type Taken = (u32, BootTake);

/// The measurement of what was asked for these jobs, from its boots in any order; the first one had this seed.
pub(super) fn measurement(
    subject: &Subject,
    jobs: &[Job],
    first_seed: u64,
    mut takes: Vec<Taken>,
    (symbols, procedure): (&Arc<Symbols>, &str),
) -> Measurement {
    takes.sort_by_key(|&(boot, _)| boot);
    let mut notes: Vec<String> = Vec::new();
    for note in takes.iter().flat_map(|(_, take)| &take.notes) {
        if !notes.contains(note) {
            notes.push(note.clone());
        }
    }
    let seen = seen(&takes, symbols, &mut notes);
    let clocks = takes.iter().map(|(boot, take)| (*boot, take.booted));
    let mut metrics = vec![boot_metric(clocks)];
    for (index, job) in jobs.iter().enumerate() {
        metrics.extend(of_job(index, job, &takes, &seen));
    }
    let release = takes.first().map(|(_, take)| take.release.clone()).unwrap_or_default();
    Measurement {
        subject: Subject { release, ..subject.clone() },
        kind: Kind::Exact,
        procedure: procedure.to_string(),
        boots: takes.iter().map(|(boot, take)| of_boot(first_seed, *boot, take)).collect(),
        metrics,
        code: code(&seen),
        notes,
    }
}

fn of_boot(first_seed: u64, boot: u32, take: &BootTake) -> Boot {
    let seed = first_seed.saturating_add(u64::from(boot));
    Boot { seed, took: take.took, conditions: None, run: None }
}

/// What the plugin saw in each boot; a boot has several of them if machines died.
fn seen<'a>(takes: &'a [Taken], symbols: &Arc<Symbols>, notes: &mut Vec<String>) -> Vec<(u32, Seen<'a>)> {
    let mut all = Vec::new();
    for (boot, take) in takes {
        for watched in &take.watched {
            match Seen::read(watched, Arc::clone(symbols)) {
                Ok(seen) => all.push((*boot, seen)),
                Err(error) => notes.push(format!("what the plugin counted cannot be read: {error}")),
            }
        }
    }
    all
}

/// The metric of a job, and those of what else was counted in it.
fn of_job(index: usize, job: &Job, takes: &[Taken], seen: &[(u32, Seen<'_>)]) -> Vec<Metric> {
    let results = takes.iter().map(|(boot, take)| (*boot, take.jobs[index].as_ref()));
    let mut metric = metric(job, Unit::Instructions, results);
    let values = metric.values.iter();
    let of_boots = values.flat_map(|value| {
        let same_boot = seen.iter().filter(|(boot, _)| *boot == value.boot);
        same_boot.map(move |(_, seen)| (value, seen))
    });
    let detail = of_boots.clone().find_map(|(value, seen)| seen.detail(index, value));
    let counted = of_boots.filter_map(|(value, seen)| {
        let (_, take) = takes.iter().find(|(boot, _)| *boot == value.boot)?;
        let samples = take.jobs[index].as_ref()?.as_ref().ok()?;
        Some((value.boot, seen.events(index, (value, samples))?))
    });
    let events = event_metrics(&metric, &counted.collect::<Vec<_>>());
    metric.detail = detail;
    std::iter::once(metric).chain(events).collect()
}

/// The code of the functions that any boot executed.
fn code(seen: &[(u32, Seen<'_>)]) -> BTreeMap<String, Code> {
    let mut code = BTreeMap::<String, Code>::new();
    for (name, part) in seen.iter().flat_map(|(_, seen)| seen.code()) {
        code.entry(name).or_default().merge(&part);
    }
    code
}

//! An exact comparison of two kernels beside a boot, and what its parts cost.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::{Result, bail, ensure};
use kernel::Kernel;
use lab::Jobs;
use lab::plan::Fixed;
use lab::suites::select::operations;
use machine::{Accel, Built, Engine, Payload, Programs, SHIFT, Spec, Step, Template, Timing, Watch};
use measure::Job;
use protocol::measure::{Clock, Order};
use verdict::Comparison;

use crate::clones::{self, LIMIT};
use crate::compare::Place;
use crate::promise::Promise;
use crate::race::{Racer, race, table};

/// Two kernels of one Debian release, some versions apart.
const BASE: &str = "deb:6.1.0-47-cloud-amd64";
pub(crate) const NEW: &str = "deb:6.1.0-56-cloud-amd64";

/// Rounds. A comparison is so many boots and clones that it needs less luck than one boot.
const ROUNDS: usize = 3;

/// Boots that a comparison may take, on a host with two CPUs.
///
/// It is two counted boots of each kernel, which cost more than plain ones, and a clone of each that runs all operations
/// under the plugin. QEMU translates the kernel's code anew in every clone, and finds translated code in a hash table
/// after each change of the address space: this is most of what a clone costs.
const FRESH_MAX: f64 = 9.0;
const KEPT_MAX: f64 = 4.5;

/// Boots in a round, which take about as long as a comparison.
const BOOTS: u32 = 5;

/// The page of a comparison of so many metrics takes at most so many seconds, and has at most so many bytes.
const PAGE_METRICS: usize = 250;
const PAGE_SECONDS: f64 = 1.0;
const PAGE_BYTES: f64 = 1_000_000.0;

/// Fewest metrics of a comparison of the whole suite.
const METRICS_MIN: usize = 100;

/// Races; gives the times as Markdown, and the promises.
pub(crate) fn measure(place: &Place) -> Result<(String, Vec<Promise>)> {
    let never = AtomicBool::new(false);
    let kernel = clones::find(NEW, &never)?;
    let Jobs { jobs, plan } = Jobs::of_operations(&operations(&[])?, &kernel, Fixed::default())?;
    let engine = Engine::Qemu(Accel::Tcg);
    let counted = Spec { timing: Some(Timing::Instructions { seed: 1 }), ..clones::spec(&plan, engine) };
    // Nothing is in these machines that a boot can do without.
    let counted_boot = Spec { payload: Payload::default(), ..counted.clone() };
    let plain = Spec { timing: None, ..counted_boot.clone() };
    let template = template(&counted, &kernel, &never)?;
    let both = || {
        let comparison = place.compare(&[BASE, NEW])?;
        let rows = comparison.others.first().map_or(0, |against| against.rows.len());
        ensure!(rows >= METRICS_MIN, "only {rows} metrics were compared");
        Ok(())
    };
    let mut racers = [
        Racer::new("a TCG boot to the agent's hello", || boot(&plain, &kernel, &never)).times(BOOTS),
        Racer::new("the same, its instructions counted", || boot(&counted_boot, &kernel, &never)),
        Racer::new("a clone that measures the suite", || clone(&template, &jobs, Watch::No)),
        Racer::new("the same, its functions profiled", || clone(&template, &jobs, Watch::Functions)),
        Racer::new("an exact comparison of two kernels, nothing kept", both).after(|| place.forget()),
        Racer::new("an exact comparison of two kernels, machines kept", both),
    ];
    race(&mut racers, ROUNDS)?;
    let (written, size) = page(place.compare(&[BASE, NEW])?)?;
    let [booted, under_icount, cloned, watched, fresh, kept] = &racers;
    let promises = vec![
        Promise::ratio(fresh, booted, Some(FRESH_MAX)),
        Promise::ratio(kept, booted, Some(KEPT_MAX)),
        Promise::ratio(under_icount, booted, None),
        Promise::ratio(watched, cloned, None),
        Promise::plain("the page of 250 metrics: seconds", written, Some(PAGE_SECONDS)),
        Promise::plain("the page of 250 metrics: bytes", size, Some(PAGE_BYTES)),
    ];
    Ok((table(&racers), promises))
}

/// Seconds that the page of a comparison takes, and its bytes, if it has so many metrics.
fn page(mut comparison: Comparison) -> Result<(f64, f64)> {
    for against in &mut comparison.others {
        let rows = std::mem::take(&mut against.rows);
        against.rows = rows.into_iter().cycle().take(PAGE_METRICS).collect();
    }
    let mut best = f64::INFINITY;
    let mut page = Vec::new();
    for _ in 0..ROUNDS {
        page.clear();
        let begin = Instant::now();
        report::comparison::html(&comparison, "kiln compare", &mut page)?;
        best = best.min(begin.elapsed().as_secs_f64());
    }
    Ok((best, page.len() as f64))
}

fn boot(spec: &Spec, kernel: &Kernel, never: &AtomicBool) -> Result<()> {
    let starting = Built::new(spec, kernel)?.start()?;
    starting.wait_for_hello(never, &mut |_| ()).map(drop).map_err(|failure| failed(&failure))
}

fn template(spec: &Spec, kernel: &Kernel, never: &AtomicBool) -> Result<Template> {
    let starting = Built::new(spec, kernel)?.start_template(Programs::Inside)?;
    starting.wait_for_template(never, &mut |_| ()).map_err(|failure| failed(&failure))
}

/// From the start of a clone to the end of the last job.
fn clone(template: &Template, jobs: &[Job], watch: Watch) -> Result<()> {
    let wanted = jobs.iter().filter(|job| job.skip.is_none());
    let jobs = wanted.map(|job| job.work.clone()).collect();
    let order = Order { clock: Clock::Instructions { shift: SHIFT }, jobs, symbols: false, trace: None };
    let mut machine = template.measure(&order, watch)?.map_err(|failure| failed(&failure))?;
    let deadline = Instant::now() + LIMIT;
    loop {
        match machine.next(deadline) {
            Step::Stopped => return Ok(()),
            Step::Ended(death) => bail!("the machine ended: {death:?}"),
            Step::Quiet => bail!("the machine does not come to its end"),
            Step::Answer(_) | Step::Console(_) | Step::Trouble(_) => {}
        }
    }
}

fn failed(failure: &machine::BootFailure) -> anyhow::Error {
    anyhow::anyhow!("{}", failure.trouble)
}

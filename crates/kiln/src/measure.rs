//! `kiln measure`: what operations cost on one kernel.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::{Context, Result};
use lab::prepare::measure::{Side, candidates, find};
use ledger::MEASUREMENT;
use machine::Watch;
use measure::{Candidate, Job, Measurement, time};
use verdict::{Against, Design, Noise};

use crate::cli::Measure;
use crate::failure::{BROKEN, INTERRUPTED};
use crate::figures::{Told, count_all, width};
use crate::find::preparing;
use crate::listeners::{print, standard_output};
use crate::signals;
use crate::timed::Timed;

/// Boots of a kernel whose figures are timed, unless somebody wants more.
const TIMED_BOOTS: u32 = 5;

/// Comparisons of a kernel with itself, at least and at most.
const COMPARISONS_MIN: u32 = 2;
const COMPARISONS_MAX: u32 = 20;

/// Measures a kernel and gives the exit code.
pub(crate) fn measure(said: &Measure, color: bool) -> Result<u8> {
    said.figures.check(said.exec.is_some())?;
    let interrupt = signals::interrupt_flag().context("signals")?;
    let request = said.request();
    let side = Side::of(&request);
    let sides = if said.calibrate { vec![side.clone(), side] } else { vec![side] };
    let found = preparing(&interrupt, |context| find(sides, context))?;
    let candidates = candidates(&found, &request.figures, &request.machine)?;
    said.figures.check_place()?;
    let done = match said.calibrate {
        true => said.learn(&candidates, color, &interrupt),
        false => said.figures_of(&candidates, color, &interrupt),
    };
    if interrupt.load(Ordering::Relaxed) {
        return Ok(INTERRUPTED);
    }
    done
}

impl Measure {
    fn figures_of(&self, candidates: &[Candidate<'_>], color: bool, interrupt: &AtomicBool) -> Result<u8> {
        let measured = match self.figures.timed {
            true => self.timed(candidates, color, interrupt)?,
            false => count_all(candidates, &self.figures, color, (Watch::Functions, interrupt))?,
        };
        let kept = self.figures.keep()?;
        for one in &measured {
            kept.keep(MEASUREMENT, one)?;
            standard_output(|out| match (self.figures.json, self.figures.csv) {
                (true, _) => report::measurement::json(one, out),
                (_, true) => report::measurement::csv(one, out),
                _ => report::measurement::table(one, width(), color, out),
            })?;
        }
        self.figures.print_place(kept.directory())?;
        let is_measured = |job: &Job| {
            let mut metrics = measured.iter().flat_map(|one| &one.metrics);
            metrics.any(|metric| metric.name == job.name && !metric.values.is_empty())
        };
        Ok(if candidates[0].jobs.iter().any(is_measured) { 0 } else { BROKEN })
    }

    fn timed(
        &self,
        candidates: &[Candidate<'_>],
        color: bool,
        interrupt: &AtomicBool,
    ) -> Result<Vec<Measurement>> {
        let start = Instant::now();
        let boots = self.figures.boots.unwrap_or(TIMED_BOOTS) as usize;
        let is_enough = |measured: &[Measurement]| {
            measured[0].boots.len() >= boots || start.elapsed() >= self.figures.budget
        };
        let told = Told::new(color);
        let mut next = |measured: &[Measurement]| (!is_enough(measured)).then_some(0);
        let measured = time(candidates, interrupt, &mut |progress| told.hear(&progress), &mut next);
        told.finish();
        Ok(measured?)
    }

    /// Compares the kernel with itself until the time is over, and keeps what that says about this host.
    fn learn(&self, candidates: &[Candidate<'_>], color: bool, interrupt: &AtomicBool) -> Result<u8> {
        let start = Instant::now();
        let mut design = self.figures.design();
        let mut all: Vec<Against> = Vec::new();
        for number in 1..=COMPARISONS_MAX {
            let timed = Timed { candidates, design: &design, budget: self.figures.budget };
            let (_, others) = timed.compare(color, interrupt)?;
            all.extend(others);
            let of_one_more = start.elapsed() / number * (number + 1);
            if number >= COMPARISONS_MIN && of_one_more > self.figures.budget {
                break;
            }
            design = Design { seed: design.seed.wrapping_add(1), ..design };
        }
        let noise = Noise::of(&all, jiff::Timestamp::now()).context("nothing could be measured")?;
        self.figures.keep_noise(&noise)?;
        let (floor, alarms) = (noise.floor, noise.false_alarms * 100.0);
        print(&format!(
            "{} comparisons of {} with itself, {} figures: 95 % of the differences are below {floor:.2} %, \
             {alarms:.2} % are called better or worse\n",
            all.len(),
            self.kernel,
            noise.comparisons,
        ))?;
        Ok(0)
    }
}

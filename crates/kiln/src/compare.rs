//! `kiln compare`: which kernel is slower, by how much, and why.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use lab::prepare::measure::{Side, candidates, find};
use machine::Watch;
use measure::{BOOT, Candidate, Kind, Measurement, Subject};
use verdict::{Against, Comparison, Missing, Row, Verdict, compare_exact, explain};

use crate::cli::{Compare, Wanted};
use crate::earlier::Earlier;
use crate::failure::{BROKEN, FAULT, INTERRUPTED, WrongUsage};
use crate::figures::count_all;
use crate::find::preparing;
use crate::shell_words::this_call;
use crate::signals;
use crate::timed::Timed;

/// Compares kernels and gives the exit code.
pub(crate) fn compare(said: &Compare, color: bool) -> Result<u8> {
    said.figures.check(said.exec.is_some() || said.exec_a.is_some())?;
    let earlier = Earlier::read(&said.kernels, &said.figures)?;
    let sides = said.sides()?;
    let interrupt = signals::interrupt_flag().context("signals")?;
    let found = preparing(&interrupt, |context| find(sides, context))?;
    let candidates = candidates(&found, &said.figures.request(), &said.machine.request())?;
    earlier.check(&candidates)?;
    said.figures.check_place()?;
    let comparison = said.measure(&candidates, earlier, color, &interrupt);
    if interrupt.load(Ordering::Relaxed) {
        return Ok(INTERRUPTED);
    }
    let (comparison, measured) = comparison?;
    said.print(&comparison, measured, color)?;
    Ok(said.exit_code(&comparison))
}

impl Compare {
    /// What is measured to be compared.
    fn sides(&self) -> Result<Vec<Side>> {
        let side = |locator: &kernel::Locator| Side {
            label: locator.to_string(),
            kernel: self.build.kernel(locator),
            parameters: None,
            program: self.exec.as_deref().map(|path| self.figures.program(path)),
        };
        let kernel = |wanted: &Wanted| match wanted {
            Wanted::Kernel(locator) => Some(side(locator)),
            Wanted::Measured(_) => None,
        };
        let with_itself = !self.params.is_empty() || self.exec_a.is_some();
        let wrong = |text: &str| Err(WrongUsage(text.to_string()).into());
        match (self.kernels.as_slice(), with_itself) {
            ([_, _, ..], false) => Ok(self.kernels.iter().filter_map(kernel).collect()),
            ([Wanted::Kernel(one)], true) => Ok(self.with_itself(&side(one))),
            (_, true) => wrong("--params and --exec-a compare one kernel with itself: name only one kernel"),
            (_, false) => {
                wrong("one kernel is nothing to compare: name another, or --params or --exec-a and --exec-b")
            }
        }
    }

    /// One kernel in several ways.
    fn with_itself(&self, one: &Side) -> Vec<Side> {
        let with =
            |text: &String| Side { label: text.clone(), parameters: Some(text.clone()), ..one.clone() };
        let running = |program: &PathBuf| Side {
            label: program.display().to_string(),
            program: Some(self.figures.program(program)),
            ..one.clone()
        };
        let programs = self.exec_a.iter().chain(&self.exec_b);
        self.params.iter().map(with).chain(programs.map(running)).collect()
    }

    /// Measures all of them and draws the conclusions.
    fn measure(
        &self,
        candidates: &[Candidate<'_>],
        earlier: Earlier,
        color: bool,
        interrupt: &AtomicBool,
    ) -> Result<(Comparison, Vec<Measurement>)> {
        let mut comparison = Comparison {
            kind: if self.figures.timed { Kind::Timed } else { Kind::Exact },
            base: Subject::default(),
            others: Vec::new(),
            noise: None,
            notes: Vec::new(),
        };
        let measured = if self.figures.timed {
            let design = self.figures.design();
            comparison.noise = self.figures.noise();
            comparison.notes.push(format!("the order of the boots comes from --seed {}", design.seed));
            let timed = Timed { candidates, design: &design, budget: self.figures.budget };
            let (measured, others) = timed.compare(color, interrupt)?;
            comparison.others = others;
            measured
        } else {
            let watch = if self.why { Watch::Stacks } else { Watch::Functions };
            let mut measured = match candidates {
                [] => Vec::new(),
                _ => count_all(candidates, &self.figures, color, (watch, interrupt))?,
            };
            earlier.among(&mut measured);
            comparison.others = measured[1..].iter().map(|new| self.exactly(&measured[0], new)).collect();
            measured
        };
        comparison.base = measured[0].subject.clone();
        for one in &measured {
            let named = |note: &String| format!("{}: {note}", one.subject.label);
            comparison.notes.extend(one.notes.iter().map(named));
        }
        Ok((comparison, measured))
    }

    fn exactly(&self, base: &Measurement, new: &Measurement) -> Against {
        let mut against = compare_exact(base, new);
        if self.why {
            explain(&mut against, base, new);
        }
        against
    }

    fn print(&self, comparison: &Comparison, measured: Vec<Measurement>, color: bool) -> Result<()> {
        let kept = self.figures.keep()?;
        kept.keep("comparison", comparison)?;
        for (number, one) in measured.into_iter().enumerate() {
            let name = if number == 0 { "base".to_string() } else { format!("new-{number}") };
            // The comparison has those of what differs; all of them are ten times as long as the rest.
            kept.keep(&name, &one.without_stacks())?;
        }
        let page = kept.path("report.html");
        for path in [Some(&page), self.html.as_ref()].into_iter().flatten() {
            let shown = path.display().to_string();
            let mut file = BufWriter::new(File::create(path).context(shown.clone())?);
            let written = report::comparison::html(comparison, &this_call(), &mut file);
            written.and_then(|()| file.flush()).context(shown)?;
        }
        self.figures.print(comparison, color)?;
        Ok(self.figures.print_place(kept.directory())?)
    }

    fn exit_code(&self, comparison: &Comparison) -> u8 {
        let rows = || comparison.others.iter().flat_map(|against| &against.rows);
        let missing = || comparison.others.iter().flat_map(|against| &against.missing);
        // What the base can do and the other cannot is no matter of percents.
        let is_lost = |missing: &Missing| {
            missing.base.is_none() && missing.new.as_ref().is_some_and(|why| why.outcome.accuses_kernel())
        };
        if self.is_too_bad(comparison) || missing().any(is_lost) {
            FAULT
        } else if rows().any(|row| row.metric != BOOT) {
            0
        } else {
            BROKEN
        }
    }

    /// Whether something is worse by more than the user allows.
    fn is_too_bad(&self, comparison: &Comparison) -> bool {
        let allowed = self.fail_on * 100.0;
        let is_bad = |row: &Row| {
            row.verdict == Verdict::Worse
                && row.percent.is_none_or(|percent| percent > allowed)
                && allowed.is_finite()
        };
        comparison.others.iter().flat_map(|against| &against.rows).any(is_bad)
    }
}

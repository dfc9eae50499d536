//! Runs things in turns and keeps their times.

use std::fmt::Write;
use std::time::Instant;

use anyhow::{Context, Result};
use measure::quantile::median;

/// Something whose time is taken.
pub(crate) struct Racer<'a> {
    /// What it is, for a person.
    pub(crate) name: &'static str,
    prepare: Box<dyn Fn() -> Result<()> + 'a>,
    run: Box<dyn Fn() -> Result<()> + 'a>,
    /// How often it runs in each round.
    times: u32,
    /// Seconds that it took in each round, from start to exit.
    seconds: Vec<f64>,
}

impl<'a> Racer<'a> {
    /// Something that has not run yet.
    pub(crate) fn new(name: &'static str, run: impl Fn() -> Result<()> + 'a) -> Self {
        Self { name, prepare: Box::new(|| Ok(())), run: Box::new(run), times: 1, seconds: Vec::new() }
    }

    /// The same after something whose time is not taken.
    pub(crate) fn after(self, prepare: impl Fn() -> Result<()> + 'a) -> Self {
        Self { prepare: Box::new(prepare), ..self }
    }

    /// The same, so often in each round: a host is now faster and now slower, so what is compared should take about as long.
    pub(crate) fn times(self, times: u32) -> Self {
        Self { times, ..self }
    }

    /// The least disturbed of its rounds.
    pub(crate) fn best(&self) -> f64 {
        self.seconds.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Of all rounds.
    pub(crate) fn median(&self) -> f64 {
        median(&self.seconds).unwrap_or(f64::NAN)
    }
}

/// Lets all run `rounds` times in turns, after a first time that only warms caches.
pub(crate) fn race(racers: &mut [Racer<'_>], rounds: usize) -> Result<()> {
    for round in 0..=rounds {
        for racer in &mut *racers {
            (racer.prepare)().with_context(|| racer.name)?;
            let begin = Instant::now();
            (0..racer.times).try_for_each(|_| (racer.run)()).with_context(|| racer.name)?;
            if round > 0 {
                racer.seconds.push(begin.elapsed().as_secs_f64() / f64::from(racer.times));
            }
        }
        eprintln!("bench: round {round} of {rounds}");
    }
    Ok(())
}

/// The times, as Markdown.
pub(crate) fn table(racers: &[Racer<'_>]) -> String {
    let mut text = String::from("| what | best | median |\n|---|---|---|\n");
    for racer in racers {
        // Writing to a String does not fail.
        let _ = writeln!(text, "| {} | {:.2} s | {:.2} s |", racer.name, racer.best(), racer.median());
    }
    text
}

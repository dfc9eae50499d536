//! Runs things in turns and keeps their times.

use std::fmt::Write;
use std::time::Instant;

use anyhow::{Context, Result};
use measure::quantile::median;

/// Something whose time is taken.
pub(crate) struct Racer<'a> {
    /// What it is, for a person.
    pub(crate) name: &'static str,
    run: Box<dyn Fn() -> Result<()> + 'a>,
    /// Seconds of each round, from start to exit.
    seconds: Vec<f64>,
}

impl<'a> Racer<'a> {
    /// Something that has not run yet.
    pub(crate) fn new(name: &'static str, run: impl Fn() -> Result<()> + 'a) -> Self {
        Self { name, run: Box::new(run), seconds: Vec::new() }
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
            let begin = Instant::now();
            (racer.run)().with_context(|| racer.name)?;
            if round > 0 {
                racer.seconds.push(begin.elapsed().as_secs_f64());
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

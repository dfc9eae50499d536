//! One thing that must pass, and what it took.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::cpu;

/// One thing that must pass.
pub(crate) struct Step {
    /// What it is called on the screen.
    pub(crate) name: String,
    run: Box<dyn Fn() -> Result<()>>,
}

/// What a step took.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Cost {
    /// By the clock.
    pub(crate) clock: Duration,
    /// CPU time of its programs.
    pub(crate) cpu: Duration,
}

impl Step {
    /// A step that does this.
    pub(crate) fn new(name: impl Into<String>, run: impl Fn() -> Result<()> + 'static) -> Self {
        Self { name: name.into(), run: Box::new(run) }
    }

    /// Runs it and says what it took.
    pub(crate) fn run(&self) -> Result<Cost> {
        println!("\n=== {}", self.name);
        let (start, before) = (Instant::now(), cpu::of_children()?);
        let result = (self.run)();
        let cost = Cost { clock: start.elapsed(), cpu: cpu::of_children()?.saturating_sub(before) };
        let word = if result.is_ok() { "passed" } else { "FAILED" };
        println!("=== {} {word} after {cost}", self.name);
        result.with_context(|| format!("{} failed", self.name))?;
        Ok(cost)
    }
}

impl std::ops::Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { clock: self.clock + other.clock, cpu: self.cpu + other.cpu }
    }
}

impl std::fmt::Display for Cost {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "{:.1} s ({:.1} s of CPU)", self.clock.as_secs_f64(), self.cpu.as_secs_f64())
    }
}

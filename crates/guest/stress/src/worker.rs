//! What the body of a stressor sees of the engine.

use std::sync::atomic::Ordering;

use harness::check::Checked;
use protocol::stress::Domain;

use crate::board::{Control, Counters};
use crate::setting::{Figure, Setting};
use harness::random::{Random, mix};

/// A process that does the operations of a stressor.
#[derive(Debug)]
pub struct Worker<'a> {
    /// Its place among the workers of its instance, from 0.
    pub number: u32,
    /// Also verify what costs much.
    pub verifies: bool,
    pub(crate) options: &'static [Setting],
    pub(crate) figures: &'static [Figure],
    /// Values of the options, in their order.
    pub(crate) values: &'a [u64],
    pub(crate) limit: Option<u64>,
    pub(crate) seed: u64,
    pub(crate) control: &'a Control,
    pub(crate) counters: &'a Counters,
}

impl Worker<'_> {
    /// Whether there is more to do: neither the time is over nor the number of operations reached. On a busy machine a
    /// worker may begin when its time is nearly over: it still does its first operation.
    ///
    /// Bodies ask at least every 100 ms.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        let done = self.operations();
        self.limit.is_none_or(|limit| done < limit) && (done == 0 || !self.control.stops())
    }

    /// Whether the time is over, for what waits in the middle of an operation.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.control.stops()
    }

    /// Counts one bogo operation.
    pub fn count(&self) {
        self.count_many(1);
    }

    /// Counts bogo operations.
    pub fn count_many(&self, operations: u64) {
        self.counters.operations.fetch_add(operations, Ordering::Relaxed);
    }

    /// The operations so far.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.counters.operations.load(Ordering::Relaxed)
    }

    /// Does `operation` over and over, and counts.
    ///
    /// # Errors
    ///
    /// That of the first operation that fails.
    pub fn repeat(&self, mut operation: impl FnMut() -> Checked) -> Checked {
        while self.goes_on() {
            operation()?;
            self.count();
        }
        Ok(())
    }

    /// The value of an option: a number, or a number of bytes.
    #[must_use]
    pub fn value(&self, setting: &Setting) -> u64 {
        let place = self.options.iter().position(|option| option.name == setting.name);
        let value = place.and_then(|place| self.values.get(place));
        value.copied().unwrap_or_else(|| setting.domain.default_value())
    }

    /// The value of an option, as a size in memory.
    #[must_use]
    pub fn size(&self, setting: &Setting) -> usize {
        usize::try_from(self.value(setting)).unwrap_or(usize::MAX)
    }

    /// Whether an option is on.
    #[must_use]
    pub fn is_on(&self, setting: &Setting) -> bool {
        self.value(setting) != 0
    }

    /// The choice of an option, by its place in the list.
    #[must_use]
    pub fn choice(&self, setting: &Setting) -> usize {
        self.size(setting)
    }

    /// The entries of a table of methods that an option chooses: all for its first value, `all`, else the one with the
    /// name of the choice.
    #[must_use]
    pub fn methods<'t, T>(&self, setting: &Setting, table: &'t [(&str, T)]) -> Vec<&'t (&'t str, T)> {
        let chosen = match setting.domain {
            Domain::Choice(names) => names.get(self.choice(setting)).copied().unwrap_or("all"),
            _ => "all",
        };
        table.iter().filter(|(name, _)| chosen == "all" || *name == chosen).collect()
    }

    /// Reports a figure of the stressor's list.
    pub fn rate(&self, figure: &Figure, value: f64) {
        if let Some(place) = self.figures.iter().position(|known| known == figure) {
            self.counters.set_rate(place, value);
        }
    }

    /// Random numbers, the same for the same seed and worker.
    #[must_use]
    pub fn random(&self) -> Random {
        Random::new(mix(self.seed ^ mix(u64::from(self.number) + 1)))
    }
}

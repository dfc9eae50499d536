//! A machine that measures: beside the agent it has an instrument, and memory that it shares with this host.
//!
//! * [`exchange`]: that memory
//! * [`measuring`]: a machine at work
//!
//! Under a clock of instructions nothing may reach the machine while it measures: what comes from the host comes
//! at a moment that the host decides. So it stops by itself when it is prepared, each time at the same instruction,
//! and a clone finds its order in memory.

mod exchange;
mod measuring;

pub(crate) use exchange::Exchange;
use hardware::part::SHIFT;
pub(crate) use measuring::Channel;
pub use measuring::{Measuring, Step};
use protocol::profile::Entry;

/// What a measuring machine counts time by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timing {
    /// Executed instructions, of which each takes two to the power of [`SHIFT`] nanoseconds. All that the machine
    /// draws at random comes from `seed`.
    Instructions {
        /// The seed.
        seed: u64,
    },
    /// The time of this host.
    Host,
}

/// What QEMU's plugin counts in a clone. It takes longer and changes nothing that the guest can see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watch<'a> {
    /// Nothing: there is no plugin.
    No,
    /// Calls of functions at these entries, which takes hardly longer.
    Events(&'a [Entry]),
    /// What functions of the kernel execute.
    Functions,
    /// The same, by the calls that led to them, which takes longer again.
    Stacks,
}

impl Timing {
    /// Kernel parameters that make boots alike: addresses do not differ, and the clock is believed.
    #[must_use]
    pub fn parameters(self) -> &'static str {
        match self {
            Self::Instructions { .. } => "nokaslr norandmaps randomize_kstack_offset=off tsc=reliable",
            Self::Host => "",
        }
    }

    /// Arguments of QEMU.
    pub(crate) fn arguments(self) -> Vec<String> {
        let Self::Instructions { seed } = self else { return Vec::new() };
        let words = ["-icount", &format!("shift={SHIFT},sleep=off"), "-rtc", "base=2024-01-01,clock=vm"];
        words.into_iter().map(str::to_string).chain(["-seed".to_string(), seed.to_string()]).collect()
    }
}

/// Files that a measuring machine has beside those of every machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Files<F> {
    /// The memory that it shares with this host.
    pub(crate) exchange: F,
    /// QEMU's plugin.
    pub(crate) plugin: Option<Plugin<F>>,
}

/// QEMU's plugin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plugin<F> {
    pub(crate) code: F,
    /// Where it writes to.
    pub(crate) output: F,
    /// Where it reads of which events it counts, if it counts nothing else.
    pub(crate) events: Option<F>,
    /// It tells by which calls.
    pub(crate) stacks: bool,
}

impl<F> Plugin<F> {
    fn map<G>(self, change: impl Fn(F) -> G) -> Plugin<G> {
        let Self { code, output, events, stacks } = self;
        Plugin { code: change(code), output: change(output), events: events.map(change), stacks }
    }
}

impl<F> Files<F> {
    pub(crate) fn as_ref(&self) -> Files<&F> {
        let plugin = self.plugin.as_ref();
        let plugin = plugin.map(|Plugin { code, output, events, stacks }| Plugin {
            code,
            output,
            events: events.as_ref(),
            stacks: *stacks,
        });
        Files { exchange: &self.exchange, plugin }
    }

    pub(crate) fn map<G>(self, change: impl Fn(F) -> G) -> Files<G> {
        let plugin = self.plugin.map(|plugin| plugin.map(&change));
        Files { exchange: change(self.exchange), plugin }
    }

    pub(crate) fn into_files(self) -> impl Iterator<Item = F> {
        let plugin = self.plugin.into_iter();
        let plugin = plugin.flat_map(|it| [Some(it.code), Some(it.output), it.events].into_iter().flatten());
        std::iter::once(self.exchange).chain(plugin)
    }
}

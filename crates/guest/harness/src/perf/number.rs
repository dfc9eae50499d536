//! What an event is to perf_event_open(2), and why it may refuse it.

use protocol::count::{Counter, Event};
use rustix::io::Errno;

use super::function::address;
use super::{Attributes, SOFTWARE};
use crate::check::describe;
use crate::tracefs::tracepoint;

/// Where the kernel says what type of event its probes are.
const KPROBE: &str = "/sys/bus/event_source/devices/kprobe/type";

/// An event as the kernel knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number {
    /// The type.
    pub kind: u64,
    /// Which event of the type.
    pub config: u64,
    /// The address of the function that it is a probe of; 0 for others.
    pub function: u64,
}

impl Number {
    /// An event of a type that the kernel always has.
    #[must_use]
    pub const fn new(kind: u64, config: u64) -> Self {
        Self { kind, config, function: 0 }
    }

    /// What is asked of it first.
    #[must_use]
    pub fn attributes(&self) -> Attributes {
        let Self { kind, config, function } = *self;
        Attributes { kind, config, function, ..Attributes::default() }
    }

    /// Why an event was refused, and what would help.
    #[must_use]
    pub fn refusal(&self, error: Errno) -> String {
        match (error, self.kind) {
            (Errno::NOENT | Errno::OPNOTSUPP | Errno::NODEV, 0 | 4) => {
                "this machine has no unit that counts events of the CPU".to_owned()
            }
            (Errno::ACCESS | Errno::PERM, ..) => {
                "it needs CAP_PERFMON, or a lower kernel.perf_event_paranoid".to_owned()
            }
            (Errno::NOSYS, ..) => "this kernel has no perf_event_open(2) (CONFIG_PERF_EVENTS)".to_owned(),
            _ if self.function != 0 => "the kernel allows no probe of this function".to_owned(),
            (Errno::NOENT | Errno::OPNOTSUPP, ..) => "this kernel does not count it".to_owned(),
            (error, ..) => format!("perf_event_open(2): {}", describe(error)),
        }
    }
}

/// The number of an event.
///
/// # Errors
///
/// Why there is none, in a line.
pub fn number(event: &Event) -> Result<Number, String> {
    Ok(match event.counter() {
        Counter::Hardware(number) => Number::new(0, number),
        Counter::Software(number) => Number::new(SOFTWARE, number),
        Counter::Raw(number) => Number::new(4, number),
        Counter::Tracepoint => {
            let (system, name) = event.tracepoint().ok_or("it names no tracepoint")?;
            Number::new(2, tracepoint(system, name)?)
        }
        Counter::Kprobe { returns } => {
            // By its name the kernel would read it again for each process that inherits the event, from the memory of that process.
            let function = address(event.probed().ok_or("it names no function")?)?;
            probe_of(function, returns)?
        }
    })
}

/// A probe of the function that begins at this address of the kernel: where it begins, or where it returns.
///
/// # Errors
///
/// Why there is none, in a line.
pub fn probe_of(function: u64, returns: bool) -> Result<Number, String> {
    let kind = std::fs::read_to_string(KPROBE).ok().and_then(|text| text.trim().parse().ok());
    let kind =
        kind.ok_or("this kernel has no probes of its functions (CONFIG_KPROBE_EVENTS): use a tracepoint")?;
    Ok(Number { kind, config: returns.into(), function })
}

//! What an event is to perf_event_open(2), and why it may refuse it.

use protocol::count::{Counter, Event};
use rustix::io::Errno;

use super::SOFTWARE;
use crate::check::describe;
use crate::tracefs::tracepoint;

/// The type of an event, and its number in that.
pub type Number = (u64, u64);

/// The number of an event.
///
/// # Errors
///
/// Why there is none, in a line.
pub fn number(event: &Event) -> Result<Number, String> {
    Ok(match event.counter() {
        Counter::Hardware(number) => (0, number),
        Counter::Software(number) => (SOFTWARE, number),
        Counter::Raw(number) => (4, number),
        Counter::Tracepoint => {
            let (system, name) = event.tracepoint().ok_or("it names no tracepoint")?;
            (2, tracepoint(system, name)?)
        }
    })
}

/// Why an event of a type was refused, and what would help.
#[must_use]
pub fn refusal(kind: u64, error: Errno) -> String {
    match (error, kind) {
        (Errno::NOENT | Errno::OPNOTSUPP | Errno::NODEV, 0 | 4) => {
            "this machine has no unit that counts events of the CPU".to_owned()
        }
        (Errno::NOENT | Errno::OPNOTSUPP, _) => "this kernel does not count it".to_owned(),
        (Errno::ACCESS | Errno::PERM, _) => {
            "it needs CAP_PERFMON, or a lower kernel.perf_event_paranoid".to_owned()
        }
        (Errno::NOSYS, _) => "this kernel has no perf_event_open(2) (CONFIG_PERF_EVENTS)".to_owned(),
        (error, _) => format!("perf_event_open(2): {}", describe(error)),
    }
}

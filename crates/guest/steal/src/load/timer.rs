//! A timer whose interrupts are busy for a known time: the truth that the other figures can be held against.
//!
//! A CPU clock event of perf is a timer whose handler runs in hard interrupt context. A BPF program in it reads the clock until
//! the time is over, and counts how long it really took.

use harness::bpf::{ARRAY, Map, PERF_EVENT, busy, load_without_log};
use harness::check::describe;
use harness::instrument::skip;
use harness::perf::{self, Attributes, SOFTWARE};
use harness::sys::ioctl;
use protocol::Report;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::Errno;

use super::Done;

/// `PERF_EVENT_IOC_SET_BPF`.
const SET_BPF: u32 = 0x4004_2408;

/// Nanoseconds of a second.
const SECOND: u64 = 1_000_000_000;

/// A timer on one CPU. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Timer {
    _event: OwnedFd,
    counts: Map,
}

impl Timer {
    /// So many interrupts a second, each busy for this time.
    ///
    /// # Errors
    ///
    /// `skip` if the kernel or the user lacks something.
    pub(crate) fn start(hz: u32, busy_ns: u64, cpu: u32) -> Result<Self, Report> {
        let counts = Map::new(ARRAY, 2).map_err(|error| refused("bpf(2)", error))?;
        let busy_ns = i32::try_from(busy_ns).unwrap_or(i32::MAX);
        let program = load_without_log(PERF_EVENT, &busy(&counts, busy_ns, 0))
            .map_err(|error| refused("bpf(2)", error))?;
        let event =
            open(SECOND / u64::from(hz.max(1)), cpu).map_err(|error| refused("perf_event_open(2)", error))?;
        let program = usize::try_from(program.as_raw_fd()).unwrap_or(usize::MAX);
        // SAFETY: the argument is the number of a program's descriptor.
        unsafe { ioctl(&event, SET_BPF, program) }
            .map_err(|error| refused("PERF_EVENT_IOC_SET_BPF", error))?;
        Ok(Self { _event: event, counts })
    }

    pub(crate) fn done(&self) -> Done {
        let [busy, count] = [0, 1].map(|key| self.counts.lookup(key).unwrap_or(0));
        Done { count, busy_ns: Some(busy) }
    }
}

/// A CPU clock of this CPU, the first event of software, that samples all that runs, once in a period.
fn open(period_ns: u64, cpu: u32) -> Result<OwnedFd, Errno> {
    let clock = Attributes { kind: SOFTWARE, sample_period: period_ns, ..Attributes::default() };
    perf::open(clock, None, Some(cpu))
}

fn refused(what: &str, error: Errno) -> Report {
    let need = match error {
        Errno::PERM | Errno::ACCESS => "; it needs root (CAP_BPF and CAP_PERFMON)",
        Errno::NOSYS | Errno::INVAL => "; it needs a kernel with CONFIG_BPF_EVENTS",
        _ => "",
    };
    skip(format!("load timer: {what}: {}{need}", describe(error)))
}

#[cfg(test)]
mod tests {
    use protocol::ReportKind;

    use super::*;

    #[test]
    fn each_interrupt_is_busy_for_its_time_or_the_timer_says_what_it_needs() {
        match Timer::start(1000, 20_000, 0) {
            Ok(timer) => {
                while timer.done().count < 10 {
                    std::thread::yield_now();
                }
                let Done { count, busy_ns } = timer.done();
                // An interrupt may come between the two numbers.
                assert!(busy_ns.is_some_and(|busy| busy >= (count - 1) * 20_000), "{count} {busy_ns:?}");
            }
            Err(why) => assert_eq!(why.kind, ReportKind::Skip, "{}", why.text),
        }
    }
}

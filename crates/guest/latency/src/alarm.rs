//! How a measuring thread waits for a deadline.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use harness::sys::{fetch, succeeded};
use protocol::latency::{Clock, Method, POLL_INTERVAL_MAX_NS};
use rustix::io::Errno;

use crate::clock::{id, now, timespec};
use crate::timer::{self, Timer};

/// A method with the clock that it is used with. It belongs to the thread that made it.
#[derive(Debug)]
pub(crate) struct Alarm<'a> {
    clock: Clock,
    way: Way,
    stopped: &'a AtomicBool,
}

#[derive(Debug)]
enum Way {
    ClockNanosleep,
    Nanosleep,
    Timer(Timer),
    Poll,
}

impl<'a> Alarm<'a> {
    /// A wait that ends early is repeated, unless `stopped` says that it shall not.
    ///
    /// # Errors
    ///
    /// When there is no timer to be had.
    pub(crate) fn new(method: Method, clock: Clock, stopped: &'a AtomicBool) -> Result<Self, Errno> {
        let way = match method {
            Method::ClockNanosleep => Way::ClockNanosleep,
            Method::Nanosleep => Way::Nanosleep,
            Method::Timer => Way::Timer(Timer::new(id(clock))?),
            Method::Poll => Way::Poll,
        };
        Ok(Self { clock, way, stopped })
    }

    /// Waits until `deadline`, or for a span that has begun just now and ends then. Gives what the clock shows
    /// afterwards.
    ///
    /// # Errors
    ///
    /// `EINTR` if a signal ended the wait; any other error comes each time, since clock and method do not go together.
    #[inline]
    pub(crate) fn wait(&self, deadline: u64, span: Option<u64>) -> Result<u64, Errno> {
        let (flags, time) = span.map_or((libc::TIMER_ABSTIME, deadline), |span| (0, span));
        let waited = match &self.way {
            Way::ClockNanosleep => clock_nanosleep(self.clock, flags, time),
            Way::Nanosleep => nanosleep(span.unwrap_or_else(|| deadline.saturating_sub(now(self.clock)))),
            Way::Timer(timer) => timer.arm(flags, time).and_then(|()| self.fetch()),
            Way::Poll => return Ok(self.poll(deadline)),
        };
        waited.map(|()| now(self.clock))
    }

    /// Waits for the signal of the timer, so that none is left for the next deadline.
    fn fetch(&self) -> Result<(), Errno> {
        loop {
            match fetch(&[timer::signal()]).map(drop) {
                Err(Errno::INTR) if !self.stopped.load(Relaxed) => {}
                result => return result,
            }
        }
    }

    /// Reads the clock until the deadline has come, or is farther away than any: the clock was set back.
    fn poll(&self, deadline: u64) -> u64 {
        loop {
            let time = now(self.clock);
            let left = deadline.saturating_sub(time);
            if left == 0 || left > POLL_INTERVAL_MAX_NS {
                return time;
            }
        }
    }
}

fn clock_nanosleep(clock: Clock, flags: libc::c_int, time: u64) -> Result<(), Errno> {
    let time = timespec(time);
    // SAFETY: the time is valid, and the rest is not asked for.
    match unsafe { libc::clock_nanosleep(id(clock), flags, &raw const time, null_mut()) } {
        0 => Ok(()),
        error => Err(Errno::from_raw_os_error(error)),
    }
}

fn nanosleep(span: u64) -> Result<(), Errno> {
    let span = timespec(span);
    // SAFETY: the span is valid, and the rest is not asked for.
    succeeded(unsafe { libc::nanosleep(&raw const span, null_mut()) })
}

#[cfg(test)]
mod tests {
    use harness::sys::block;

    use super::*;

    #[test]
    fn no_method_wakes_before_the_deadline() {
        block(&[timer::signal()]).expect("a signal can be blocked");
        let stopped = AtomicBool::new(false);
        for method in [Method::ClockNanosleep, Method::Nanosleep, Method::Timer, Method::Poll] {
            for clock in [Clock::Monotonic, Clock::Boottime] {
                let alarm = Alarm::new(method, clock, &stopped).expect("there is a timer");
                for span in [None, Some(2_000_000)] {
                    let deadline = now(clock) + 2_000_000;
                    let woken = alarm.wait(deadline, span).expect("no signal came");
                    assert!(woken >= deadline, "{method:?} {clock:?} {span:?}");
                }
                let past = now(clock) - 1;
                assert!(alarm.wait(past, None).is_ok_and(|woken| woken > past), "{method:?} {clock:?}");
            }
        }
    }
}

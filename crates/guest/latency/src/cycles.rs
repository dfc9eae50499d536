//! The loop that measures. It allocates nothing, and touches no memory that it has not touched before.

use std::sync::atomic::Ordering::Relaxed;

use protocol::latency::Clock;
use rustix::io::Errno;
use rustix::thread::sched_getcpu;

use crate::alarm::Alarm;
use crate::clock;
use crate::recorder::Recorder;
use crate::rest::{self, Share};
use crate::shared::{Late, Shared};

/// So many deadlines that one late wake-up has missed get a sample each. More than that passed because the clock was
/// set or the machine was suspended.
const CATCH_UP_MAX: u64 = 1 << 16;

/// Which cycles: times of the clock in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    /// From when on time is counted.
    pub(crate) start: u64,
    /// The first deadline.
    pub(crate) first: u64,
    /// No deadline comes after it.
    pub(crate) end: u64,
    /// From one deadline to the next.
    pub(crate) interval: u64,
    /// How many samples at most.
    pub(crate) samples: u64,
    /// A latency above this ends the measurement.
    pub(crate) limit: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct Cycles<'a> {
    shared: &'a Shared<'a>,
    alarm: &'a Alarm<'a>,
    recorder: &'a Recorder,
    span: Span,
    clock: Clock,
    is_relative: bool,
    /// What the thread takes of its CPU, if nothing else limits that.
    share: Option<Share>,
    deadline: u64,
    samples: u64,
}

impl<'a> Cycles<'a> {
    pub(crate) fn new(
        shared: &'a Shared<'a>,
        alarm: &'a Alarm<'a>,
        recorder: &'a Recorder,
        span: Span,
    ) -> Self {
        let request = shared.request;
        let share = request.policy.has_priority().then(|| Share::new(clock::now(request.clock)));
        let (clock, is_relative) = (request.clock, request.relative);
        Self { shared, alarm, recorder, span, clock, is_relative, share, deadline: span.first, samples: 0 }
    }

    pub(crate) fn run(mut self) {
        while self.deadline <= self.span.end && self.samples < self.span.samples && !self.is_stopped() {
            if self.is_relative {
                self.deadline = clock::now(self.clock) + self.span.interval;
            }
            let woken = self.alarm.wait(self.deadline, self.is_relative.then_some(self.span.interval));
            let now = match woken {
                Ok(now) => now,
                Err(Errno::INTR) => continue,
                Err(_) => return,
            };
            if now >= self.deadline {
                self.woken(now);
            } else {
                self.woken_early(now);
            }
            self.deadline = self.deadline.saturating_add(self.span.interval);
        }
    }

    fn is_stopped(&self) -> bool {
        self.shared.stopped.load(Relaxed)
    }

    /// The deadline has come.
    #[inline]
    fn woken(&mut self, now: u64) {
        let latency = now - self.deadline;
        self.record(now);
        if self.span.limit.is_some_and(|limit| latency > limit) {
            return self.breach(now, latency);
        }
        if latency >= self.span.interval {
            self.catch_up(now);
        }
        if self.share.as_mut().is_some_and(|share| share.is_exhausted(now)) {
            self.rest();
        }
    }

    #[inline]
    fn record(&mut self, now: u64) {
        self.recorder.record(now.saturating_sub(self.span.start), now - self.deadline);
        self.samples += 1;
    }

    /// The wake-up is late for the following deadlines, too.
    #[cold]
    fn catch_up(&mut self, now: u64) {
        self.recorder.late_cycles.add(1);
        if self.is_relative {
            return;
        }
        for _ in 0..self.passed(now).min(CATCH_UP_MAX).min(self.span.samples - self.samples) {
            self.deadline += self.span.interval;
            self.record(now);
        }
        if self.samples < self.span.samples {
            self.leave_out(now);
        }
    }

    /// The following deadlines that have passed get no sample.
    fn leave_out(&mut self, now: u64) {
        let passed = self.passed(now);
        self.deadline += passed * self.span.interval;
        self.recorder.unmeasured.add(passed);
    }

    /// How many of the following deadlines have passed.
    fn passed(&self, now: u64) -> u64 {
        now.min(self.span.end).saturating_sub(self.deadline) / self.span.interval
    }

    #[cold]
    fn rest(&mut self) {
        rest::rest();
        self.recorder.rests.add(1);
        let now = clock::now(self.clock);
        self.share = Some(Share::new(now));
        if !self.is_relative {
            self.leave_out(now);
        }
    }

    /// The deadline has not come. If the clock was set back, the deadlines begin anew.
    #[cold]
    fn woken_early(&mut self, now: u64) {
        self.recorder.note_early(self.deadline - now);
        if self.clock.can_be_set() {
            self.deadline = now;
        }
    }

    #[cold]
    fn breach(&self, now: u64, latency_ns: u64) {
        let at_ns = now.saturating_sub(self.span.start);
        let woken_ns = clock::now(Clock::Monotonic);
        let cpu = u32::try_from(sched_getcpu()).unwrap_or(0);
        self.shared.end_because(Late { latency_ns, at_ns, woken_ns, cpu });
    }
}

#[cfg(test)]
mod tests;

//! A measuring thread.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use harness::instrument::{broken, skip};
use harness::sys::block;
use protocol::Report;
use protocol::latency::Usage;
use rustix::process::Pid;
use rustix::thread::gettid;

use crate::alarm::Alarm;
use crate::clock;
use crate::cycles::{Cycles, Span};
use crate::memory::touch_stack;
use crate::recorder::Recorder;
use crate::refusal;
use crate::scheduling::{self, Scheduling};
use crate::shared::Shared;
use crate::signals;
use crate::timer;
use crate::usage;

/// Cycles before the first that counts: their code and data are in memory and in the caches from then on.
const WARM_UP_CYCLES: u64 = 3;

/// The interval of these cycles at most.
const WARM_UP_INTERVAL_NS: u64 = 1_000_000;

/// A thread that is ready to measure.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) index: usize,
    pub(crate) id: Pid,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) scheduling: Scheduling,
}

/// Prepares thread number `index` of the measurement, says that it is ready, measures as soon as the gate is open, and gives
/// what its cycles used.
pub(crate) fn run(shared: &Shared<'_>, index: usize, ready: Sender<Result<Ready, Report>>) -> Option<Usage> {
    let (alarm, recorder) = match prepare(shared, index) {
        Ok((alarm, thread)) => {
            let recorder = Arc::clone(&thread.recorder);
            // Who waits for it has not gone.
            let _ = ready.send(Ok(thread));
            (alarm, recorder)
        }
        Err(report) => {
            let _ = ready.send(Err(report));
            return None;
        }
    };
    drop(ready);
    let start = shared.gate.pass();
    let used = (!shared.is_stopped()).then(|| measure(shared, index, start, &alarm, &recorder));
    shared.leave();
    signals::finished();
    used
}

/// The affinity comes before the policy, so that the thread does not take a CPU that it shall not measure; the policy
/// comes last, so that nothing but the loop has it.
fn prepare<'a>(shared: &'a Shared<'_>, index: usize) -> Result<(Alarm<'a>, Ready), Report> {
    let request = shared.request;
    if let Some(&cpu) = request.cpus.get(index) {
        scheduling::pin(cpu).map_err(|error| {
            skip(format!("CPU {cpu}: {error}: it is not there, not on line, or excluded by a cpuset"))
        })?;
    }
    let recorder = Arc::new(Recorder::new());
    block(&[timer::signal()]).map_err(|error| broken(format!("pthread_sigmask: {error}")))?;
    let alarm = Alarm::new(request.method, request.clock, &shared.stopped)
        .map_err(|error| skip(format!("timer_create with {}: {error}", request.clock.name())))?;
    // A kernel that cannot wait for this clock says so here.
    alarm
        .wait(clock::now(request.clock), None)
        .map_err(|error| skip(format!("{} with {}: {error}", request.method.name(), request.clock.name())))?;
    scheduling::set(request).map_err(|error| skip(refusal::explain(request, error)))?;
    let scheduling = scheduling::get().map_err(|error| broken(format!("sched_getattr: {error}")))?;
    Ok((alarm, Ready { index, id: gettid(), recorder, scheduling }))
}

fn measure(shared: &Shared<'_>, index: usize, start: u64, alarm: &Alarm<'_>, recorder: &Recorder) -> Usage {
    let request = shared.request;
    let cycles = |span| Cycles::new(shared, alarm, recorder, span);
    touch_stack();
    let now = clock::now(request.clock);
    let warm_up = Span {
        start: now,
        first: now,
        end: u64::MAX,
        interval: request.interval_ns.min(WARM_UP_INTERVAL_NS),
        samples: WARM_UP_CYCLES,
        limit: None,
    };
    cycles(warm_up).run();
    recorder.clear();
    let interval = request.interval_ns;
    // Threads with the same interval take turns instead of waking all at once.
    let turn = interval / request.threads() as u64 * index as u64;
    let span = Span {
        start,
        first: from_now_on(clock::now(request.clock), start + turn, interval),
        end: start.saturating_add(request.duration_ms.saturating_mul(1_000_000)),
        interval,
        samples: request.samples.unwrap_or(u64::MAX),
        limit: request.break_above_ns,
    };
    let before = usage::of_this_thread();
    cycles(span).run();
    usage::between(before, usage::of_this_thread())
}

/// The first of the deadlines from `first` on, an interval apart, that has not passed.
fn from_now_on(now: u64, first: u64, interval: u64) -> u64 {
    first.saturating_add(now.saturating_sub(first).div_ceil(interval) * interval)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_deadline_has_not_passed() {
        let first = [0, 99, 100, 101, 110, 111].map(|now| from_now_on(now, 100, 10));
        assert_eq!(first, [100, 100, 100, 110, 110, 120]);
    }
}

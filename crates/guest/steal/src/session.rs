//! Passes and set-ups in their order.

use std::sync::atomic::Ordering::Relaxed;
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use harness::clock::monotonic;
use harness::instrument::{Listener, broken};
use harness::signals::{Signals, Woken};
use protocol::Report;
use protocol::steal::{Pass, Setup, Side, StealReport, StealRequest, Trace, Traced};
use rustix::process::{Signal, getpid, kill_process};
use rustix::thread::gettid;

use crate::affinity::Placement;
use crate::calibration::calibrate;
use crate::command::Victim;
use crate::conditions;
use crate::load::{Done, Running};
use crate::probe::Probe;
use crate::speed::Speed;
use crate::threads::Snapshot;
use crate::trace::Tracing;

/// From the start of a load to the pass.
const SETTLED: Duration = Duration::from_millis(200);

/// How often it looks at a probe, besides its end.
const TICK: Duration = Duration::from_millis(100);

/// From one report to the next, in nanoseconds.
const PERIOD: u64 = 1_000_000_000;

/// Measures what a valid request asks for. The listener gets what is known so far, about once a second; if it fails,
/// nobody listens any more, and the measurement ends.
///
/// This process must have one thread.
///
/// # Errors
///
/// `skip` if the machine or the user lacks something, `broken` if its own part failed.
pub fn measure(request: &StealRequest, listener: Listener<'_, StealReport>) -> Result<StealReport, Report> {
    let signals = Signals::block().map_err(|error| broken(format!("signals: {error}")))?;
    let placement = Placement::take(request.cpu)?;
    let sender = request.load.filter(|load| load.is_network()).map(|_| placement.others);
    let (speed, calibration) = on_a_thread(|| calibrate(placement.victim, request.duration_ms))?;
    let report = StealReport {
        request: request.clone(),
        cpu: placement.victim,
        conditions: conditions::look(sender),
        calibration: request.command.is_empty().then_some(calibration),
        sides: request
            .setups()
            .map(|setup| Side { setup, passes: Vec::new(), trace: Traced::None })
            .collect(),
        interrupted: false,
    };
    let mut session = Session { signals, placement, speed, report, listener };
    session.run()?;
    Ok(session.report)
}

/// What a body gives that needs a thread of its own.
fn on_a_thread<T: Send>(body: impl FnOnce() -> Result<T, String> + Send) -> Result<T, Report> {
    thread::scope(|scope| joined(scope.spawn(body)))
}

fn joined<T>(thread: ScopedJoinHandle<'_, Result<T, String>>) -> Result<T, Report> {
    thread.join().unwrap_or_else(|_| Err("a thread of the instrument failed".to_owned())).map_err(broken)
}

struct Session<'a> {
    signals: Signals,
    placement: Placement,
    speed: Speed,
    report: StealReport,
    listener: Listener<'a, StealReport>,
}

/// A victim that has come to its end, and its number.
struct Ended {
    pass: Pass,
    pid: u32,
}

impl Session<'_> {
    fn run(&mut self) -> Result<(), Report> {
        for round in 0..self.report.request.passes() {
            for side in self.order(round) {
                if !self.report.interrupted {
                    self.pass(side)?;
                }
            }
        }
        for side in self.order(0) {
            if self.report.request.trace && !self.report.interrupted {
                self.report.sides[side].trace = self.traced(side)?;
            }
        }
        Ok(())
    }

    /// Set-ups in turns, so that what changes slowly hits both alike: A B, B A, A B ...
    fn order(&self, round: u32) -> Vec<usize> {
        let sides = 0..self.report.sides.len();
        if round.is_multiple_of(2) { sides.collect() } else { sides.rev().collect() }
    }

    /// A pass without tracing.
    fn pass(&mut self, side: usize) -> Result<(), Report> {
        let mut load = self.start(self.report.sides[side].setup)?;
        let threads = Snapshot::take();
        let before = done(&mut load)?;
        let Ended { pass, .. } = self.victim(side)?;
        let since = done(&mut load)?.zip(before).map(|(now, before)| now.since(before));
        let threads = threads.ran_on(self.placement.victim, &Snapshot::take());
        self.report.sides[side].passes.push(Pass {
            threads,
            load_count: since.map(|done| done.count),
            load_busy_ns: since.and_then(|done| done.busy_ns),
            ..pass
        });
        Ok(())
    }

    /// The pass with tracing.
    fn traced(&mut self, side: usize) -> Result<Traced, Report> {
        let _load = self.start(self.report.sides[side].setup)?;
        let tracing = match Tracing::start(self.placement.victim) {
            Ok(tracing) => tracing,
            Err(why) => return Ok(Traced::Missing(why)),
        };
        let Ended { pid, .. } = self.victim(side)?;
        let trace: Result<Trace, String> = tracing.conclude(pid, self.speed.tick_ns);
        Ok(trace.map_or_else(Traced::Missing, Traced::Seen))
    }

    /// Starts the load of the request, if there is one.
    fn start(&mut self, setup: Setup) -> Result<Option<Running>, Report> {
        let load = self.report.request.load;
        let running = load.map(|load| Running::start(load, setup, self.placement)).transpose()?;
        if running.is_some() {
            self.report.interrupted |= self.signals.wait(SETTLED) == Woken::Interrupted;
        }
        Ok(running)
    }

    /// Runs the victim once.
    fn victim(&mut self, side: usize) -> Result<Ended, Report> {
        if self.report.request.command.is_empty() { self.probe(side) } else { self.command() }
    }

    fn command(&mut self) -> Result<Ended, Report> {
        let victim = Victim::start(&self.report.request.command, self.placement.victim)?;
        let pid = victim.pid();
        let limit = Duration::from_millis(self.report.request.duration_ms);
        let (pass, interrupted) = victim.wait(limit, &self.signals)?;
        self.report.interrupted |= interrupted;
        Ok(Ended { pass, pid })
    }

    fn probe(&mut self, side: usize) -> Result<Ended, Report> {
        let (cpu, speed) = (self.placement.victim, self.speed);
        let duration_ns = self.report.request.duration_ms.saturating_mul(1_000_000);
        let probe = Probe::default();
        thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let pid = gettid().as_raw_nonzero().get().unsigned_abs();
                let ended = probe.pass(cpu, duration_ns, &speed).map(|pass| Ended { pass, pid });
                // Wakes the first thread, which waits for signals. This process may send them to itself.
                let _ = kill_process(getpid(), Signal::CHILD);
                ended
            });
            self.watch(side, &probe, &|| thread.is_finished());
            joined(thread)
        })
    }

    /// Reports from time to time, until the probe has come to its end.
    fn watch(&mut self, side: usize, probe: &Probe, is_finished: &dyn Fn() -> bool) {
        let begin = monotonic();
        let mut next = begin + PERIOD;
        while !is_finished() {
            if self.signals.wait(TICK) == Woken::Interrupted {
                self.report.interrupted = true;
            }
            let now = monotonic();
            if now >= next {
                next = now + PERIOD;
                let report = self.so_far(side, probe.until_now(now - begin, &self.speed));
                self.report.interrupted |= (self.listener)(&report).is_err();
            }
            if self.report.interrupted {
                probe.stopped.store(true, Relaxed);
            }
        }
    }

    /// What is known, with a pass that is not over. One with tracing shows what its first pass has shown.
    fn so_far(&self, side: usize, pass: Pass) -> StealReport {
        let mut report = self.report.clone();
        let passes = &mut report.sides[side].passes;
        if passes.len() < report.request.passes() as usize {
            passes.push(pass);
        }
        report
    }
}

fn done(load: &mut Option<Running>) -> Result<Option<Done>, Report> {
    load.as_mut().map(Running::done).transpose()
}

//! A measurement from its first to its last thread.

use std::io;
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread::{self, Builder, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use harness::hypervisor::hypervisor;
use harness::instrument::{Listener, broken, skip};
use protocol::Report;
use protocol::latency::{Breach, Conditions, Grant, LatencyReport, LatencyRequest, ThreadReport, Usage};

use crate::conditions::{self, sysctl};
use crate::load::Load;
use crate::power::Meter;
use crate::shared::Shared;
use crate::signals::{self, Event};
use crate::thread::Ready;
use crate::trace::Trace;
use crate::{clock, memory, refusal, rest};

/// The stack of a measuring thread.
const STACK: usize = 128 << 10;

/// From the opening of the gate to the first deadline.
const LEAD: Duration = Duration::from_millis(10);

/// From one report to the next.
const PERIOD: Duration = Duration::from_secs(1);

/// A thread that does not see the end of its time is stopped so much later: its clock was set, or it waits too long.
const GRACE: Duration = Duration::from_millis(100);

/// Threads that were stopped are woken so often until all have ended.
const WAKE_PERIOD: Duration = Duration::from_millis(10);

/// Measures what a valid request asks for. The listener gets what is known so far, about once a second; if it fails,
/// nobody listens any more, and the measurement ends.
///
/// It changes the process: signals are blocked, limits are lowered, the allocator keeps its memory.
///
/// # Errors
///
/// `skip` if the machine or the user lacks something, `broken` if its own part failed.
pub fn measure(
    request: &LatencyRequest,
    listener: Listener<'_, LatencyReport>,
) -> Result<LatencyReport, Report> {
    if let Some(why) = refusal::expected(request) {
        return Err(skip(why));
    }
    let resolution_ns = clock::resolution(request.clock)
        .map_err(|error| skip(format!("{}: {error}", request.clock.name())))?;
    memory::keep();
    signals::prepare().map_err(|error| broken(format!("signals: {error}")))?;
    // It must not have the limits that follow.
    let load = request.load.as_ref().map(Load::begin).transpose()?;
    if request.policy.has_priority() {
        rest::limit_real_time().map_err(|error| broken(format!("RLIMIT_RTTIME: {error}")))?;
    }
    let (cpu_dma_latency, _held) = conditions::limit_dma_latency(request.cpu_dma_latency_us);
    let (traced, trace) = trace(request);
    let conditions = Conditions {
        hypervisor: hypervisor(),
        clocksource: conditions::clocksource(),
        resolution_ns,
        rt_runtime_us: sysctl("sched_rt_runtime_us"),
        rt_period_us: sysctl("sched_rt_period_us"),
        locked: Grant::NotWanted,
        cpu_dma_latency,
        trace: traced,
    };
    let shared = Shared::new(request, trace);
    thread::scope(|scope| {
        let (threads, ready) = start(scope, &shared).inspect_err(|_| {
            shared.stop();
            shared.gate.open(0);
        })?;
        let mut session = Session {
            shared: &shared,
            conditions,
            ready,
            load,
            meter: Meter::begin(Path::new("/sys")),
            start: Instant::now() + LEAD,
        };
        if request.lock_memory {
            session.conditions.locked = memory::lock();
        }
        session.open();
        session.watch(listener);
        let usages = threads.into_iter().map(|thread| thread.join().unwrap_or_default()).collect();
        session.meter.finish();
        let report = session.report(usages);
        let load = session.load.map(Load::end).transpose()?;
        Ok(LatencyReport { load, ..report })
    })
}

fn trace(request: &LatencyRequest) -> (Grant, Option<Trace>) {
    match request.break_above_ns.map(|_| Trace::start()) {
        None => (Grant::NotWanted, None),
        Some(Ok(trace)) => (Grant::Granted, Some(trace)),
        Some(Err(why)) => (Grant::Refused(why), None),
    }
}

type Threads<'scope> = Vec<ScopedJoinHandle<'scope, Option<Usage>>>;

/// Starts all threads, and waits until they are ready.
fn start<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    shared: &'env Shared<'env>,
) -> Result<(Threads<'scope>, Vec<Ready>), Report> {
    let (sender, receiver) = channel();
    let spawn = |index| {
        let sender = sender.clone();
        let body = move || crate::thread::run(shared, index, sender);
        Builder::new().stack_size(STACK).spawn_scoped(scope, body)
    };
    let threads = (0..shared.request.threads())
        .map(spawn)
        .collect::<io::Result<Threads<'scope>>>()
        .map_err(|error| broken(format!("a thread cannot be made: {error}")))?;
    drop(sender);
    let mut ready = receiver.iter().collect::<Result<Vec<Ready>, Report>>()?;
    ready.sort_by_key(|thread| thread.index);
    Ok((threads, ready))
}

/// The first thread's view of a measurement that runs.
struct Session<'a> {
    shared: &'a Shared<'a>,
    conditions: Conditions,
    ready: Vec<Ready>,
    load: Option<Load>,
    meter: Meter,
    start: Instant,
}

impl Session<'_> {
    /// Lets the threads begin.
    fn open(&mut self) {
        self.start = Instant::now() + LEAD;
        let lead = u64::try_from(LEAD.as_nanos()).unwrap_or(0);
        self.shared.gate.open(clock::now(self.shared.request.clock).saturating_add(lead));
    }

    /// Reports from time to time, until all threads have come to their end.
    fn watch(&mut self, listener: Listener<'_, LatencyReport>) {
        let end = self.start + Duration::from_millis(self.shared.request.duration_ms) + GRACE;
        let mut next = self.start + PERIOD;
        while self.shared.is_measuring() {
            let now = Instant::now();
            if now >= next {
                next = now + PERIOD;
                self.meter.look();
                if listener(&self.so_far()).is_err() {
                    self.shared.stop();
                }
            }
            let is_stopped = self.shared.is_stopped();
            let at_most = if is_stopped { WAKE_PERIOD } else { next.min(end).saturating_duration_since(now) };
            let event = signals::wait(at_most);
            let is_without_load = self.load.as_mut().is_some_and(|load| !load.goes_on());
            if event == Event::End || is_without_load || Instant::now() >= end {
                self.shared.stop();
            }
            if self.shared.is_stopped() {
                self.ready.iter().for_each(|thread| signals::wake(thread.id));
            }
        }
    }

    /// What is worth the time that telling it takes.
    fn so_far(&self) -> LatencyReport {
        let mut report = self.report(Vec::new());
        for thread in &mut report.threads {
            thread.latencies = thread.latencies.condensed();
            thread.maxima.slots.clear();
        }
        report
    }

    /// What is known now; `usages` are those of the threads that have ended.
    fn report(&self, usages: Vec<Option<Usage>>) -> LatencyReport {
        let usages = usages.into_iter().chain(std::iter::repeat(None));
        let threads = self.ready.iter().zip(usages);
        let elapsed = self.start.elapsed().as_nanos();
        LatencyReport {
            request: self.shared.request.clone(),
            elapsed_ns: u64::try_from(elapsed).unwrap_or(u64::MAX),
            conditions: self.conditions.clone(),
            threads: threads.map(|(thread, usage)| self.thread(thread, usage)).collect(),
            breach: self.breach(),
            load: None,
            power: self.meter.power(),
        }
    }

    fn thread(&self, thread: &Ready, usage: Option<Usage>) -> ThreadReport {
        let (recorder, scheduling) = (&thread.recorder, thread.scheduling);
        ThreadReport {
            cpu: self.shared.request.cpus.get(thread.index).copied(),
            policy: scheduling.policy,
            priority: scheduling.priority,
            timer_slack_ns: scheduling.timer_slack_ns,
            latencies: recorder.latencies(),
            maxima: recorder.maxima(),
            late_cycles: recorder.late_cycles.get(),
            unmeasured: recorder.unmeasured.get(),
            rests: recorder.rests.get(),
            early: recorder.early.get(),
            earliest_ns: recorder.earliest.get(),
            usage,
        }
    }

    fn breach(&self) -> Option<Breach> {
        let late = self.shared.late.get()?;
        let deadline_ns = late.woken_ns.saturating_sub(late.latency_ns);
        let trace = self.shared.trace.as_ref().map(|trace| trace.since(deadline_ns, late.cpu));
        Some(Breach {
            latency_ns: late.latency_ns,
            at_ns: late.at_ns,
            woken_ns: late.woken_ns,
            cpu: late.cpu,
            trace: trace.unwrap_or_default(),
        })
    }
}

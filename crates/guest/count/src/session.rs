//! From a request to its report.

use std::collections::HashMap;
use std::time::Duration;

use harness::clock::in_nanoseconds;
use harness::instrument::{Listener, broken, skip};
use harness::perf::{DUMMY, Number, Record, Ring, TASK_CLOCK, number, online_cpus, write_into};
use harness::workload::{self, Over, threads};
use protocol::Report;
use protocol::count::{CountReport, CountRequest, Counted, Event, INTERVALS_MAX, Interval, Missing};
use rustix::io::Errno;
use rustix::process::Pid;

use crate::counter::{Descriptor, Scope, Value};
use crate::estimate::Rate;
use crate::reported::is_reported;
use crate::switches::Switches;
use crate::tasks::Tasks;

/// How often counters are read for the estimate and for whoever looks on; and buffers are emptied, before a thousand processes have
/// ended.
const PERIOD: Duration = Duration::from_millis(100);

/// Pages of a buffer: room for the ends of some thousand threads.
const PAGES: usize = 256;

/// Counts as a request asks.
///
/// # Errors
///
/// `skip` if no event can be counted here, or there is no such program; `broken` if the host refuses.
pub fn count(request: &CountRequest, listener: Listener<'_, CountReport>) -> Result<CountReport, Report> {
    let at_switches = request.per.is_some() && !is_reported()?;
    count_for(request, at_switches, listener)
}

/// The same; what each part has is counted at switches, if the kernel does not report it.
fn count_for(
    request: &CountRequest,
    at_switches: bool,
    listener: Listener<'_, CountReport>,
) -> Result<CountReport, Report> {
    // Without anybody who listens it goes on until its end.
    let tell = |session: &mut Session, now| {
        let _ = session.report(now).map(|report| listener(&report));
    };
    let period = request.interval_ms.map_or(PERIOD, |every| PERIOD.min(Duration::from_millis(every)));
    let begin = |process| Session::begin(request, process, at_switches);
    let (session, over) = workload::run(&request.workload, period, begin, Session::look, tell)?;
    session.end(&over)
}

/// An event with its counters: one for each CPU, or one.
struct Counting {
    event: Event,
    number: Number,
    /// How much its counters have for one event.
    unit: u64,
    counters: Vec<Descriptor>,
    rate: Rate,
    last: Value,
    /// What it had come to at the end of the last interval.
    before: u64,
}

/// What is counted.
struct Session {
    request: CountRequest,
    /// Where the kernel switches from a thread to another one with the same counters, it exchanges their counts instead of the counters,
    /// in the order in which each thread has them. Children have theirs in an order of the kernel's, and the program in ours, so that
    /// events would get the counts of others. A counter that children do not inherit keeps the kernel from it.
    _unlike: Option<Descriptor>,
    counting: Vec<Counting>,
    missing: Vec<Missing>,
    rings: Vec<Ring>,
    tasks: Tasks,
    /// What counts for each thread, if the kernel does not report that.
    switches: Option<Switches>,
    intervals: Vec<Interval>,
}

impl Session {
    /// Opens all counters, of a process unless everything is asked for.
    fn begin(request: &CountRequest, process: Option<Pid>, at_switches: bool) -> Result<Self, Report> {
        let unlike = process.filter(|_| request.per.is_some()).map(|process| {
            let dummy = Descriptor::open(DUMMY, Scope::Alone(process), false);
            dummy.map_err(|error| skip(format!("no counts of parts: {}", DUMMY.refusal(error))))
        });
        let unlike = unlike.transpose()?;
        let (counting, missing) = open_all(request, process)?;
        if let ([], Some(Missing { event, why })) = (counting.as_slice(), missing.first()) {
            return Err(skip(format!("{event}: {why}")));
        }
        let switches = process.filter(|_| at_switches).map(|process| {
            let numbers: Vec<Number> = counting.iter().map(|one| one.number).collect();
            Switches::begin(&numbers, request, process)
        });
        let switches = switches.transpose()?;
        let ids = |(at, one): (usize, &Counting)| {
            one.counters.iter().map(|counter| (counter.id, at)).collect::<Vec<_>>()
        };
        // Whatever else is reported has been counted already.
        let reported = counting.iter().enumerate().filter(|_| switches.is_none());
        let ids: HashMap<u64, usize> = reported.flat_map(ids).collect();
        let rings = if request.per.is_some() { rings(&counting) } else { Ok(Vec::new()) };
        Ok(Self {
            request: request.clone(),
            _unlike: unlike,
            tasks: Tasks::new(request.per, process, counting.len(), ids),
            rings: rings.map_err(|error| broken(format!("the buffer of a counter: {error}")))?,
            counting,
            missing,
            switches,
            intervals: Vec::new(),
        })
    }

    /// Reads all counters, and what the kernel tells of processes.
    fn look(&mut self, now: Duration) -> Result<(), Report> {
        for one in &mut self.counting {
            let sum = one.counters.iter().map(Descriptor::value).sum::<Result<Value, Errno>>();
            let sum = sum.map_err(|error| broken(format!("a counter: {error}")))?;
            one.last = if self.request.per.is_some() { sum.of_one_thread(one.counters.len()) } else { sum };
            one.rate.take(one.last);
        }
        let tasks = &mut self.tasks;
        for ring in &mut self.rings {
            ring.drain(&mut |bytes| {
                Record::read(bytes).into_iter().for_each(|record| tasks.take(record));
            });
        }
        let every = self.request.interval_ms.map(Duration::from_millis);
        let last = self.intervals.last().map_or(0, |last| last.end_ns);
        if every.is_some_and(|every| now.saturating_sub(Duration::from_nanos(last)) >= every) {
            self.interval(now);
        }
        Ok(())
    }

    /// Ends an interval.
    fn interval(&mut self, now: Duration) {
        let since = |one: &mut Counting| {
            let since = one.last.count.saturating_sub(one.before);
            one.before = one.last.count;
            since
        };
        let counts: Vec<u64> = self.counting.iter_mut().map(|one| since(one) / one.unit).collect();
        let end_ns = in_nanoseconds(now);
        let is_full = self.intervals.len() >= INTERVALS_MAX;
        match self.intervals.last_mut().filter(|_| is_full) {
            Some(last) => {
                last.end_ns = end_ns;
                last.counts.iter_mut().zip(&counts).for_each(|(sum, more)| *sum = sum.saturating_add(*more));
            }
            None => self.intervals.push(Interval { end_ns, counts }),
        }
    }

    fn end(mut self, over: &Over) -> Result<CountReport, Report> {
        let has_more = self.counting.iter().any(|one| one.last.count > one.before);
        if self.request.interval_ms.is_some() && has_more {
            self.interval(over.elapsed);
        }
        let report = self.report(over.elapsed)?;
        Ok(CountReport { status: over.status(), signal: over.signal(), ..report })
    }

    fn report(&mut self, elapsed: Duration) -> Result<CountReport, Report> {
        let sums: Vec<u64> = self.counting.iter().map(|one| one.last.count).collect();
        let (mut tasks, tasks_omitted) = match &self.switches {
            Some(switches) => self.tasks.with(&switches.tasks()?).largest(&sums),
            None => self.tasks.largest(&sums),
        };
        let lost = self.switches.as_ref().map_or(Ok(0), Switches::lost)?;
        for task in &mut tasks {
            task.counts.iter_mut().zip(&self.counting).for_each(|(count, one)| *count /= one.unit);
        }
        let counted = |one: &Counting| {
            let Value { count, enabled_ns, running_ns } = one.last;
            let error = one.rate.error(one.last);
            Counted { event: one.event.clone(), value: count / one.unit, enabled_ns, running_ns, error }
        };
        Ok(CountReport {
            request: self.request.clone(),
            elapsed_ns: in_nanoseconds(elapsed),
            status: None,
            signal: None,
            counted: self.counting.iter().map(counted).collect(),
            missing: self.missing.clone(),
            tasks,
            tasks_omitted,
            lost: self.tasks.lost().saturating_add(lost),
            intervals: self.intervals.clone(),
        })
    }
}

/// Opens the counters of all events, and names those that cannot be counted.
fn open_all(request: &CountRequest, process: Option<Pid>) -> Result<(Vec<Counting>, Vec<Missing>), Report> {
    let mut found: Vec<Result<(Number, Vec<Descriptor>), String>> =
        request.events.iter().map(|event| Ok((number_in(request, event)?, Vec::new()))).collect();
    for scope in scopes(request, process)? {
        let mut tells = request.per.is_some();
        for one in &mut found {
            let Ok((number, counters)) = one else { continue };
            match Descriptor::open(*number, scope, tells) {
                Ok(counter) => {
                    counters.push(counter);
                    tells = false;
                }
                Err(Errno::SRCH) if matches!(scope, Scope::Running(_)) => {}
                Err(error) => *one = Err(number.refusal(error)),
            }
        }
    }
    let (mut counting, mut missing) = (Vec::new(), Vec::new());
    for (event, found) in request.events.iter().cloned().zip(found) {
        match found {
            Ok((number, counters)) => {
                let (rate, last) = (Rate::default(), Value::default());
                let unit = request.by_clock(&event).map_or(1, |nanoseconds| u64::from(nanoseconds.get()));
                counting.push(Counting { event, number, unit, counters, rate, last, before: 0 });
            }
            Err(why) => missing.push(Missing { event, why }),
        }
    }
    Ok((counting, missing))
}

/// What is opened for an event.
fn number_in(request: &CountRequest, event: &Event) -> Result<Number, String> {
    if request.by_clock(event).is_some() { Ok(TASK_CLOCK) } else { number(event) }
}

/// Whose events each counter of an event counts.
fn scopes(request: &CountRequest, process: Option<Pid>) -> Result<Vec<Scope>, Report> {
    let online = || online_cpus().map_err(broken);
    Ok(match process.filter(|_| !request.workload.everywhere) {
        Some(process) if request.workload.process.is_some() => {
            threads(process)?.into_iter().map(Scope::Running).collect()
        }
        None => online()?.map(Scope::Cpu).collect(),
        Some(process) if request.per.is_some() => online()?.map(|cpu| Scope::Threads(process, cpu)).collect(),
        Some(process) => vec![Scope::Program(process)],
    })
}

/// A buffer for each CPU, into which all counters there write.
fn rings(counting: &[Counting]) -> Result<Vec<Ring>, Errno> {
    let Some((first, others)) = counting.split_first() else { return Ok(Vec::new()) };
    let mut rings = Vec::new();
    for (cpu, counter) in first.counters.iter().enumerate() {
        rings.push(Ring::map(counter, PAGES)?);
        for other in others {
            other.counters.get(cpu).map_or(Ok(()), |other| write_into(other, counter))?;
        }
    }
    Ok(rings)
}

#[cfg(test)]
mod tests;

//! Follows one Run on a machine from its start to its end.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use machine::{Event as MachineEvent, Facts, Hazard, Life, Machine, TimeoutScale, instruments};
use protocol::instrument::SO_FAR;
use protocol::trace::TraceRequest;
use protocol::{FromAgent, KernelRecord, Report, RunRequest, ToAgent, Work};

use crate::plan::Item;
use crate::watch::{Duty, Watch};
use judge::run::file_name;
use judge::{Dialect, Ending};

/// Most output that is kept of one Run, in bytes.
const OUTPUT_MAX: usize = 256 * 1024;

/// The same of an instrument, whose report is one line.
const REPORT_MAX: usize = 4 << 20;

/// Most records of the kernel log that are kept of one Run.
const RECORDS_MAX: usize = 2000;

/// Most of the kernel log and of the console in which reports are looked for, in bytes.
const SEARCHED_MAX: usize = 8 << 20;

/// Most results with a text that are kept of one Run.
const REPORTS_MAX: usize = 256;

/// Most notes of one Run.
pub(crate) const NOTES_MAX: usize = 20;

/// How often the user's wish to stop is looked at.
const INTERRUPT_INTERVAL: Duration = Duration::from_millis(200);

/// Something that is told while a case runs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RunEvent<'a> {
    /// A line on the console.
    Console(&'a str),
    /// A line that a program wrote.
    Output(&'a str),
    /// A CPU waits for too long.
    Hazard(&'a Hazard),
    /// The case has ended, and its kernel goes on with what it has put off.
    Settling,
}

/// What a machine is asked to run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// No other run of the session has this number.
    pub(crate) run: u32,
    pub(crate) seed: u64,
    pub(crate) item: &'a Item,
    /// How long its kernel may go on afterwards.
    pub(crate) settle: Duration,
    /// What is recorded meanwhile.
    pub(crate) trace: Option<&'a TraceRequest>,
}

/// Everything that was seen of a Run.
#[derive(Debug)]
pub(crate) struct Observation {
    pub(crate) ending: Ending,
    /// The time that the case had.
    pub(crate) limit: Duration,
    pub(crate) duration: Duration,
    /// For so long the machine had no CPU of the host.
    pub(crate) waited: Duration,
    pub(crate) reports: Vec<Report>,
    pub(crate) output: String,
    /// It comes from an instrument.
    is_instrument: bool,
    /// How much of it has been told.
    told: usize,
    pub(crate) log: Vec<KernelRecord>,
    /// The text of all records, also of those that are not kept.
    pub(crate) log_text: Lines,
    /// The kernel overwrote records before the agent could read them.
    pub(crate) log_lost: bool,
    pub(crate) console: Lines,
    pub(crate) notes: Vec<String>,
    /// Something of it is still in the machine.
    pub(crate) spoiled: bool,
}

/// Runs `item` and sees what happens; nothing if the user interrupts it.
pub(crate) fn observe(
    machine: &mut dyn Machine,
    asked: Asked<'_>,
    timeouts: TimeoutScale,
    interrupt: &AtomicBool,
    hear: &mut dyn FnMut(RunEvent<'_>),
) -> Option<Observation> {
    let Asked { run, item, settle, .. } = asked;
    let limit = limit(item, timeouts);
    machine.name_dump(&file_name(&item.name));
    machine.send(&ToAgent::Run(request(asked, limit)));
    let life = Life::begin(machine);
    let mut watch = Watch::new(limit, settle, timeouts);
    let mut seen = Observation::new(limit, is_instrument(item));
    while !interrupt.load(Ordering::Relaxed) {
        let (lived, waited) = life.look(machine);
        seen.waited = waited;
        let until = match watch.duty(lived) {
            Duty::WaitFor(time) => Instant::now() + time.min(INTERRUPT_INTERVAL),
            Duty::TimeUp => tell(machine, &ToAgent::TimeUp { run }),
            Duty::Ping(nonce) => tell(machine, &ToAgent::Ping { nonce }),
            Duty::Hang(silence) => {
                let ending = Ending::Silent { seconds: silence.as_secs(), facts: examine(machine, hear) };
                return Some(seen.end(machine, ending, life.passed()));
            }
            Duty::Overdue => {
                let ending = Ending::Overdue { facts: examine(machine, hear) };
                return Some(seen.end(machine, ending, life.passed()));
            }
        };
        match machine.next(until) {
            MachineEvent::Quiet | MachineEvent::Stopped => {}
            MachineEvent::Console(line) => {
                hear(RunEvent::Console(&line));
                seen.console.push(line);
            }
            MachineEvent::Hazard(hazard) => hear(RunEvent::Hazard(&hazard)),
            MachineEvent::Stranger(text) => seen.note(format!("on the control port: {text}")),
            MachineEvent::Ended(death) => return Some(seen.end(machine, Ending::Died(death), life.passed())),
            MachineEvent::Agent(message) => {
                watch.restart(life.lived(seen.waited));
                if message == (FromAgent::Settling { run }) {
                    hear(RunEvent::Settling);
                    continue;
                }
                let is_over = seen.take(run, message);
                seen.tell_output(is_over, hear);
                if is_over {
                    return Some(seen);
                }
            }
        }
    }
    None
}

/// Tells the agent something, and gives until when to wait for what happens: not at all.
fn tell(machine: &mut dyn Machine, message: &ToAgent) -> Instant {
    machine.send(message);
    Instant::now()
}

/// Looks into a machine that is given up. What its kernel is made to print is recorded and kept apart from
/// what it said by itself, in which causes are looked for.
fn examine(machine: &mut dyn Machine, hear: &mut dyn FnMut(RunEvent<'_>)) -> Facts {
    let facts = machine.examine();
    facts.traces.iter().for_each(|line| hear(RunEvent::Console(line)));
    facts
}

/// The time that `item` has. A test of LTP ends itself by the guest's clock, which does not heed what the host
/// lacks: it gets more from the start.
fn limit(item: &Item, timeouts: TimeoutScale) -> Duration {
    match item.dialect {
        Dialect::Ltp => timeouts.stretch_by_load(item.limit),
        Dialect::Kiln | Dialect::Program | Dialect::Kselftest => timeouts.stretch(item.limit),
    }
}

/// What the agent is asked for.
pub(crate) fn request(asked: Asked<'_>, limit: Duration) -> RunRequest {
    let Asked { run, seed, item, settle, trace } = asked;
    RunRequest {
        run,
        work: work(item, limit),
        // It is told when its time is up.
        limit_ms: u64::MAX,
        // What it knows so far is told and not kept: a long measurement says it often.
        output_max: if is_instrument(item) { u64::MAX } else { OUTPUT_MAX as u64 },
        seed,
        modules: item.modules.clone(),
        unsure: item.unsure.clone(),
        needs: item.needs.clone(),
        settle_ms: u64::try_from(settle.as_millis()).unwrap_or(u64::MAX),
        trace: trace.cloned().map(Box::new),
    }
}

fn is_instrument(item: &Item) -> bool {
    item.dialect == Dialect::Program && instruments::is_named(Path::new(&item.name))
}

/// The work of `item`; a test of LTP learns how much longer everything may take here and now.
fn work(item: &Item, limit: Duration) -> Work {
    let mut work = item.work.clone();
    if let (Work::Program(command), Dialect::Ltp) = (&mut work, item.dialect) {
        let factor = limit.as_secs_f64() / item.limit.as_secs_f64().max(1.0);
        command.environment.push(("LTP_TIMEOUT_MUL".to_string(), format!("{:.0}", factor.ceil())));
    }
    work
}

fn push<T>(list: &mut Vec<T>, value: T, limit: usize) {
    if list.len() < limit {
        list.push(value);
    }
}

/// The last lines of something that may go on for ever.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    lines: VecDeque<String>,
    bytes: usize,
}

impl Lines {
    fn push(&mut self, line: String) {
        self.bytes += Self::size(&line);
        self.lines.push_back(line);
        while self.bytes > SEARCHED_MAX
            && let Some(oldest) = self.lines.pop_front()
        {
            self.bytes -= Self::size(&oldest);
        }
    }

    /// What a line takes in memory, about.
    fn size(line: &str) -> usize {
        line.len() + size_of::<String>()
    }

    /// All that are left.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().map(String::as_str)
    }

    /// The last ones, at most `count`.
    pub(crate) fn tail(&self, count: usize) -> Vec<String> {
        self.lines.iter().skip(self.lines.len().saturating_sub(count)).cloned().collect()
    }
}

impl Observation {
    fn new(limit: Duration, is_instrument: bool) -> Self {
        Self {
            ending: Ending::Silent { seconds: 0, facts: Facts::default() },
            limit,
            duration: Duration::ZERO,
            waited: Duration::ZERO,
            reports: Vec::new(),
            output: String::new(),
            is_instrument,
            told: 0,
            log: Vec::new(),
            log_text: Lines::default(),
            log_lost: false,
            console: Lines::default(),
            notes: Vec::new(),
            spoiled: false,
        }
    }

    fn end(mut self, machine: &dyn Machine, ending: Ending, duration: Duration) -> Self {
        if let Some(text) = machine.dumped() {
            self.note(text);
        }
        Self { ending, duration, spoiled: true, ..self }
    }

    fn note(&mut self, text: String) {
        push(&mut self.notes, text, NOTES_MAX);
    }

    /// Takes in a message about run `run`; true when it was the last one.
    fn take(&mut self, run: u32, message: FromAgent) -> bool {
        match message {
            FromAgent::Log(record) => {
                self.log_text.push(record.text.clone());
                push(&mut self.log, record, RECORDS_MAX);
            }
            FromAgent::LogLost => {
                self.log_lost = true;
                self.note("the kernel log overflowed: records are missing".to_string());
            }
            FromAgent::Output { run: about, text } if about == run => self.keep_output(&text),
            FromAgent::Report { run: about, report } if about == run => {
                push(&mut self.reports, report, REPORTS_MAX);
            }
            FromAgent::Finished {
                run: about,
                end,
                counts,
                duration_us,
                taint_before,
                taint_after,
                leftovers,
            } if about == run => {
                self.spoiled = leftovers.iter().any(|leftover| leftover.stuck.is_some());
                leftovers.iter().for_each(|leftover| self.note(format!("left behind: {leftover}")));
                self.duration = Duration::from_micros(duration_us);
                self.ending = Ending::Finished { end, counts, new_taint: taint_after & !taint_before };
                return true;
            }
            FromAgent::Trouble { text } => self.note(format!("agent: {text}")),
            FromAgent::Pong { .. } => {}
            other => self.note(format!("unexpected from the agent: {}", name(&other))),
        }
        false
    }

    /// Tells the lines that are whole; all, once the program has ended. What an instrument knows so far is not kept.
    fn tell_output(&mut self, is_over: bool, hear: &mut dyn FnMut(RunEvent<'_>)) {
        let rest = &self.output[self.told..];
        let whole = if is_over { rest.len() } else { rest.rfind('\n').map_or(0, |end| end + 1) };
        if whole == 0 {
            return;
        }
        let rest = self.output.split_off(self.told);
        let (whole, begun) = rest.split_at(whole);
        whole.lines().for_each(|line| hear(RunEvent::Output(line)));
        let is_kept = |line: &&str| !(self.is_instrument && line.starts_with(SO_FAR));
        self.output.extend(whole.split_inclusive('\n').filter(is_kept));
        self.told = self.output.len();
        self.output.push_str(begun);
    }

    fn keep_output(&mut self, text: &str) {
        let most = if self.is_instrument { REPORT_MAX } else { OUTPUT_MAX };
        let room = most.saturating_sub(self.output.len());
        self.output.push_str(protocol::results::cut(text, room));
    }
}

fn name(message: &FromAgent) -> &'static str {
    match message {
        FromAgent::Hello { .. } => "a second hello",
        FromAgent::ShellEnded { .. } => "the end of a shell",
        _ => "a message about another run",
    }
}

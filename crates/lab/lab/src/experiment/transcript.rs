//! What a machine of a script has said, and how calls wait for it.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use console::printk::unescaped;
use console::{Death, printable};
use judge::kernel_report::{KernelReport, scan};
use machine::Event;
use protocol::{End, FromAgent};

use super::hazards::Found;

/// Lines that are kept of the kernel log, and of the console.
const LINES_MAX: usize = 20_000;

/// Bytes that are kept of what a command writes.
const OUTPUT_MAX: usize = 4 << 20;

/// Lines of a console that show how a machine came to its end, if there is no report.
const LAST_LINES: usize = 20;

/// How often a call that waits looks whether it should stop.
const INTERVAL: Duration = Duration::from_millis(100);

/// What a machine has said.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    state: Mutex<State>,
    changed: Condvar,
}

/// The same, behind its lock.
#[derive(Debug, Default)]
pub(super) struct State {
    /// How it came to its end, if it did.
    pub(super) death: Option<Death>,
    /// What a snapshot keeps.
    pub(super) history: History,
    /// What became of the files in its window.
    pub(super) unpacked: Option<Result<(), String>>,
    /// Where it was stopped because it waited for too long.
    pub(super) hazards: Found,
    /// For how long the machine has said nothing although it could.
    pub(super) silence: Duration,
    /// Lines of the log that were looked through for reports of the kernel.
    looked_through: usize,
    /// Reports in lines that a restored machine has never written, and that nobody has asked for yet.
    undone: Vec<KernelReport>,
}

/// What a machine has said that is undone when the machine is restored.
#[derive(Debug, Default, Clone)]
pub(super) struct History {
    /// Lines of the kernel log.
    pub(super) log: Vec<String>,
    /// Lines of the console.
    pub(super) console: Vec<String>,
    /// What the agent was asked.
    pub(super) commands: Commands,
}

/// What the agent was asked, and what became of it.
#[derive(Debug, Default, Clone)]
pub(super) struct Commands {
    /// What became of orders: nothing wrong, or why not.
    pub(super) answers: BTreeMap<u32, Option<String>>,
    /// Commands by the number of the order that started them.
    pub(super) jobs: BTreeMap<u32, Job>,
}

/// A command.
#[derive(Debug, Default, Clone)]
pub(super) struct Job {
    /// What it wrote, as far as it is kept.
    pub(super) output: Vec<u8>,
    pub(super) end: Option<End>,
}

/// Why a wait has ended without what it waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failed {
    /// The time is over, and the machine answers.
    Late,
    /// The machine does not answer any more.
    Silent(Duration),
    /// It is no more.
    Dead(Death),
    /// The user wants to stop.
    Cancelled,
}

/// How long a call waits.
pub(super) struct WaitLimits<'a> {
    pub(super) deadline: Instant,
    /// A machine that is silent for longer hangs; nothing where silence is what is expected.
    pub(super) silence: Option<Duration>,
    pub(super) is_cancelled: &'a dyn Fn() -> bool,
}

impl Transcript {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in what the machine did.
    pub(super) fn take(&self, event: Event) {
        let mut state = self.lock();
        state.take(event);
        drop(state);
        self.changed.notify_all();
    }

    /// For so long nothing came of a machine that had a CPU.
    pub(super) fn silent_for(&self, silence: Duration) {
        self.lock().silence = silence;
        self.changed.notify_all();
    }

    /// It is another machine now, which has said nothing; what is kept of the last one stays.
    pub(super) fn begin_again(&self) {
        let mut state = self.lock();
        (state.death, state.silence) = (None, Duration::ZERO);
        state.history.commands.end_all("its machine was restarted");
    }

    /// It is where it was when it had said this; later lines and commands have never been.
    pub(super) fn put_back(&self, history: &History) {
        let mut state = self.lock();
        (state.death, state.silence) = (None, Duration::ZERO);
        state.undone = state.new_reports();
        let History { log, console, commands: Commands { answers, jobs } } = history.clone();
        state.looked_through = log.len();
        (state.history.log, state.history.console) = (log, console);
        let commands = &mut state.history.commands;
        commands.end_all("its machine was restored from before it was started");
        commands.answers = answers;
        commands.jobs.extend(jobs);
    }

    /// Waits until `look` finds something.
    pub(super) fn wait<T>(
        &self,
        limits: &WaitLimits<'_>,
        mut look: impl FnMut(&mut State) -> Option<T>,
    ) -> Result<T, Failed> {
        let mut state = self.lock();
        loop {
            if let Some(found) = look(&mut state) {
                return Ok(found);
            }
            if let Some(death) = &state.death {
                return Err(Failed::Dead(death.clone()));
            }
            if limits.silence.is_some_and(|limit| state.silence > limit) {
                return Err(Failed::Silent(state.silence));
            }
            if Instant::now() >= limits.deadline {
                return Err(Failed::Late);
            }
            if (limits.is_cancelled)() {
                return Err(Failed::Cancelled);
            }
            let waited = self.changed.wait_timeout(state, INTERVAL);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Commands {
    fn end_all(&mut self, why: &str) {
        for job in self.jobs.values_mut().filter(|job| job.end.is_none()) {
            job.end = Some(End::NotStarted(why.to_string()));
        }
    }
}

impl State {
    /// What the kernel has reported of itself since this was asked last.
    pub(super) fn new_reports(&mut self) -> Vec<KernelReport> {
        let begin = std::mem::replace(&mut self.looked_through, self.history.log.len());
        let lines: Vec<&str> =
            self.history.log.get(begin..).unwrap_or_default().iter().map(String::as_str).collect();
        std::mem::take(&mut self.undone).into_iter().chain(scan(&lines)).collect()
    }

    /// The last report of the kernel on the console; without one, the last lines there.
    pub(super) fn last_words(&self) -> Vec<String> {
        let console = &self.history.console;
        let lines: Vec<&str> = console.iter().map(String::as_str).collect();
        let last = || console[console.len().saturating_sub(LAST_LINES)..].to_vec();
        scan(&lines).pop().map_or_else(last, |report| report.lines)
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Console(line) => push(&mut self.history.console, printable(line.as_bytes())),
            Event::Ended(death) => self.death = Some(death),
            Event::Agent(message) => self.hear(message),
            Event::Hazard(hazard) => self.hazards.add(&hazard),
            Event::Stranger(_) | Event::Stopped | Event::Quiet => {}
        }
    }

    fn hear(&mut self, message: FromAgent) {
        match message {
            FromAgent::Log(record) => {
                record.text.lines().for_each(|line| push(&mut self.history.log, printable(&unescaped(line))));
            }
            FromAgent::Answer { number, trouble } => {
                self.history.commands.answers.insert(number, trouble);
            }
            FromAgent::Unpacked { trouble } => self.unpacked = Some(trouble.map_or(Ok(()), Err)),
            FromAgent::JobOutput { job, bytes } => {
                let output = &mut self.history.commands.jobs.entry(job).or_default().output;
                let room = OUTPUT_MAX.saturating_sub(output.len());
                output.extend(bytes.into_iter().take(room));
            }
            FromAgent::JobEnded { job, end } => {
                self.history.commands.jobs.entry(job).or_default().end = Some(end);
            }
            _ => {}
        }
    }
}

fn push(lines: &mut Vec<String>, line: String) {
    if lines.len() < LINES_MAX {
        lines.push(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::KernelRecord;

    fn soon(is_cancelled: &dyn Fn() -> bool) -> WaitLimits<'_> {
        WaitLimits { deadline: Instant::now(), silence: Some(Duration::from_secs(9)), is_cancelled }
    }

    #[test]
    fn what_is_waited_for_counts_before_what_went_wrong() {
        let transcript = Transcript::default();
        let end = FromAgent::JobEnded { job: 1, end: End::Exited(0) };
        transcript.take(Event::Agent(end));
        transcript.take(Event::Ended(Death::PoweredOff));
        let job = |state: &mut State| state.history.commands.jobs.get(&1).and_then(|job| job.end.clone());
        assert_eq!(transcript.wait(&soon(&|| false), job), Ok(End::Exited(0)));
        let other = |state: &mut State| state.history.commands.jobs.get(&2).cloned().map(drop);
        assert_eq!(transcript.wait(&soon(&|| false), other), Err(Failed::Dead(Death::PoweredOff)));
    }

    #[test]
    fn a_wait_ends_when_the_machine_is_silent_late_or_not_wanted() {
        let transcript = Transcript::default();
        let nothing = |_: &mut State| None::<()>;
        assert_eq!(transcript.wait(&soon(&|| false), nothing), Err(Failed::Late));
        let patient = WaitLimits { deadline: Instant::now() + Duration::from_secs(600), ..soon(&|| true) };
        assert_eq!(transcript.wait(&patient, nothing), Err(Failed::Cancelled));
        transcript.silent_for(Duration::from_secs(10));
        assert_eq!(transcript.wait(&patient, nothing), Err(Failed::Silent(Duration::from_secs(10))));
    }

    fn log(transcript: &Transcript, text: &str) {
        let record = KernelRecord { sequence: 1, time_us: 0, level: 6, text: text.to_string() };
        transcript.take(Event::Agent(FromAgent::Log(record)));
    }

    #[test]
    fn a_restored_machine_has_said_nothing_since_then_but_what_it_reported_counts() {
        let transcript = Transcript::default();
        log(&transcript, "before");
        transcript.take(Event::Console("before".to_string()));
        let history = transcript.lock().history.clone();
        log(&transcript, "BUG: kernel NULL pointer dereference, address: 0000000000000000");
        transcript.take(Event::Console("undone".to_string()));
        transcript.put_back(&history);
        log(&transcript, "after");
        let mut state = transcript.lock();
        assert_eq!(
            (&*state.history.log, &*state.history.console),
            (&["before", "after"].map(String::from)[..], &["before".to_string()][..])
        );
        let reports = [state.new_reports().len(), state.new_reports().len()];
        assert_eq!(reports, [1, 0], "the report was seen once");
    }

    #[test]
    fn the_last_words_are_the_last_report_or_the_last_lines() {
        let transcript = Transcript::default();
        let say = |text: &str| transcript.take(Event::Console(text.to_string()));
        (0..30).for_each(|number| say(&format!("line {number}")));
        let words = transcript.lock().last_words();
        assert_eq!((words.len(), &*words[0]), (20, "line 10"));
        say("[    1.0] BUG: kernel NULL pointer dereference, address: 0000000000000000");
        say("[    1.0] RIP: 0010:oops+0x1/0x2");
        say("[    1.0] ---[ end trace 0000000000000000 ]---");
        assert!(transcript.lock().last_words()[0].contains("BUG: kernel NULL pointer"));
    }

    #[test]
    fn the_log_is_as_the_kernel_meant_it_and_harmless() {
        let transcript = Transcript::default();
        log(&transcript, r"a \x5c b \x1b[31m");
        assert_eq!(transcript.lock().history.log, ["a \\ b \u{fffd}[31m"]);
    }

    #[test]
    fn a_flood_is_bounded() {
        let transcript = Transcript::default();
        for sequence in 0..30_000 {
            let record = KernelRecord { sequence, time_us: 0, level: 6, text: "x\ny".into() };
            transcript.take(Event::Agent(FromAgent::Log(record)));
        }
        for _ in 0..200 {
            transcript.take(Event::Agent(FromAgent::JobOutput { job: 7, bytes: vec![0; 32 * 1024] }));
        }
        let history = &transcript.lock().history;
        assert_eq!((history.log.len(), history.commands.jobs[&7].output.len()), (LINES_MAX, OUTPUT_MAX));
    }
}

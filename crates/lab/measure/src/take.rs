//! What one machine says about the jobs it was asked for.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use console::message;
use machine::{Death, Measuring, Step};
use protocol::measure::{Answer, Samples};
use protocol::{Report, ReportKind};

use crate::NotMeasured;
use judge::kernel_report;
use judge::outcome::Outcome;
use machine::{Life, TimeoutScale};

/// Longest time that a job may take on the bare, idle host.
const LIMIT: Duration = Duration::from_secs(40);

/// How often the user's wish to stop is looked at.
const INTERVAL: Duration = Duration::from_millis(200);

/// Most lines of a console in which reports are looked for, and most troubles that are kept.
const LINES_MAX: usize = 10_000;
const TROUBLES_MAX: usize = 50;

/// Longest text of the guest that is kept, in characters.
const TEXT_MAX: usize = 500;

/// More repetitions than an instrument ever makes of a job.
const REPETITIONS_MAX: usize = 1000;

/// What one machine said.
#[derive(Debug, Default)]
pub(super) struct Take {
    /// By how much the guest's clock went on while its machine was stopped.
    pub(super) resumed: Option<u64>,
    /// The clock when user space began.
    pub(super) booted: Option<u64>,
    /// For each job of the order what came of it; nothing where the machine ended before.
    pub(super) jobs: Vec<Option<Result<Samples, NotMeasured>>>,
    /// What went wrong with the instrument, and what defects the kernel reported.
    pub(super) notes: Vec<String>,
    /// It came to its end.
    pub(super) is_whole: bool,
}

/// The user wants to stop.
#[derive(Debug)]
pub(super) struct Interrupted;

impl Take {
    /// Listens to a machine that was asked for `count` jobs until it is done, dead or silent for too long; `begun` is
    /// called for each job.
    pub(super) fn from(
        machine: &mut Measuring,
        count: usize,
        timeouts: TimeoutScale,
        interrupt: &AtomicBool,
        mut begun: impl FnMut(usize),
    ) -> Result<Self, Interrupted> {
        let mut take = Self { jobs: vec![None; count], ..Self::default() };
        let mut console = Vec::new();
        let mut current = None;
        let mut life = Life::begin(machine.machine());
        loop {
            match machine.next(Instant::now() + INTERVAL) {
                Step::Answer(answer) => {
                    life = Life::begin(machine.machine());
                    if let Answer::Begun(job) = answer {
                        current = usize::try_from(job).ok().filter(|&job| job < count);
                        current.into_iter().for_each(&mut begun);
                    }
                    take.note(answer);
                }
                Step::Console(line) if console.len() < LINES_MAX => console.push(line),
                Step::Trouble(text) => take.trouble(&text),
                Step::Stopped => break,
                Step::Ended(death) => {
                    take.ended(current, of_death(&death));
                    break;
                }
                Step::Quiet if silence(&life, machine) > timeouts.stretch(LIMIT) => {
                    let seconds = silence(&life, machine).as_secs();
                    let reason = format!("the machine said nothing for {seconds} s");
                    take.ended(current, NotMeasured { outcome: Outcome::Hang, reason });
                    break;
                }
                Step::Console(_) | Step::Quiet => {}
            }
            if interrupt.load(Ordering::Relaxed) {
                return Err(Interrupted);
            }
        }
        take.judge(&console);
        Ok(take)
    }

    fn note(&mut self, answer: Answer) {
        match answer {
            Answer::Trouble(text) => self.trouble(&text),
            Answer::Resumed(gap) => self.resumed = Some(gap),
            Answer::Booted(clock) => self.booted = Some(clock),
            Answer::Begun(_) => {}
            Answer::Measured { job, samples } => self.result(job, plausible(samples)),
            Answer::NotMeasured { job, report } => self.result(job, Err(of_report(&report))),
            Answer::Done => self.is_whole = true,
        }
    }

    /// The first result of a job counts: a second one is a liar's.
    fn result(&mut self, job: u32, result: Result<Samples, NotMeasured>) {
        let slot = usize::try_from(job).ok().and_then(|job| self.jobs.get_mut(job));
        if let Some(slot) = slot {
            slot.get_or_insert(result);
        }
    }

    fn trouble(&mut self, text: &str) {
        if self.notes.len() < TROUBLES_MAX {
            self.notes.push(cut(text));
        }
    }

    /// The machine came to an early end, during `job` if one had begun.
    fn ended(&mut self, job: Option<usize>, why: NotMeasured) {
        match job.and_then(|job| self.jobs.get_mut(job)) {
            Some(slot) if slot.is_none() => *slot = Some(Err(why)),
            _ => self.trouble(&why.reason),
        }
    }

    /// Defects that the kernel reported meanwhile.
    fn judge(&mut self, console: &[String]) {
        let lines: Vec<_> = console.iter().map(|line| message(line)).collect();
        for report in kernel_report::scan(&lines) {
            self.trouble(&format!("the kernel reported: {}", report.title));
        }
    }
}

/// The samples, if an instrument can have taken them.
fn plausible(samples: Samples) -> Result<Samples, NotMeasured> {
    let Samples { costs, ticked } = &samples;
    if costs.is_empty() || costs.len() > REPETITIONS_MAX || ticked.len() > costs.len() {
        let reason = format!("the instrument reports {} repetitions", costs.len());
        return Err(NotMeasured { outcome: Outcome::Broken, reason });
    }
    Ok(samples)
}

fn cut(text: &str) -> String {
    text.chars().take(TEXT_MAX).collect()
}

fn of_report(report: &Report) -> NotMeasured {
    let outcome = match report.kind {
        ReportKind::Skip => Outcome::Skip,
        ReportKind::Fail => Outcome::Fail,
        ReportKind::Pass | ReportKind::Broken => Outcome::Broken,
    };
    NotMeasured { outcome, reason: cut(&report.text) }
}

fn of_death(death: &Death) -> NotMeasured {
    let (outcome, reason) = match death {
        Death::Panic(title) => (Outcome::Crash, format!("Kernel panic: {title}")),
        Death::Reset => (Outcome::Crash, "the machine was reset without a message".to_string()),
        Death::Fault(signal) => (Outcome::Crash, format!("the kernel died of signal {signal}")),
        Death::AgentDied(title) => (Outcome::Broken, format!("process 1 died: {title}")),
        Death::Restarted => (Outcome::Broken, "the machine was restarted".to_string()),
        Death::PoweredOff => (Outcome::Broken, "the machine was powered off".to_string()),
        Death::Broken(why) => (Outcome::Broken, why.clone()),
    };
    NotMeasured { outcome, reason }
}

/// The time since the machine said something, without what it waited for a CPU.
fn silence(life: &Life, machine: &mut Measuring) -> Duration {
    life.look(machine.machine()).0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked_for(count: usize) -> Take {
        Take { jobs: vec![None; count], ..Take::default() }
    }

    fn measured(job: u32, costs: &[u64]) -> Answer {
        Answer::Measured { job, samples: Samples { costs: costs.to_vec(), ticked: Vec::new() } }
    }

    #[test]
    fn the_first_result_of_a_job_counts_and_jobs_that_nobody_asked_for_do_not() {
        let mut take = asked_for(1);
        for answer in [measured(0, &[7]), measured(0, &[1]), measured(1, &[1]), Answer::Done] {
            take.note(answer);
        }
        assert!(take.is_whole);
        let [Some(Ok(samples))] = &take.jobs[..] else { panic!("{take:?}") };
        assert_eq!(samples.costs, [7]);
    }

    #[test]
    fn what_no_instrument_can_have_seen_is_broken() {
        for costs in [&[][..], &[1; REPETITIONS_MAX + 1]] {
            let mut take = asked_for(1);
            take.note(measured(0, costs));
            let broken = |result: &Result<Samples, NotMeasured>| {
                result.as_ref().is_err_and(|why| why.outcome == Outcome::Broken)
            };
            assert!(take.jobs[0].as_ref().is_some_and(broken), "{take:?}");
        }
    }

    #[test]
    fn texts_of_the_guest_are_bounded() {
        let mut take = asked_for(1);
        let long = "x".repeat(TEXT_MAX * 2);
        (0..TROUBLES_MAX * 2).for_each(|_| take.note(Answer::Trouble(long.clone())));
        let report = Report { kind: ReportKind::Skip, text: long };
        take.note(Answer::NotMeasured { job: 0, report });
        assert_eq!((take.notes.len(), take.notes[0].len()), (TROUBLES_MAX, TEXT_MAX));
        let expected = NotMeasured { outcome: Outcome::Skip, reason: "x".repeat(TEXT_MAX) };
        assert_eq!(take.jobs[0], Some(Err(expected)));
    }

    #[test]
    fn a_machine_that_dies_takes_the_job_with_it_that_had_begun() {
        let panic = || of_death(&Death::Panic("x".to_string()));
        let mut take = asked_for(2);
        take.note(measured(0, &[1]));
        take.ended(Some(1), panic());
        assert_eq!(take.jobs[1], Some(Err(panic())));
        // One that had ended is not to blame.
        take.ended(Some(0), panic());
        assert!(take.jobs[0].as_ref().is_some_and(Result::is_ok));
        assert_eq!(take.notes, ["Kernel panic: x"]);
    }
}

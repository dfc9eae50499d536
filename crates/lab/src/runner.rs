//! Boots, runs, judges.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use machine::{BootFailure, BootTrouble, Machine, console};
use protocol::Counts;

use crate::event::{Event, Listener, Session};
use crate::judge::{Ending, Judgement, Seen, judge};
use crate::kernel_report::{self, KernelReport, Kind};
use crate::observe::{Observation, observe};
use crate::outcome::{Blame, Outcome};
use crate::plan::{Item, Plan};
use crate::run::{Run, Summary};
use crate::source::{Heard, Source};
use crate::watch::Patience;

/// Lines of the console that are shown when a machine dies.
const CONSOLE_LINES: usize = 30;

/// Lines of a boot in which reports are looked for.
const BOOT_LINES_MAX: usize = 10_000;

/// Boots that may fail one after the other before the session is given up.
const BOOT_ATTEMPTS: u32 = 2;

/// Runs a plan on machines of one source and tells a listener.
pub struct Runner<'a> {
    source: &'a mut dyn Source,
    listener: &'a mut dyn Listener,
    interrupt: &'a AtomicBool,
    patience: Patience,
    machine: Option<Box<dyn Machine>>,
    boots: u32,
    /// Items of the plan that came to an end.
    done: u32,
    summary: Summary,
}

/// A session cannot go on: the machine does not come up, or the user stopped it.
struct GivenUp;

impl std::fmt::Debug for Runner<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runner")
            .field("boots", &self.boots)
            .field("summary", &self.summary)
            .finish_non_exhaustive()
    }
}

impl<'a> Runner<'a> {
    /// A runner that stops as soon as `interrupt` is set.
    pub fn new(
        source: &'a mut dyn Source,
        listener: &'a mut dyn Listener,
        interrupt: &'a AtomicBool,
        patience: Patience,
    ) -> Self {
        Self {
            source,
            listener,
            interrupt,
            patience,
            machine: None,
            boots: 0,
            done: 0,
            summary: Summary::default(),
        }
    }

    /// Runs everything in `plan` and gives the counts.
    ///
    /// # Errors
    ///
    /// When the host cannot start a machine at all; what has been finished was told to the listener.
    pub fn run(mut self, session: Session, plan: &Plan) -> Result<Summary, machine::Error> {
        let start = Instant::now();
        self.listener.hear(&Event::Planned(Box::new(session)));
        let finished = self.run_items(plan);
        if let Some(machine) = self.machine.take()
            && !self.is_interrupted()
        {
            machine.stop();
        }
        let total = u32::try_from(plan.items.len()).unwrap_or(u32::MAX);
        self.summary.not_run = total.saturating_sub(self.done);
        let interrupted = self.is_interrupted();
        self.listener.hear(&Event::Ended { summary: self.summary, took: start.elapsed(), interrupted });
        finished.map(|()| self.summary)
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// Runs one item after the other.
    fn run_items(&mut self, plan: &Plan) -> Result<(), machine::Error> {
        for (index, item) in plan.items.iter().enumerate() {
            let run = match &item.skip {
                Some(why) => skipped(item, why),
                None => match self.run_item(item, plan.items.len() - index)? {
                    Ok(run) => run,
                    Err(GivenUp) => break,
                },
            };
            self.finish(run);
            self.done += 1;
        }
        Ok(())
    }

    fn finish(&mut self, run: Run) {
        self.summary.count(run.outcome);
        self.listener.hear(&Event::Finished(Box::new(run)));
    }

    fn run_item(&mut self, item: &Item, left: usize) -> Result<Result<Run, GivenUp>, machine::Error> {
        let mut machine = match self.machine.take() {
            Some(machine) => machine,
            None => match self.boot(left)? {
                Ok(machine) => machine,
                Err(GivenUp) => return Ok(Err(GivenUp)),
            },
        };
        self.listener.hear(&Event::Started { case: item.name.clone(), clone: 0 });
        // No earlier run of this session had this number.
        let (boot, number) = (self.boots, self.done + 1);
        let listener = &mut *self.listener;
        let mut heard =
            |line: &str| listener.hear(&Event::Console { boot, clone: 0, line: line.to_string() });
        // A machine that was interrupted is dropped, which ends it at once.
        let Some(seen) = observe(&mut *machine, (number, item), self.patience, self.interrupt, &mut heard)
        else {
            return Ok(Err(GivenUp));
        };
        let spoiled = seen.spoiled;
        let (run, damaged) = conclude(item, boot, seen);
        if !spoiled && !damaged {
            self.machine = Some(machine);
        }
        Ok(Ok(run))
    }

    fn boot(&mut self, left: usize) -> Result<Result<Box<dyn Machine>, GivenUp>, machine::Error> {
        for attempt in 1..=BOOT_ATTEMPTS {
            self.boots += 1;
            let boot = self.boots;
            let cases = u32::try_from(left).unwrap_or(u32::MAX);
            self.listener.hear(&Event::Booting { boot, cases });
            let mut lines = Vec::new();
            let listener = &mut *self.listener;
            let mut heard = |what: Heard<'_>| {
                listener.hear(&match what {
                    Heard::CommandLine(line) => Event::CommandLine { boot, line: line.to_string() },
                    Heard::Console(line) => {
                        if boot == 1 && lines.len() < BOOT_LINES_MAX {
                            lines.push(line.to_string());
                        }
                        Event::Console { boot, clone: 0, line: line.to_string() }
                    }
                });
            };
            match self.source.boot(self.interrupt, &mut heard)? {
                Ok(up) => {
                    self.listener.hear(&Event::Booted { boot, release: up.release, took: up.took });
                    booted_badly(boot, &lines).into_iter().for_each(|run| self.finish(run));
                    return Ok(Ok(up.machine));
                }
                Err(BootFailure { trouble: BootTrouble::Interrupted, .. }) => return Ok(Err(GivenUp)),
                // The first boot shows what the kernel does; a later one has booted before.
                Err(failure) if boot == 1 || attempt == BOOT_ATTEMPTS => {
                    self.finish(did_not_boot(boot, &failure));
                    return Ok(Err(GivenUp));
                }
                Err(failure) => {
                    let text = format!("boot {boot} failed and is tried again: {}", failure.trouble);
                    self.listener.hear(&Event::Note { text });
                }
            }
        }
        Ok(Err(GivenUp))
    }
}

fn skipped(item: &Item, why: &str) -> Run {
    run_of(&item.name, &item.about, 0, Judgement::new(Outcome::Skip, why))
}

/// What a boot that failed concludes, and who is to blame if it concludes nothing.
#[must_use]
pub fn boot_outcome(trouble: &BootTrouble) -> (Outcome, Option<Blame>) {
    match trouble {
        BootTrouble::Panic(_) | BootTrouble::Reset | BootTrouble::Fault(_) => (Outcome::Crash, None),
        BootTrouble::Hang { .. } | BootTrouble::Late(_) => (Outcome::Hang, None),
        BootTrouble::NoConsole { .. } | BootTrouble::NoControlPort { .. } | BootTrouble::Machine(_) => {
            (Outcome::Broken, Some(Blame::Machine))
        }
        BootTrouble::Protocol(_) | BootTrouble::AgentDied(_) | BootTrouble::Interrupted => {
            (Outcome::Broken, Some(Blame::Kiln))
        }
    }
}

/// The Run of a kernel that came up but reported defects of its own on the way; later boots of the same
/// kernel would only repeat it.
pub(crate) fn booted_badly(boot: u32, lines: &[String]) -> Option<Run> {
    let reports = kernel_report::scan(&lines.iter().map(|line| console::message(line)).collect::<Vec<_>>());
    let first = reports.first()?;
    let judgement = Judgement::new(Outcome::Fail, &first.title).with(&first.lines);
    let run = run_of("boot", "the kernel boots without reporting a defect", boot, judgement);
    Some(Run { kernel_reports: reports, ..run })
}

/// The Run of a machine that did not come up.
pub(crate) fn did_not_boot(boot: u32, failure: &BootFailure) -> Run {
    let (outcome, blame) = boot_outcome(&failure.trouble);
    let judgement = Judgement::new(outcome, failure.trouble.to_string());
    let judgement = judgement.with(&failure.facts.around(&failure.console));
    let judgement = Judgement { blame, ..judgement };
    run_of("boot", "the kernel boots to user space", boot, judgement)
}

fn run_of(case: &str, about: &str, boot: u32, judgement: Judgement) -> Run {
    Run {
        case: case.to_string(),
        about: about.to_string(),
        outcome: judgement.outcome,
        blame: judgement.blame,
        reason: judgement.reason,
        expected_failure: judgement.expected_failure,
        evidence: judgement.evidence,
        boot,
        ..Run::unstarted()
    }
}

/// The Run, and whether the kernel is damaged so that nothing else should run on it.
fn conclude(item: &Item, boot: u32, seen: Observation) -> (Run, bool) {
    let kernel_reports = reports_in(&seen);
    let console = seen.console.tail(CONSOLE_LINES);
    let judgement = judge(&Seen {
        dialect: item.dialect,
        limit: seen.limit,
        output: &seen.output,
        expects: item.expects,
        ending: &seen.ending,
        reports: &seen.reports,
        kernel_reports: &kernel_reports,
        console: &console,
    });
    let damaged = kernel_reports.iter().any(|report| report.kind != Kind::Warning);
    let (end, counts) = match seen.ending {
        Ending::Finished { end, counts, .. } => (Some(end), counts),
        Ending::Died(_) | Ending::Overdue { .. } | Ending::Silent { .. } => (None, Counts::default()),
    };
    let counts = judgement.counts.unwrap_or(counts);
    let run = Run {
        duration: seen.duration,
        end,
        counts,
        reports: seen.reports,
        kernel_reports,
        output: seen.output,
        log: seen.log,
        notes: seen.notes,
        ..run_of(&item.name, &item.about, boot, judgement)
    };
    (run, damaged)
}

/// What the kernel reported: from its log as the agent sent it, or, when the agent could not send all
/// of it, from the console.
fn reports_in(seen: &Observation) -> Vec<KernelReport> {
    let finished = matches!(seen.ending, Ending::Finished { .. });
    let from_log =
        if finished { kernel_report::scan(&seen.log_text.iter().collect::<Vec<_>>()) } else { Vec::new() };
    if finished && (!seen.log_lost || !from_log.is_empty()) {
        return from_log;
    }
    kernel_report::scan(&seen.console.iter().map(console::message).collect::<Vec<_>>())
}

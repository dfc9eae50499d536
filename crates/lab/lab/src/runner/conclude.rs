//! From what was seen to a Run.

use machine::{BootFailure, BootTrouble, console};
use protocol::Counts;

use crate::judge::{Ending, Judgement, Seen, judge};
use crate::kernel_report::{self, KernelReport, Kind};
use crate::observe::Observation;
use crate::outcome::{Blame, Outcome};
use crate::plan::Item;
use crate::run::Run;

/// Lines of the console that are shown when a machine dies.
const CONSOLE_LINES: usize = 30;

/// The Run of a case that cannot be run.
pub(super) fn skipped(item: &Item, why: &str) -> Run {
    run_of(&item.name, &item.about, 0, Judgement::new(Outcome::Skip, why))
}

/// The Run of a case for which there was no machine.
pub(super) fn without_machine(item: &Item, blame: Blame, why: &str) -> Run {
    let judgement = Judgement { blame: Some(blame), ..Judgement::new(Outcome::Broken, why) };
    run_of(&item.name, &item.about, 0, judgement)
}

/// What a boot that failed concludes, and who is to blame if it concludes nothing.
#[must_use]
pub fn boot_outcome(trouble: &BootTrouble) -> (Outcome, Option<Blame>) {
    match trouble {
        BootTrouble::Panic(_) | BootTrouble::Reset | BootTrouble::Fault(_) => (Outcome::Crash, None),
        BootTrouble::Hang { .. } | BootTrouble::Late(_) => (Outcome::Hang, None),
        BootTrouble::NoConsole { .. }
        | BootTrouble::NoControlPort { .. }
        | BootTrouble::Unclonable(_)
        | BootTrouble::Machine(_) => (Outcome::Broken, Some(Blame::Machine)),
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
    let run = run_of("boot", "the kernel boots to user space", boot, judgement);
    Run { notes: failure.dump.iter().cloned().collect(), ..run }
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
pub(super) fn conclude(item: &Item, boot: u32, seen: Observation) -> (Run, bool) {
    let kernel_reports = reports_in(&seen);
    let console = seen.console.tail(CONSOLE_LINES);
    let expects: Vec<&str> = item.expects.iter().map(String::as_str).collect();
    let judgement = judge(&Seen {
        dialect: item.dialect,
        limit: seen.limit,
        starved: seen.waited > seen.duration / 2,
        output: &seen.output,
        expects: &expects,
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

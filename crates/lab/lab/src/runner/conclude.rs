//! From what was seen to a Run.

use judge::case::{oom, shell};
use judge::kernel_report::{self, KernelReport, Kind};
use judge::{Blame, Dialect, Ending, Judgement, Outcome, Run, Seen, judge};
use protocol::{Counts, End};

use crate::observe::{NOTES_MAX, Observation};
use crate::plan::Item;

/// Lines of the console that are shown when a machine dies.
const CONSOLE_LINES: usize = 30;

/// Processes that are named of those which the kernel killed for want of memory.
const VICTIMS: usize = 3;

/// The Run of a case that cannot be run.
pub(super) fn skipped(item: &Item, why: &str) -> Run {
    Judgement::new(Outcome::Skip, why).run_of(&item.name, &item.about, 0)
}

/// The Run of a case for which there was no machine.
pub(super) fn without_machine(item: &Item, blame: Blame, why: &str) -> Run {
    Judgement::broken(blame, why).run_of(&item.name, &item.about, 0)
}

/// The Run, and whether the kernel is damaged so that nothing else should run on it.
pub(super) fn conclude(item: &Item, boot: u32, seen: Observation) -> (Run, bool) {
    let log: Vec<&str> = seen.log_text.iter().collect();
    let kernel_reports = reports_in(&seen, &log);
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
        log: &log,
        lacking: &item.lacking,
        kernel_reports: &kernel_reports,
        console: &console,
    });
    let damaged = kernel_reports.iter().any(|report| report.kind != Kind::Warning);
    let notes = victims_note(&log).into_iter().chain(limit_note(item, &seen));
    let notes: Vec<String> = notes.chain(seen.notes).take(NOTES_MAX).collect();
    let not_found = if item.dialect == Dialect::Kiln { Vec::new() } else { shell::not_found(&seen.output) };
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
        not_found,
        notes,
        ..judgement.run_of(&item.name, &item.about, boot)
    };
    (run, damaged)
}

/// How much time a case had that took too long, if that was not what it or the user asked for.
fn limit_note(item: &Item, seen: &Observation) -> Option<String> {
    let is_late = match &seen.ending {
        Ending::Finished { end, .. } => matches!(end, End::TimedOut { .. }),
        Ending::Overdue { .. } => true,
        Ending::Died(_) | Ending::Silent { .. } => false,
    };
    let [own, had] = [item.limit, seen.limit].map(|limit| limit.as_secs_f64());
    let is_stretched = is_late && had > own;
    is_stretched
        .then(|| format!("limit {own} s, stretched to {had:.0} s since this machine is slower than its host"))
}

/// Which processes the kernel killed for want of memory.
fn victims_note(log: &[&str]) -> Option<String> {
    let victims: Vec<&str> = oom::victims(log).take(VICTIMS).collect();
    (!victims.is_empty()).then(|| victims.join(", "))
}

/// What the kernel reported: from its log as the agent sent it, or, when the agent could not send all
/// of it, from the console.
fn reports_in(seen: &Observation, log: &[&str]) -> Vec<KernelReport> {
    let finished = matches!(seen.ending, Ending::Finished { .. });
    let from_log = if finished { kernel_report::scan(log) } else { Vec::new() };
    if finished && (!seen.log_lost || !from_log.is_empty()) {
        return from_log;
    }
    kernel_report::scan(&seen.console.iter().map(console::message).collect::<Vec<_>>())
}

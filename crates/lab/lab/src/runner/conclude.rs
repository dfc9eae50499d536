//! From what was seen to a Run.

use judge::kernel_report::{self, KernelReport, Kind};
use judge::{Blame, Ending, Judgement, Outcome, Run, Seen, judge};
use protocol::{Counts, End};

use crate::observe::{NOTES_MAX, Observation};
use crate::plan::Item;

/// Lines of the console that are shown when a machine dies.
const CONSOLE_LINES: usize = 30;

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
    let limit_note = limit_note(item, &seen);
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
        notes: limit_note.into_iter().chain(seen.notes).take(NOTES_MAX).collect(),
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

//! `kiln-case`: a person runs a case from a shell, in the foreground.

use std::io::Write;

use protocol::waiting::{FOREGROUND, decode};
use protocol::{Counts, End, RunRequest, Work};
use rustix::process::{WaitOptions, waitpid};

use crate::{launch, processes, results};
use harness::child::{exit, fork};

const USAGE: &str = "usage: kiln-case [NAME]    without a name: the case that is at hand";

/// Runs the case that `arguments` name, or the one that is at hand; prints its results and gives the exit code that
/// kiln has for them. What the kernel says meanwhile is in its log.
///
/// # Errors
///
/// When there is no such case, or it cannot be run.
pub(crate) fn command(arguments: &[String]) -> Result<u8, String> {
    let request = wanted(arguments)?;
    launch::prepare();
    let (file, page) = results::create().map_err(|error| format!("results page: {error}"))?;
    let mut end = in_child(|| launch::in_foreground(&launch::Task::Main(&request), page, &file))?;
    if let Work::Case(name) = &request.work
        && let Some(cleanup) = cases::find(name).and_then(|case| case.cleanup)
    {
        let ended = in_child(|| launch::in_foreground(&launch::Task::Cleanup(cleanup), page, &file))?;
        end = if end == End::Exited(0) { ended } else { end };
    }
    let (word, code) = judge(page.counts(), &end, matches!(request.work, Work::Program(_)));
    let results: String = page
        .reports_from(0)
        .iter()
        .map(|report| format!("{:<6}  {}\n", report.kind.name(), report.text))
        .collect();
    let Counts { pass, fail, skip, broken } = page.counts();
    let counts = format!("{pass} passed, {fail} failed, {skip} skipped, {broken} broken");
    // A terminal that has gone needs no results.
    let _ = writeln!(std::io::stdout(), "{results}{word}: {}; checks: {counts}", describe(&end));
    Ok(code)
}

/// The request that lies in the initramfs, or just the case, for which nothing else was shipped.
fn wanted(arguments: &[String]) -> Result<RunRequest, String> {
    let at_hand = std::fs::read(FOREGROUND).ok().and_then(|bytes| decode(&bytes).ok());
    let is = |request: &RunRequest, name: &str| matches!(&request.work, Work::Case(case) if case == name);
    match (arguments, at_hand) {
        ([], Some(request)) => Ok(request),
        ([name], Some(request)) if is(&request, name) => Ok(request),
        ([name], _) if cases::find(name).is_some() => Ok(RunRequest {
            run: 1,
            work: Work::Case(name.clone()),
            limit_ms: 0,
            output_max: 0,
            seed: 0,
            modules: Vec::new(),
            unsure: Vec::new(),
            needs: Vec::new(),
            settle_ms: 0,
            trace: None,
        }),
        ([name], _) if !name.starts_with('-') => Err(format!("there is no case {name}; {USAGE}")),
        _ => Err(USAGE.to_string()),
    }
}

/// Runs `body` in a process of its own and waits for it.
fn in_child(body: impl FnOnce() -> i32) -> Result<End, String> {
    let Some(pid) = fork().map_err(|error| format!("fork: {error}"))? else { exit(body()) };
    match waitpid(Some(pid), WaitOptions::empty()) {
        Ok(Some((_, status))) => Ok(processes::end_of(status)),
        other => Err(format!("waiting for the case: {other:?}")),
    }
}

/// What the results and the end say, as kiln would judge them where the kernel reports nothing.
fn judge(counts: Counts, end: &End, is_program: bool) -> (&'static str, u8) {
    match (counts, end) {
        (Counts { fail: 1.., .. }, _) => ("fail", 1),
        (Counts { broken: 1.., .. }, _) => ("broken", 3),
        (_, End::Exited(4)) if is_program => ("skip", 4),
        (_, End::Exited(0)) if is_program && counts.total() == 0 => ("pass", 0),
        (_, End::Exited(0)) if counts.total() == 0 => ("broken", 3),
        (Counts { pass: 0, .. }, End::Exited(0)) => ("skip", 4),
        (_, End::Exited(0)) => ("pass", 0),
        _ => ("fail", 1),
    }
}

fn describe(end: &End) -> String {
    match end {
        End::Signalled(signal) => format!("killed by signal {signal}"),
        End::Exited(code) => format!("exit status {code}"),
        // Nobody but the person ends it.
        End::TimedOut { .. } | End::NotStarted(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_judged_as_by_kiln() {
        let of = |pass, fail, skip, broken| Counts { pass, fail, skip, broken };
        for (counts, end, is_program, expected) in [
            (of(3, 0, 0, 0), End::Exited(0), false, ("pass", 0)),
            (of(3, 1, 0, 1), End::Exited(1), false, ("fail", 1)),
            (of(3, 0, 0, 1), End::Exited(0), false, ("broken", 3)),
            (of(0, 0, 0, 0), End::Exited(0), false, ("broken", 3)),
            (of(0, 0, 1, 0), End::Exited(0), false, ("skip", 4)),
            (of(0, 0, 0, 0), End::Exited(0), true, ("pass", 0)),
            (of(0, 0, 0, 0), End::Exited(4), true, ("skip", 4)),
            (of(1, 0, 0, 0), End::Exited(4), false, ("fail", 1)),
            (of(1, 0, 0, 0), End::Signalled(11), false, ("fail", 1)),
        ] {
            assert_eq!(judge(counts, &end, is_program), expected, "{counts:?} {end:?}");
        }
    }

    #[test]
    fn an_unknown_name_is_an_error() {
        let words = |name: &str| vec![name.to_string()];
        assert!(
            wanted(&words("no/such")).is_err_and(|text| text.starts_with("there is no case no/such; usage"))
        );
        assert_eq!(wanted(&words("--help")), Err(USAGE.to_string()));
        assert!(wanted(&words("pipe/full")).is_ok());
    }
}

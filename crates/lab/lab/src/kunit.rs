//! KUnit: the tests that a kernel runs by itself while it boots.
//!
//! * [`run`]: boots such a kernel and gives a Run for each of its tests
//! * `console`: what came on the console, and how the boot ended
//! * `runs`: from the results to Runs, named `SUITE/TEST` or `SUITE/TEST/PARAMETER`
//! * `judge`: the Outcome of one test
//! * `provoked`: suites that provoke reports of the kernel, as data
//! * `lines`, `stack`: what of the console belongs to which test
//! * `names`: names that stay the same from boot to boot
//!
//! What a kernel is going to test is known only when it has told. So the boot comes first, and the events of
//! the session are told after it, in their order; the plan is then that of the kernel.

mod console;
mod judge;
mod lines;
mod names;
mod provoked;
mod runs;
mod stack;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use console::{Boot, Console};
use runs::Story;

use crate::event::{Event, Listener, Session};
use crate::run::Summary;
use crate::source::{Heard, Source};
use crate::suites::select::matches;

/// The only boot of a session.
const BOOT: u32 = 1;

/// Notes about results that contradict themselves at most.
const NOTES_MAX: usize = 20;

/// Boots a kernel with built-in KUnit tests once and tells `listener` what they gave: those of the suites
/// that match one of the patterns, or all without patterns.
///
/// # Errors
///
/// When the host cannot start a machine at all; what has happened was told to the listener.
pub fn run(
    source: &dyn Source,
    listener: &mut dyn Listener,
    interrupt: &AtomicBool,
    (session, suites): (Session, &[String]),
) -> Result<Summary, machine::Error> {
    let start = Instant::now();
    let mut console = Console::default();
    let booted = source.boot(interrupt, &mut |heard| match heard {
        Heard::CommandLine(line) => console.command_line = Some(line.to_string()),
        Heard::Console(line) => console.push(line),
    });
    let interrupted = || interrupt.load(Ordering::Relaxed);
    let (boot, error) = match booted {
        Ok(Ok(up)) => (console.settle(up, interrupt), None),
        Ok(Err(failure)) => (Boot::Failed(failure), None),
        Err(error) => (Boot::Never, Some(error)),
    };
    let mut story = runs::story(&mut console, &boot);
    story.runs.retain(|planned| !planned.is_case || is_wanted(&planned.run.case, suites));
    let mut summary = Summary { not_run: story.not_run, ..Summary::default() };
    story.runs.iter().for_each(|planned| summary.count(planned.run.outcome));
    tell(listener, session, &console, (&boot, story));
    listener.hear(&Event::Ended { summary, took: start.elapsed(), interrupted: interrupted() });
    error.map_or(Ok(summary), Err)
}

fn is_wanted(case: &str, suites: &[String]) -> bool {
    let suite = case.split('/').next().unwrap_or(case);
    suites.is_empty() || suites.iter().any(|pattern| matches(pattern, suite))
}

/// Tells what happened, as if each test had been known before it ran.
fn tell(listener: &mut dyn Listener, session: Session, console: &Console, (boot, story): (&Boot, Story)) {
    let cases: Vec<String> = story.planned().map(str::to_string).collect();
    let count = u32::try_from(cases.len()).unwrap_or(u32::MAX);
    listener.hear(&Event::Planned(Box::new(Session { cases, ..session })));
    listener.hear(&Event::Booting { boot: BOOT, cases: count });
    if let Some(line) = &console.command_line {
        listener.hear(&Event::CommandLine { boot: BOOT, line: line.clone() });
    }
    let mut told = 0;
    let mut tell_until = |listener: &mut dyn Listener, end: u64| {
        for line in console.lines(told..end) {
            listener.hear(&Event::Console { boot: BOOT, clone: 0, line: line.to_string() });
        }
        told = told.max(end);
    };
    for planned in story.runs {
        if planned.is_case {
            tell_until(listener, planned.lines.start);
            listener.hear(&Event::Started { case: planned.run.case.clone(), clone: 0 });
        }
        tell_until(listener, planned.lines.end);
        listener.hear(&Event::Finished(Box::new(planned.run)));
    }
    tell_until(listener, u64::MAX);
    if let Boot::Up { release, took } = boot {
        listener.hear(&Event::Booted { boot: BOOT, release: release.clone(), took: *took, kept: false });
    }
    for text in story.notes.into_iter().take(NOTES_MAX) {
        listener.hear(&Event::Note { text });
    }
}

//! KUnit: boots a kernel that runs tests of its own while it boots.
//!
//! What a kernel is going to test is known only when it has told. So the boot comes first, and the events of
//! the session are told after it, in their order; the plan is then that of the kernel.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use judge::kunit::{BOOT, Boot, Console, Story, story};
use judge::parameters;
use judge::{Exit, Summary};
use machine::Event as MachineEvent;
use protocol::ToAgent;

use crate::event::{Event, Listener, Session};
use crate::request::Request;
use crate::source::{BootEvent, Source, Up};
use crate::suites::select::matches;

/// Notes about results that contradict themselves at most.
const NOTES_MAX: usize = 20;

/// How long a machine may take to power off, on however slow a host.
const GRACE: Duration = Duration::from_secs(120);

/// How often the user's wish to stop is looked at.
const INTERRUPT_INTERVAL: Duration = Duration::from_millis(200);

/// Lines that may come after the hello.
const LINES_AFTER_MAX: usize = 10_000;

/// Boots a kernel with built-in KUnit tests once and tells `listener` what they gave: those of the suites
/// that match one of the patterns, or all without patterns. `watch` gets the lines of the console while the tests run:
/// their results are known when all have ended.
///
/// # Errors
///
/// When the host cannot start a machine at all; what has happened was told to the listener.
pub fn run(
    source: &dyn Source,
    listener: &mut dyn Listener,
    interrupt: &AtomicBool,
    (session, suites): (Session, &[String]),
    watch: &mut dyn FnMut(&str),
) -> Result<Summary, machine::Error> {
    let start = Instant::now();
    let mut console = Console::default();
    let (mut command_line, mut unknown) = (None, Vec::new());
    let said = session.request.as_ref().map(Request::parameters).unwrap_or_default();
    let booted = source.boot(interrupt, &mut |event| match event {
        BootEvent::CommandLine(line) => command_line = Some(line.to_string()),
        BootEvent::Console(line) => {
            watch(line);
            unknown.extend(parameters::unknown([line], &said));
            console.push(line);
        }
    });
    let interrupted = || interrupt.load(Ordering::Relaxed);
    let (boot, error) = match booted {
        Ok(Ok(up)) => (settle(&mut console, up, interrupt), None),
        Ok(Err(failure)) => (Boot::Failed(failure), None),
        Err(error) => (Boot::Never, Some(error)),
    };
    let mut story = story(&mut console, &boot);
    story.notes.splice(0..0, parameters::note(&unknown));
    story.runs.retain(|planned| !planned.is_case || is_wanted(&planned.run.case, suites));
    let mut summary = Summary { not_run: story.not_run, ..Summary::default() };
    story.runs.iter().for_each(|planned| summary.count(planned.run.outcome));
    Booted { console, command_line, boot, story }.emit(listener, session);
    let (interrupted, took) = (interrupted(), start.elapsed());
    let exit = Some(Exit::of_session(summary, interrupted));
    listener.on_event(&Event::Ended { summary, took, interrupted, exit });
    error.map_or(Ok(summary), Err)
}

/// The machine is up and not needed any more. The hello came by another way than the console, whose
/// last lines are sure to be there only when the machine has ended.
fn settle(console: &mut Console, up: Up, interrupt: &AtomicBool) -> Boot {
    let Up { mut machine, release, took } = up;
    machine.send(&ToAgent::PowerOff);
    let deadline = Instant::now() + GRACE;
    for _ in 0..LINES_AFTER_MAX {
        if console.is_complete() || interrupt.load(Ordering::Relaxed) || Instant::now() >= deadline {
            break;
        }
        match machine.next(deadline.min(Instant::now() + INTERRUPT_INTERVAL)) {
            MachineEvent::Console(line) => console.push(&line),
            MachineEvent::Agent(_)
            | MachineEvent::Stranger(_)
            | MachineEvent::Stopped
            | MachineEvent::Hazard(_)
            | MachineEvent::Quiet => {}
            MachineEvent::Ended(_) => break,
        }
    }
    Boot::Up { release, took }
}

fn is_wanted(case: &str, suites: &[String]) -> bool {
    let suite = case.split('/').next().unwrap_or(case);
    suites.is_empty() || suites.iter().any(|pattern| matches(pattern, suite))
}

/// A boot that is over.
struct Booted {
    console: Console,
    command_line: Option<String>,
    boot: Boot,
    story: Story,
}

impl Booted {
    /// Tells what happened, as if each test had been known before it ran.
    fn emit(self, listener: &mut dyn Listener, session: Session) {
        let Self { console, command_line, boot, story } = self;
        let cases: Vec<String> = story.planned().map(str::to_string).collect();
        let count = u32::try_from(cases.len()).unwrap_or(u32::MAX);
        listener.on_event(&Event::Planned(Box::new(Session { cases, ..session })));
        listener.on_event(&Event::Booting { boot: BOOT, cases: count });
        if let Some(line) = command_line {
            listener.on_event(&Event::CommandLine { boot: BOOT, line });
        }
        let mut reported = 0;
        let mut report_until = |listener: &mut dyn Listener, end: u64| {
            for line in console.lines(reported..end) {
                listener.on_event(&Event::Console { boot: BOOT, clone: 0, line: line.to_string() });
            }
            reported = reported.max(end);
        };
        for planned in story.runs {
            if planned.is_case {
                report_until(listener, planned.lines.start);
                listener.on_event(&Event::Started { case: planned.run.case.clone(), clone: 0 });
            }
            report_until(listener, planned.lines.end);
            listener.on_event(&Event::Finished(Box::new(planned.run)));
        }
        report_until(listener, u64::MAX);
        if let Boot::Up { release, took } = boot {
            listener.on_event(&Event::Booted { boot: BOOT, release, took, kept: false });
        }
        for text in story.notes.into_iter().take(NOTES_MAX) {
            listener.on_event(&Event::Note { text });
        }
    }
}

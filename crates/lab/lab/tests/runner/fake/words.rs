//! What machines say, in few words.

use std::time::Duration;

use judge::Dialect;
use lab::plan::Item;
use machine::Event;
use machine::payload::Wanted;
use protocol::{Counts, End, FromAgent, KernelRecord, Report, ReportKind, Work};

pub(crate) fn item(name: &str) -> Item {
    Item {
        name: name.into(),
        about: format!("about {name}"),
        work: Work::Case(name.into()),
        dialect: Dialect::Kiln,
        limit: Duration::from_secs(1),
        runtime: None,
        expects: Vec::new(),
        needs: Vec::new(),
        modules: Vec::new(),
        lacking: Vec::new(),
        unsure: Vec::new(),
        files: Wanted::default(),
        cpus: 1,
        skip: None,
    }
}

pub(crate) fn agent(message: FromAgent) -> Event {
    Event::Agent(message)
}

pub(crate) fn log(text: &str) -> Event {
    agent(FromAgent::Log(KernelRecord { sequence: 1, time_us: 1, level: 4, text: text.into() }))
}

pub(crate) fn console(text: &str) -> Event {
    Event::Console(format!("[    1.000000] {text}"))
}

pub(crate) fn report(run: u32, kind: ReportKind, text: &str) -> Event {
    agent(FromAgent::Report { run, report: Report { kind, text: text.into() } })
}

/// The end of a run, with these counts.
pub(crate) fn finished(run: u32, end: End, counts: Counts) -> Event {
    agent(FromAgent::Finished {
        run,
        end,
        counts,
        duration_us: 1000,
        taint_before: 0,
        taint_after: 0,
        leftovers: Vec::new(),
    })
}

/// The end of a run in which one check held.
pub(crate) fn passed(run: u32) -> Event {
    finished(run, End::Exited(0), Counts { pass: 1, ..Counts::default() })
}

/// A case that passes.
pub(crate) fn passes(run: u32) -> Vec<Event> {
    vec![passed(run)]
}

/// A case one of whose checks does not hold, in these words.
pub(crate) fn failed(run: u32, text: &str) -> Vec<Event> {
    let counts = Counts { pass: 1, fail: 1, ..Counts::default() };
    vec![report(run, ReportKind::Fail, text), finished(run, End::Exited(1), counts)]
}

/// A case that fails.
pub(crate) fn fails(run: u32) -> Vec<Event> {
    failed(run, "sum: is 2")
}

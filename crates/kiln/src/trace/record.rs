//! Records on this host.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use judge::exit::INTERRUPTED;
use lab::event::stamp;
use lab::request::words::call;
use ledger::{Budget, Figures, REQUEST};
use machine::instruments::{Recorder, recorder};
use observe::Ending;
use protocol::instrument::{BROKEN, SKIPPED};
use protocol::trace::TraceRequest;
use protocol::{Report, ReportKind};
use report::safe;
use transcode::{FLIGHT, Follower, Ring, Summary};

use super::request;
use crate::cli::Trace;
use crate::failure::{WrongUsage, complain};
use crate::signals;
use crate::terminal::Progress;

/// How long it may take until events are recorded.
const BEGIN_LIMIT: Duration = Duration::from_secs(60);

/// How soon an interrupt is noticed.
const INTERVAL: Duration = Duration::from_millis(20);

/// What is kept about a recording beside its trace.
pub(super) const SUMMARY: &str = "summary";

/// The folder of the trace in that of a recording.
pub(super) const TRACE: &str = "trace";

/// Records while a program runs, for some time, or until the user stops it.
pub(super) fn record(args: &Trace) -> Result<u8> {
    recorded(args, |begun, stop| {
        let status = work(args, &begun.marker, stop)?;
        // That of the program.
        Ok(status.map_or(0, |status| Ending::of_status(status.into_raw()).code()))
    })
}

/// Records while a machine is recorded; gives the exit code of `work`.
pub(super) fn beside(args: &Trace, work: impl FnOnce() -> Result<u8>) -> Result<u8> {
    recorded(args, |_, _| work())
}

/// Records while this is done, which gets what is known when the recording has begun, and can ask whether it is over.
fn recorded(args: &Trace, work: impl FnOnce(&Summary, &dyn Fn() -> bool) -> Result<u8>) -> Result<u8> {
    let (folder, name) = folder(args)?;
    let recorded = record_into(&folder, args, work);
    if !matches!(recorded, Ok(Recorded::Trace { .. })) {
        // There is nothing in it that anybody would look at.
        let _ = std::fs::remove_dir_all(folder.directory());
    }
    match recorded? {
        Recorded::Trace { line, code } => {
            let on = if args.host { "on this host: " } else { "" };
            complain(&format!("{on}{line}"));
            let call = call(&["trace", "view", &name].map(str::to_owned));
            let with = if args.host { ", --with TRACE together with that of a case" } else { "" };
            complain(&format!("{call} shows them{with}"));
            Ok(code)
        }
        Recorded::Interrupted => Ok(INTERRUPTED),
        Recorded::Nothing(why) => {
            complain(&format!("trace: {}: {}", why.kind.name(), safe(&why.text)));
            Ok(if why.kind == ReportKind::Skip { SKIPPED } else { BROKEN })
        }
    }
}

/// How a recording ended.
enum Recorded {
    /// With a trace: what is to be said of it, and the exit code.
    Trace { line: String, code: u8 },
    /// The kernel records nothing.
    Nothing(Report),
    /// The user wanted to stop before anything was recorded.
    Interrupted,
}

fn record_into(
    folder: &Figures,
    args: &Trace,
    work: impl FnOnce(&Summary, &dyn Fn() -> bool) -> Result<u8>,
) -> Result<Recorded> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    let memory = recorder::memory()?;
    let ring = Ring::new(memory.try_clone()?, 0, memory.metadata()?.len())?;
    let until = args.until.as_ref().filter(|_| !args.host);
    let follower = Follower::start(ring, &folder.path(TRACE), until.map(|_| FLIGHT))?;
    // It leaves out the thread of the follower, too.
    let request = TraceRequest { until: until.cloned(), ..request(args, std::process::id(), own_threads()) };
    folder.keep(REQUEST, &request)?;
    let recorder = Recorder::start(&request, &memory)?;
    let mut progress = Progress::new();
    progress.show("switches the events on");
    let Some(begun) = begin(&follower, &interrupt)? else { return Ok(Recorded::Interrupted) };
    missing(&begun).for_each(|note| progress.note(&note));
    drop(progress);
    if let Some(why) = begun.refused {
        return Ok(Recorded::Nothing(why));
    }
    let began = Instant::now();
    let code = work(&begun, &|| interrupt.load(Ordering::Relaxed) || follower.is_over());
    let took = began.elapsed();
    recorder.stop()?;
    let (summary, code) = (follower.finish()?, code?);
    if let Some(event) = until.filter(|_| !summary.has_happened) {
        complain(&format!("{event} did not happen"));
    }
    folder.keep(SUMMARY, &report::trace::document(&summary, Some(took)))?;
    Ok(Recorded::Trace { line: report::trace::summary(&summary, Some(took)), code })
}

/// What is to be said of events that are not recorded.
pub(super) fn missing(summary: &Summary) -> impl Iterator<Item = String> {
    summary.missing.iter().map(|(event, why)| format!("{} is not recorded: {}", safe(event), safe(why)))
}

/// The folder of the recording, and how the user names it.
pub(super) fn folder(args: &Trace) -> Result<(Figures, String)> {
    if let Some(folder) = &args.output {
        let name = folder.display().to_string();
        std::fs::create_dir(folder).map_err(|error| WrongUsage(format!("{}: {error}", folder.display())))?;
        return Ok((Figures::at(folder.clone()), name));
    }
    let root = ledger::traces_root();
    Budget::Traces.make_room(&root).iter().for_each(|note| complain(note));
    let made = Figures::create(&root, &stamp(jiff::Timestamp::now()))?;
    Ok((made, "last".to_owned()))
}

/// The threads of kiln.
fn own_threads() -> Vec<u32> {
    let entries = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Waits until events are recorded, or it is clear that none are; nothing if the user wants to stop.
fn begin(follower: &Follower, interrupt: &AtomicBool) -> Result<Option<Summary>> {
    let began = Instant::now();
    while began.elapsed() < BEGIN_LIMIT {
        if interrupt.load(Ordering::Relaxed) {
            return Ok(None);
        }
        if let Some(summary) = follower.wait_for_begin(INTERVAL) {
            return Ok(Some(summary));
        }
    }
    bail!("the kernel did not switch the events on within {} s", BEGIN_LIMIT.as_secs())
}

/// Runs the program, which gets the file for marks, or waits until it is over; gives how the program ended.
fn work(args: &Trace, marker: &str, is_over: impl Fn() -> bool) -> Result<Option<ExitStatus>> {
    let deadline = args.duration.map(|time| Instant::now() + time);
    let is_late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
    let Some(program) = &args.exec else {
        while !is_over() && !is_late() {
            std::thread::sleep(INTERVAL);
        }
        return Ok(None);
    };
    let started = Command::new(program).args(&args.arguments).env(mark::VARIABLE, marker).spawn();
    let mut child = started.map_err(|error| WrongUsage(format!("{}: {error}", program.display())))?;
    loop {
        // A program that was interrupted ends as it likes: the terminal has told it, too.
        if is_late() {
            child.kill()?;
        }
        match child.try_wait()? {
            Some(status) => return Ok(Some(status)),
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_stops_before_events_are_recorded_waits_no_longer() {
        let place = tempfile::tempdir().expect("a directory");
        let memory = recorder::memory().expect("memory");
        let length = memory.metadata().expect("a size").len();
        let ring = Ring::new(memory, 0, length).expect("an empty ring");
        let follower = Follower::start(ring, &place.path().join("trace"), None).expect("a thread");
        let begun = begin(&follower, &AtomicBool::new(true)).expect("no time-out");
        assert_eq!(begun, None);
        follower.finish().expect("nothing came");
    }
}

//! Calls of analysers, several at a time.

use std::fs::File;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use host::Task;
use host::task::{Failure, Finished};
use kernel::Context;

use super::calls::Call;
use super::output::{CallResult, read};
use super::place::Place;
use crate::Error;
use crate::make::jobs;

/// Time that an analyser gets for one call: cppcheck tries each combination of options of a long file.
const LIMIT: Duration = Duration::from_secs(300);

/// Time for all calls of an analysis.
const LIMIT_OF_ALL: Duration = Duration::from_secs(30 * 60);

/// Most that a call may write to one file, its output among them, in bytes.
const WRITTEN_MAX: u64 = 8 << 20;

/// A call, and what came of it.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) call: Call,
    pub(super) result: CallResult,
}

/// Makes all calls, as many at a time as kernels are compiled with, and gives them in their order. What there is no time for says nothing.
/// Analysers read programs and semantic patches of a stranger, so they run in a sandbox.
pub(super) fn run(calls: Vec<Call>, place: Place<'_>, context: &mut Context<'_>) -> Result<Vec<Done>, Error> {
    let (next, interrupt, begun) = (AtomicUsize::new(0), context.interrupt, Instant::now());
    let (sender, receiver) = channel();
    let mut all: Vec<Option<CallResult>> = calls.iter().map(|_| None).collect();
    let workers = usize::try_from(jobs()).unwrap_or(1).min(calls.len());
    thread::scope(|scope| {
        for _ in 0..workers {
            let (sender, next, calls) = (sender.clone(), &next, &calls);
            scope.spawn(move || {
                while !interrupt.load(Ordering::Relaxed) {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(call) = calls.get(at) else { return };
                    let left = LIMIT_OF_ALL.saturating_sub(begun.elapsed());
                    if sender.send((at, one(call, left, place, interrupt))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for (count, (at, result)) in receiver.iter().enumerate() {
            let call: &Call = &calls[at];
            let (tool, about, total) = (call.tool.name(), &call.about, calls.len());
            context.progress(&format!("analysing with {tool}: {about} ({} of {total} done)", count + 1));
            all[at] = Some(result);
        }
    });
    if interrupt.load(Ordering::Relaxed) {
        return Err(Failure::Interrupted { by_itself: true }.into());
    }
    Ok(calls.into_iter().zip(all).filter_map(|(call, result)| Some(Done { call, result: result? })).collect())
}

fn one(call: &Call, left: Duration, place: Place<'_>, interrupt: &AtomicBool) -> CallResult {
    let failed = |why: String| CallResult { findings: Vec::new(), failure: Some(why) };
    if left.is_zero() {
        return failed(format!("no time is left of {} minutes", LIMIT_OF_ALL.as_secs() / 60));
    }
    match finish(call, left.min(LIMIT), place, interrupt) {
        Ok(end) => read(call, &end, place),
        Err(failure) => failed(failure.to_string()),
    }
}

fn finish(
    call: &Call,
    limit: Duration,
    place: Place<'_>,
    interrupt: &AtomicBool,
) -> Result<Finished, Failure> {
    let refused = |source| Failure::Host { program: call.program.clone(), source };
    let input = call.input.as_deref().map(input).transpose().map_err(refused)?;
    let words: Vec<&str> = call.arguments.iter().map(String::as_str).collect();
    let task = Task::new(&call.program, &words, interrupt).within(place.objects).limit(limit);
    let task = task.with(|command| surround(command, input)).writes_at_most(WRITTEN_MAX);
    let read: Vec<&Path> =
        [place.tree, place.objects].into_iter().chain(place.installed.iter().map(PathBuf::as_path)).collect();
    task.sandboxed(&[], &read).map_err(refused)?.run(&mut || {})
}

fn input(text: &str) -> std::io::Result<File> {
    let mut file = host::nameless()?;
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    Ok(file)
}

/// Nothing of the user's environment changes what is found.
fn surround(command: &mut Command, input: Option<File>) {
    command.env_clear().env("LC_ALL", "C");
    for name in ["PATH", "HOME", "USER"] {
        command.envs(std::env::var_os(name).map(|value| (name, value)));
    }
    if let Some(input) = input {
        command.stdin(input);
    }
}

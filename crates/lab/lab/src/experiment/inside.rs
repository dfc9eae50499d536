//! Calls that the agent answers: commands, files, modules, the kernel log.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use jiff::{Timestamp, civil};
use judge::Blame;
use kernel::{Kernel, Presence};
use machine::Payload;
use protocol::End;
use protocol::job::{Order, Task};
use script::call::{GuestCall, JobCall, Place};
use script::{Answer, ErrorName, Trouble};
use serde_json::{Value, json};

use super::calling::Calling;
use super::guest::Guest;
use super::instrument;
use super::kexec;
use super::order::{Ended, KILL, PERMISSIONS, SOON, USUAL};
use super::trace;
use super::transcript::State;

/// How often a command is repeated until it succeeds.
const INTERVAL: Duration = Duration::from_millis(200);

/// Does what a script asks of the agent.
pub(super) fn call(guest: &Guest, call: &GuestCall, calling: &Calling<'_>) -> Result<Answer, Trouble> {
    let cancelled = calling.cancelled;
    trace::mark(guest, call);
    match call {
        GuestCall::Run { command, timeout, input, env } => {
            let limit = timeout.unwrap_or(USUAL);
            result(guest.run(guest.shell(command, env), bytes(input.as_ref()), limit, cancelled)?)
        }
        GuestCall::Instrument { name, request, timeout } => {
            instrument::call(guest, (name, request.as_ref(), *timeout), cancelled)
        }
        GuestCall::Start { command, input, env } => {
            let task = Task::Program(guest.shell(command, env));
            guest.begin(task, bytes(input.as_ref()), cancelled).map(Answer::Job)
        }
        GuestCall::Read { path } => {
            guest.file(Task::Read { path: path.clone() }, Vec::new(), cancelled).map(Answer::Text)
        }
        GuestCall::Write { path, text } => write(guest, path, text.as_bytes(), cancelled),
        GuestCall::Put { file, path } => {
            let (name, content) = calling.file(file)?;
            let place = path.clone().unwrap_or_else(|| format!("/tmp/{name}"));
            write(guest, &place, &content, cancelled)
        }
        GuestCall::Get { path } => {
            let content = guest.file(Task::Read { path: path.clone() }, Vec::new(), cancelled)?;
            calling.kept.keep(path, &content).map(|name| Answer::Text(name.into_bytes()))
        }
        GuestCall::Modprobe { module, params } => {
            modprobe(guest, &calling.subject.kernel, module, (params, cancelled))
        }
        GuestCall::Rmmod { module } => done(guest.order(Order::Unload { name: module.clone() }, cancelled)),
        GuestCall::Sysctl { name, value } => sysctl(guest, name, value.as_ref(), cancelled),
        GuestCall::SetClock { time } => set_clock(guest, time, cancelled),
        GuestCall::Log {} => {
            let lines = guest.transcript.lock().history.log.clone();
            Ok(Answer::Lines(lines.into_iter().map(String::into_bytes).collect()))
        }
        GuestCall::WaitFor { pattern, place, timeout } => {
            wait_for(guest, (pattern, *place), timeout.unwrap_or(SOON), cancelled)
        }
        GuestCall::Reboot { timeout } => reboot(guest, *timeout, calling),
        GuestCall::Kexec { kernel, append, timeout } => {
            kexec::call(guest, (*kernel, append.as_deref(), *timeout), calling)
        }
        GuestCall::Suspend { duration } => {
            suspend(guest, duration.unwrap_or(Duration::from_secs(1)), cancelled)
        }
        GuestCall::Trace { events, buffer } => trace::begin(guest, (events.as_deref(), *buffer), calling),
        GuestCall::EndTrace {} => trace::end(guest, calling),
        GuestCall::Stop {} => {
            guest.power_off();
            Ok(Answer::Done)
        }
    }
}

fn reboot(guest: &Guest, timeout: Option<Duration>, calling: &Calling<'_>) -> Result<Answer, Trouble> {
    guest.recording.end_before("kiln: reboot");
    // The machine ends with it, so the answer is its end.
    match guest.order(Order::Restart, calling.cancelled) {
        Err(trouble) if trouble.name != ErrorName::Reboot => Err(trouble),
        _ => guest.start_again(timeout, calling.setting.interrupt).map(|()| Answer::Done),
    }
}

/// Does what a script asks of a command.
pub(super) fn of_job(
    guest: &Guest,
    job: u32,
    call: &JobCall,
    cancelled: &dyn Fn() -> bool,
) -> Result<Answer, Trouble> {
    match call {
        JobCall::Wait { timeout } => result(guest.end_of(job, timeout.unwrap_or(USUAL), cancelled)?),
        JobCall::Kill { signal } => {
            let signal = signal.map_or(Ok(KILL), i32::try_from);
            let signal = signal.map_err(|_| Trouble::new(ErrorName::Refused, "there is no such signal"))?;
            done(guest.order(Order::Signal { job, signal }, cancelled))
        }
        JobCall::Output {} => {
            let state = guest.transcript.lock();
            Ok(Answer::Text(
                state.history.commands.jobs.get(&job).map(|job| job.output.clone()).unwrap_or_default(),
            ))
        }
    }
}

fn done(ordered: Result<u32, Trouble>) -> Result<Answer, Trouble> {
    ordered.map(|_| Answer::Done)
}

fn bytes(input: Option<&String>) -> Vec<u8> {
    input.cloned().unwrap_or_default().into_bytes()
}

fn result(ended: Ended) -> Result<Answer, Trouble> {
    ended.result().map(Answer::Command)
}

/// Writes a file for programs.
fn write(guest: &Guest, path: &str, content: &[u8], cancelled: &dyn Fn() -> bool) -> Result<Answer, Trouble> {
    guest.put((path, false), content, cancelled).map(|()| Answer::Done)
}

/// Loads a module with all that it needs, out of the Kernel's own files.
fn modprobe(
    guest: &Guest,
    kernel: &Kernel,
    module: &str,
    (parameters, cancelled): (&BTreeMap<String, Value>, &dyn Fn() -> bool),
) -> Result<Answer, Trouble> {
    match kernel.modules.presence(module) {
        Presence::BuiltIn => return Ok(Answer::Done),
        Presence::Loadable => {}
        Presence::Absent | Presence::Unknown => {
            return Err(Trouble::new(ErrorName::Missing, format!("the kernel has no module {module}")));
        }
    }
    let damaged = |error: kernel::Error| Trouble::broken(Blame::Host, error.to_string());
    let modules = kernel.modules.closure(&[module]).map_err(damaged)?;
    let last = modules.len().saturating_sub(1);
    for (place, module) in modules.iter().enumerate() {
        let path = Payload::module_path(&module.name);
        guest.put((&path, true), &module.read().map_err(damaged)?, cancelled)?;
        let parameters = if place == last { words(parameters) } else { String::new() };
        guest.order(Order::Load { path, parameters }, cancelled)?;
    }
    Ok(Answer::Done)
}

/// Parameters of a module as init_module(2) reads them.
fn words(parameters: &BTreeMap<String, Value>) -> String {
    let word = |(name, value): (&String, &Value)| match value {
        Value::String(text) => format!("{name}=\"{text}\""),
        Value::Bool(is_set) => format!("{name}={}", u8::from(*is_set)),
        value => format!("{name}={value}"),
    };
    parameters.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// sysctl(8): a dot stands between directories.
fn sysctl(
    guest: &Guest,
    name: &str,
    value: Option<&Value>,
    cancelled: &dyn Fn() -> bool,
) -> Result<Answer, Trouble> {
    let path = format!("/proc/sys/{}", name.replace('.', "/"));
    if let Some(value) = value {
        let text = match value {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        write(guest, &path, text.as_bytes(), cancelled)?;
    }
    let text = guest.file(Task::Read { path }, Vec::new(), cancelled)?;
    Ok(Answer::Text(text.trim_ascii().to_vec()))
}

fn set_clock(guest: &Guest, time: &str, cancelled: &dyn Fn() -> bool) -> Result<Answer, Trouble> {
    let in_utc = |time: civil::DateTime| time.to_zoned(TimeZone::UTC).map(|time| time.timestamp());
    let parsed = time.parse::<Timestamp>().or_else(|_| time.parse().and_then(in_utc)).ok();
    let since = parsed.and_then(|time| u64::try_from(time.as_microsecond()).ok());
    let now_us = since.ok_or_else(|| {
        let text = format!("{time:?} is no time since 1970: write it as 2038-01-19T03:14:00, in UTC");
        Trouble::new(ErrorName::Refused, text)
    })?;
    done(guest.order(Order::Clock { now_us }, cancelled))
}

fn wait_for(
    guest: &Guest,
    (pattern, place): (&str, Place),
    limit: Duration,
    cancelled: &dyn Fn() -> bool,
) -> Result<Answer, Trouble> {
    if place == Place::Command {
        return wait_for_command(guest, pattern, limit, cancelled);
    }
    let lines = |state: &mut State| {
        let lines = if place == Place::Log { &state.history.log } else { &state.history.console };
        lines.iter().any(|line| line.contains(pattern)).then_some(())
    };
    let found = guest.transcript.wait(&guest.limits(limit, cancelled), lines);
    found.map(|()| Answer::Done).map_err(|failed| match guest.trouble(failed) {
        Trouble { name: ErrorName::Timeout, .. } => not_seen(pattern, limit),
        trouble => trouble,
    })
}

fn not_seen(pattern: &str, limit: Duration) -> Trouble {
    Trouble::new(ErrorName::Timeout, format!("{pattern:?} was not seen within {} s", limit.as_secs_f64()))
}

fn wait_for_command(
    guest: &Guest,
    command: &str,
    limit: Duration,
    cancelled: &dyn Fn() -> bool,
) -> Result<Answer, Trouble> {
    let deadline = Instant::now() + guest.timeouts.stretch(limit);
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let environment = BTreeMap::new();
        let ended = guest.run(guest.shell(command, &environment), Vec::new(), left.max(SOON), cancelled)?;
        if ended.end == End::Exited(0) {
            return result(ended);
        }
        if left.is_zero() || cancelled() {
            let text = format!("the command did not succeed within {} s: {command}", limit.as_secs_f64());
            return Err(Trouble::new(ErrorName::Timeout, text));
        }
        std::thread::sleep(INTERVAL);
    }
}

/// Suspends to memory; the machine is woken from outside: Documentation/admin-guide/pm/sleep-states.rst.
fn suspend(guest: &Guest, time: Duration, cancelled: &dyn Fn() -> bool) -> Result<Answer, Trouble> {
    let path = "/sys/power/state".to_string();
    let task = Task::Write { path, append: false, permissions: PERMISSIONS, for_agent: true };
    let job = guest.begin(task, b"mem".to_vec(), cancelled)?;
    std::thread::sleep(time);
    let woken = guest.work(|machine| machine.execute("system_wakeup", &json!({})))?;
    let ended = guest.end_of(job, SOON, cancelled)?;
    match (woken, ended.end) {
        (Ok(_), End::Exited(0)) => Ok(Answer::Done),
        (_, End::Exited(number)) if number != 0 => {
            let why = std::io::Error::from_raw_os_error(number);
            Err(Trouble::new(ErrorName::Refused, format!("suspending: {why}")))
        }
        (Err(why), _) => Err(Trouble::new(ErrorName::Refused, format!("it did not sleep: {why}"))),
        (Ok(_), end) => Err(Trouble::new(ErrorName::Stopped, format!("suspending ended with {end:?}"))),
    }
}

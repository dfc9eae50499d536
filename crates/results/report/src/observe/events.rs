//! What happens to processes: a line or an object for each event.

use observe::{Event, Processes, What};
use serde_json::{Value, json};

use crate::safe::safe_line;
use crate::times::in_microseconds;
use crate::words::span;

/// Width of what an event says: enough for an exit with a core dump.
const INFO: usize = 24;

/// The line above the events.
#[must_use]
pub fn head() -> String {
    format!("{:>12}  {:<6}  {:>7}  {:<INFO$}  {:>8}  PROCESS", "TIME", "EVENT", "PID", "INFO", "AGE")
}

/// A line; `begin` is the time of the first event.
#[must_use]
pub fn line(event: &Event, processes: &Processes, begin: u64) -> String {
    let time = in_microseconds(event.time.saturating_sub(begin));
    let age = processes.age(event.process, event.time).filter(|_| matches!(event.what, What::Exit(_)));
    format!(
        "{time:>12}  {:<6}  {:>7}  {:<INFO$}  {:>8}  {}",
        event.what.kind().name(),
        event.thread,
        info(event),
        age.map(span).unwrap_or_default(),
        name(event.process, processes),
    )
    .trim_end()
    .to_owned()
}

/// The command line of a process; the name in brackets of one that has none, as kernel threads do.
fn name(process: i32, processes: &Processes) -> String {
    let Some(known) = processes.get(process) else { return String::new() };
    safe_line(&if known.command.is_empty() { format!("[{}]", known.comm) } else { known.command.clone() })
}

fn info(event: &Event) -> String {
    match &event.what {
        What::Fork { child } => format!("process {child}"),
        What::Clone { child } => format!("thread {child}"),
        What::Exec | What::Core | What::Session => String::new(),
        What::Comm(name) => safe_line(name),
        What::Signal(signal) => {
            format!("{signal}{}", if signal.is_fatal { ", fatal" } else { "" })
        }
        What::Exit(ending) => ending.to_string(),
        What::User(real, effective) => format!("uid {real}, effective {effective}"),
        What::Group(real, effective) => format!("gid {real}, effective {effective}"),
        What::Attach(0) => "detached".to_owned(),
        What::Attach(tracer) => format!("traced by {tracer}"),
    }
}

/// An object.
#[must_use]
pub fn json(event: &Event, processes: &Processes) -> Value {
    let known = processes.get(event.process);
    json!({
        "time_ns": event.time,
        "event": event.what.kind().name(),
        "process": event.process,
        "thread": event.thread,
        "comm": known.map(|known| &known.comm),
        "command": known.map(|known| &known.command),
        "uid": known.map(|known| known.user),
        "what": what(event),
    })
}

fn what(event: &Event) -> Value {
    match &event.what {
        What::Fork { child } | What::Clone { child } => json!({ "child": child }),
        What::Exec | What::Core | What::Session => json!({}),
        What::Comm(name) => json!({ "name": name }),
        What::Signal(signal) => json!({
            "signal": observe::signal::name(signal.number),
            "cause": cause(&signal.cause),
            "is_fatal": signal.is_fatal,
        }),
        What::Exit(ending) => super::job::ending_json(ending),
        What::User(real, effective) => json!({ "uid": real, "euid": effective }),
        What::Group(real, effective) => json!({ "gid": real, "egid": effective }),
        What::Attach(tracer) => json!({ "tracer": tracer }),
    }
}

fn cause(cause: &observe::Cause) -> Value {
    match cause {
        observe::Cause::Fault(address) => json!({ "address": format!("{address:#x}") }),
        observe::Cause::Process(process, user) => json!({ "process": process, "uid": user }),
        observe::Cause::Child(child) => json!({ "child": child }),
        observe::Cause::Timer => json!("timer"),
        observe::Cause::Kernel => json!("kernel"),
    }
}

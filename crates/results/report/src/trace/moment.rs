//! What CPUs and threads did at a moment.

use serde_json::{Value, json};
use viewer::{Moment, State};

use crate::safe::safe_line;
use crate::table::Table;
use crate::times::nanoseconds;

/// Tables for people.
#[must_use]
pub fn text(moment: &Moment) -> String {
    let since = |since: u64| nanoseconds(moment.time.saturating_sub(since));
    let name = |thread: i32| format!("{}-{thread}", safe_line(moment.names.name(thread).unwrap_or("?")));
    let cpus = moment.states.cpus.iter().map(|(number, cpu)| {
        let thread = cpu.thread.map(|(thread, begin)| [since(begin), name(thread)]);
        let [thread_since, thread] = thread.unwrap_or_default();
        let interrupt =
            cpu.hard.as_ref().or(cpu.soft.as_ref()).map(|open| [since(open.since), safe_line(&open.name)]);
        let [interrupt_since, interrupt] = interrupt.unwrap_or_default();
        (u32::MAX - number, [number.to_string(), thread_since, thread, interrupt_since, interrupt])
    });
    let cpus = Table::sorted(["CPU", "SINCE", "THREAD", "SINCE", "INTERRUPT"], 3, cpus);
    let threads = moment.states.threads.iter().filter_map(|(number, thread)| {
        let state = thread.state.filter(|state| *state != State::Ended)?;
        let file = moment.files.of_call(*number).map(|file| format!(" {}", safe_line(file)));
        let call = thread
            .call
            .as_ref()
            .map(|call| [since(call.since), safe_line(&call.name) + file.as_deref().unwrap_or_default()]);
        let [call_since, call] = call.unwrap_or_default();
        let waker = thread.waker.as_ref().map(|waker| name(waker.thread)).unwrap_or_default();
        let row = [
            since(thread.since),
            thread.cpu.to_string(),
            state.name().to_owned(),
            name(*number),
            call_since,
            call,
            waker,
        ];
        Some(((std::cmp::Reverse(state), thread.since), row))
    });
    let threads = Table::sorted(["SINCE", "CPU", "STATE", "THREAD", "SINCE", "IN", "WOKEN BY"], 5, threads);
    (cpus.text() + &threads.whole()).trim_start_matches('\n').to_owned()
}

/// The same for programs.
#[must_use]
pub fn json(moment: &Moment) -> Value {
    let open = |open: &viewer::states::Open| json!({ "name": *open.name, "since_ns": open.since });
    let cpus = moment.states.cpus.iter().map(|(number, cpu)| {
        json!({
            "cpu": number,
            "tid": cpu.thread.map(|(thread, _)| thread),
            "since_ns": cpu.thread.map(|(_, since)| since),
            "interrupt": cpu.hard.as_ref().map(open),
            "soft_interrupt": cpu.soft.as_ref().map(open),
        })
    });
    let threads = moment.states.threads.iter().map(|(number, thread)| {
        json!({
            "tid": number,
            "comm": moment.names.name(*number),
            "state": thread.state.map(State::name),
            "since_ns": thread.since,
            "cpu": thread.cpu,
            "call": thread.call.as_ref().map(open),
            "file": thread.call.as_ref().and_then(|_| moment.files.of_call(*number)),
            "woken_by": thread.waker.as_ref().map(|waker| waker.thread),
        })
    });
    json!({ "time_ns": moment.time, "cpus": cpus.collect::<Vec<_>>(), "threads": threads.collect::<Vec<_>>() })
}

//! What threads spent their time with.

use serde_json::{Value, json};
use viewer::{Activity, State};

use crate::figures::count;
use crate::safe::safe_line;
use crate::table::Table;
use crate::times::{nanoseconds, spread_json};

/// Tables for people.
#[must_use]
pub fn text(activity: &Activity) -> String {
    let threads = activity.threads.iter().map(|(number, thread)| {
        let [running, runnable, sleeping, blocked, stopped] =
            thread.times.map(|time| if time == 0 { String::new() } else { nanoseconds(time) });
        let (number, name) = (number.to_string(), safe_line(&thread.comm));
        let key = (thread.times[0], thread.times[1]);
        (key, [running, runnable, sleeping, blocked, stopped, count(thread.runs), number, name])
    });
    let head = ["RUNNING", "RUNNABLE", "SLEEPING", "BLOCKED", "STOPPED", "RUNS", "TID", "THREAD"];
    let threads = Table::sorted(head, 1, threads);
    let waits = activity.waits.iter().map(|(wait, times)| {
        let call = wait.call.as_deref().unwrap_or_default();
        let waker = wait.waker.as_deref().unwrap_or_default();
        let quantile = |fraction| nanoseconds(times.quantile(fraction));
        let figures = [
            nanoseconds(times.total),
            count(times.count),
            quantile(0.5),
            quantile(0.99),
            nanoseconds(times.max),
        ];
        let [total, number, p50, p99, max] = figures;
        let names = [&wait.comm, wait.state.name(), call, waker].map(safe_line);
        let [comm, state, call, waker] = names;
        (times.total, [total, number, p50, p99, max, state, comm, call, waker])
    });
    let head = ["WAITED", "TIMES", "P50", "P99", "MAX", "STATE", "THREAD", "IN", "UNTIL"];
    let waits = Table::sorted(head, 4, waits);
    (threads.text() + &waits.text()).trim_start_matches('\n').to_owned()
}

/// The same for programs.
#[must_use]
pub fn json(activity: &Activity) -> Value {
    let threads = activity.threads.iter().map(|(tid, thread)| {
        let states = State::ALIVE
            .iter()
            .zip(thread.times)
            .map(|(state, time)| (format!("{}_ns", state.name()), time.into()));
        let mut object: serde_json::Map<String, Value> = states.collect();
        object.extend([
            ("tid".to_owned(), json!(tid)),
            ("comm".to_owned(), json!(thread.comm)),
            ("runs".to_owned(), json!(thread.runs)),
        ]);
        Value::Object(object)
    });
    let waits = activity.waits.iter().map(|(wait, times)| {
        json!({
            "comm": wait.comm,
            "state": wait.state.name(),
            "call": wait.call.as_deref(),
            "waker": wait.waker,
            "took": spread_json(times),
        })
    });
    json!({ "threads": threads.collect::<Vec<_>>(), "waits": waits.collect::<Vec<_>>() })
}

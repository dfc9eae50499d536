//! An event.

use std::fmt::Write;

use ctf::Value;
use ctf::value::integers;
use serde_json::{Map, json};
use viewer::Seen;

use crate::safe::safe_line;
use crate::times::in_seconds;

/// An event as a line: the time since the begin of the trace in seconds, which trace it is of if there are several, the CPU, the
/// thread, and the event with its fields.
#[must_use]
pub fn text_line(seen: &Seen<'_>, of: Option<&str>) -> String {
    let event = &seen.event;
    let time = in_seconds(seen.since_begin());
    let thread = match event.thread {
        Some(thread) => format!("{}-{thread}", safe_line(seen.comm.unwrap_or("?"))),
        None => "kiln".to_owned(),
    };
    let of = of.map(|name| format!("{} ", safe_line(name))).unwrap_or_default();
    let mut line = format!("{time:>14} {of}[{:03}] {thread:<22} {}:", event.cpu, event.class.name);
    for (field, value) in event.fields() {
        // Writing to a String does not fail.
        let _ = write!(line, " {}={value}", field.name);
    }
    line
}

/// The same as a JSON object on a line. Numbers beyond what all readers of JSON keep exact are texts.
#[must_use]
pub fn json_line(seen: &Seen<'_>, of: Option<&str>) -> String {
    let event = &seen.event;
    let fields: Map<String, serde_json::Value> =
        event.fields().map(|(field, value)| (field.name.clone(), json(&value))).collect();
    let mut object = json!({
        "time_ns": event.time,
        "cpu": event.cpu,
        "tid": event.thread,
        "comm": seen.comm,
        "event": event.class.name,
        "fields": fields,
    });
    if let Some(name) = of {
        object["trace"] = name.into();
    }
    object.to_string()
}

fn json(value: &Value<'_>) -> serde_json::Value {
    match value {
        Value::Number(number, _) => number_json(*number),
        Value::Numbers(number, bytes) => integers(*number, bytes).map(number_json).collect(),
        Value::Text(text) => String::from_utf8_lossy(text).into(),
    }
}

fn number_json(number: i128) -> serde_json::Value {
    const EXACT: i128 = 1 << 53;
    match i64::try_from(number) {
        Ok(small) if (-EXACT..=EXACT).contains(&number) => small.into(),
        _ => number.to_string().into(),
    }
}

//! Fields of events as what they are.

use ctf::{Event, Value};

/// The number of a thread or a process.
pub(crate) fn number(event: &Event<'_>, field: &str) -> Option<i32> {
    event.field(field)?.number()?.try_into().ok()
}

/// A text, which may be anything.
pub(crate) fn text(event: &Event<'_>, field: &str) -> Option<String> {
    Some(event.field(field).as_ref().and_then(Value::text)?.into_owned())
}

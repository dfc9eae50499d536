//! Events as `perf script` prints them, for the many programs that read this.

use std::fmt::Write as _;
use std::io::{self, Write};

use ctf::{Event, Value};
use viewer::Seen;

use crate::safe::safe_line;
use crate::times::in_seconds;

/// Writes an event.
///
/// # Errors
///
/// When `out` does not take it.
pub fn perf_script_line(seen: &Seen<'_>, mut out: impl Write) -> io::Result<()> {
    let event = &seen.event;
    let Some(thread) = event.thread else { return Ok(()) };
    let time = in_seconds(event.time);
    let comm = safe_line(seen.comm.unwrap_or(":unknown"));
    write!(out, "{comm:>16} {thread:>7} [{:03}] {time:>15}: {:>30}:", event.cpu, event.class.name)?;
    writeln!(out, "{}", fields(event))
}

/// The fields; those of the scheduler as the kernel prints them.
fn fields(event: &Event<'_>) -> String {
    let mut text = String::new();
    for (field, value) in event.fields() {
        let is_switch = event.class.name == "sched:sched_switch";
        if is_switch && field.name == "next_comm" {
            text += " ==>";
        }
        // Writing to a String does not fail.
        let _ = match value {
            Value::Number(state, _) if is_switch && field.name == "prev_state" => {
                write!(text, " {}={}", field.name, state_letters(state))
            }
            Value::Text(bytes) => {
                write!(text, " {}={}", field.name, safe_line(&String::from_utf8_lossy(bytes)))
            }
            value => write!(text, " {}={value}", field.name),
        };
    }
    text
}

/// `prev_state` as the format of `sched_switch` in include/trace/events/sched.h says.
fn state_letters(state: i128) -> String {
    /// `TASK_REPORT_MAX`: the thread would have gone on.
    const PREEMPTED: i128 = 0x100;
    const LETTERS: [(i128, &str); 8] =
        [(1, "S"), (2, "D"), (4, "T"), (8, "t"), (0x10, "X"), (0x20, "Z"), (0x40, "P"), (0x80, "I")];
    let found: Vec<&str> =
        LETTERS.iter().filter(|(bit, _)| state & bit != 0).map(|(_, letter)| *letter).collect();
    let letters = if found.is_empty() { "R".to_owned() } else { found.join("|") };
    if state & PREEMPTED != 0 { letters + "+" } else { letters }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_have_the_letters_of_the_kernel() {
        assert_eq!([0, 1, 2, 3, 0x100, 0x80].map(state_letters), ["R", "S", "D", "S|D", "R+", "I"]);
    }
}

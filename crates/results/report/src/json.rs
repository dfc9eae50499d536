//! The events of a session as JSON lines.
//!
//! A consumer may rely on this:
//!
//! * One JSON object per line, in UTF-8, in the order in which things happened. A line is written when
//!   its event happens.
//! * Every object has `event`: `planned`, `note`, `booting`, `command-line`, `console`, `booted`,
//!   `started`, `recorded`, `repeated`, `finished` or `ended`. More kinds and more fields may be added: ignore what you do not know.
//! * The first is `planned`, the last is `ended`. A document without `ended` was cut off.
//! * `console` appears only when asked for; everything else always.
//! * `finished` carries the whole Run with everything that is kept of it. `outcome` is `pass`, `fail`,
//!   `crash`, `hang`, `skip` or `broken`; `blame` is set only for `broken`.
//! * An experiment has a `recorded` for each step, metric, finding, table and note of its script: `record` has the kind as its only
//!   key.
//! * A case that is run more than once has a `started` and a `repeated` for each time, and one `finished` when all
//!   have ended: that of the first Run that did not pass, else of the first. Its `repeats` lists all of them, with
//!   `outcome`, `reason`, `duration`, `clone` and `seed`. To count cases, count `finished`.
//! * Cases may run side by side: several may have `started` before one has `finished`, in any order.
//! * `clone` is a number of its own for each copy of a booted machine, 0 for the machine itself.
//! * Every `finished` names a case of `planned`, but for `boot`, a machine that did not come up.
//! * Durations are seconds, seeds are text, `started` is RFC 3339.
//! * Control characters and those that reorder text are escaped, so that the lines can be looked at in a
//!   terminal; the decoded text is what the guest wrote.

use std::io::{self, Write};

use lab::{Event, Listener};
use serde::Serialize;

use crate::safe::is_treacherous;
use crate::sink::Sink;

/// Writes every event as a line of JSON.
#[derive(Debug)]
pub struct Json<W> {
    sink: Sink<W>,
    console: bool,
    output: bool,
}

impl<W: Write> Json<W> {
    /// A report that writes to `out`, without the lines of the console and of programs.
    pub fn new(out: W) -> Self {
        Self { sink: Sink::new(out), console: false, output: false }
    }

    /// Also writes the lines of the console.
    #[must_use]
    pub fn with_console(self) -> Self {
        Self { console: true, ..self }
    }

    /// Also writes the lines of programs, as they come.
    #[must_use]
    pub fn with_output(self) -> Self {
        Self { output: true, ..self }
    }

    /// Ends the report and gives the first error in writing.
    ///
    /// # Errors
    ///
    /// When something could not be written.
    pub fn finish(self) -> io::Result<()> {
        self.sink.finish()
    }
}

impl<W: Write> Listener for Json<W> {
    fn on_event(&mut self, event: &Event) {
        let is_wanted = match event {
            Event::Console { .. } => self.console,
            Event::Output { .. } => self.output,
            _ => true,
        };
        if !is_wanted {
            return;
        }
        match line(event) {
            Ok(line) => self.sink.write(&line),
            Err(error) => self.sink.fail(error),
        }
        self.sink.flush();
    }
}

/// `value` as one line of JSON that a terminal survives.
///
/// # Errors
///
/// When it has no form in JSON.
pub fn line(value: &impl Serialize) -> io::Result<String> {
    Ok(harmless(&serde_json::to_string(value)?) + "\n")
}

/// Writes `value` as a document of JSON that a terminal survives.
pub(crate) fn document(value: &impl Serialize, mut out: impl Write) -> io::Result<()> {
    writeln!(out, "{}", harmless(&serde_json::to_string_pretty(value)?))?;
    out.flush()
}

/// Escapes what JSON would allow and a terminal would obey. That stands in strings only: all else is ASCII.
fn harmless(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if c == '\x7f' || is_treacherous(c) {
            out.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn text_is_kept_and_harmless(text in any::<String>(), odd in "[\u{7f}-\u{9f}\u{202e}\u{e0001}\u{1b}a]{0,9}") {
            let text = format!("{text}{odd}");
            let line = line(&text).unwrap();
            prop_assert!(line.trim_end_matches('\n').chars().all(|c| !c.is_control() && !is_treacherous(c)));
            prop_assert_eq!(serde_json::from_str::<String>(&line).unwrap(), text.as_str());
            let mut bytes = Vec::new();
            document(&[&text], &mut bytes).unwrap();
            let document = String::from_utf8(bytes).unwrap();
            prop_assert!(document.chars().all(|c| c == '\n' || !c.is_control() && !is_treacherous(c)));
            prop_assert_eq!(serde_json::from_str::<[String; 1]>(&document).unwrap(), [text]);
        }
    }
}

//! A machine that measures: its instrument has the machine to itself until it is done.

use std::path::Path;
use std::process::{Command, Stdio};

use protocol::FromAgent;
use protocol::measure::INSTRUMENT;

use crate::root;
use crate::session::Session;
use crate::system::hello;

/// Whether this machine measures.
pub(crate) fn is_there() -> bool {
    Path::new(INSTRUMENT).exists()
}

/// Runs the instrument, which stops the machine by itself when it is done; `began` is the time-stamp counter when
/// user space did. If there is a root, a second argument says what keeps programs from it.
pub(crate) fn run(session: &mut Session, began: u64, trouble: &[String]) {
    session.send(&hello());
    for text in trouble {
        session.send(&FromAgent::Trouble { text: text.clone() });
    }
    // Messages of this process would wake the host in the middle of a measurement.
    session.drain();
    let mut instrument = Command::new(INSTRUMENT);
    instrument.arg(began.to_string());
    if let Some(hindrance) = root::hindrance() {
        instrument.arg(hindrance);
    }
    let text = match instrument.stdin(Stdio::null()).output() {
        Ok(output) => format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim()),
        Err(error) => error.to_string(),
    };
    session.send(&FromAgent::Trouble { text: format!("the instrument ended: {text}") });
    session.drain();
}

//! A run without a host beside the machine: its request is in the initramfs, and messages go to the control port as
//! lines of text.

use protocol::FromAgent;
use protocol::waiting::{BEGINS, STANDALONE, decode};

use crate::session::Session;
use crate::system::hello;
use crate::{kernel_log, work};

/// The request, if there is one.
pub(crate) fn request() -> Option<Vec<u8>> {
    std::fs::read(STANDALONE).ok()
}

/// Does the run and reports it.
pub(crate) fn run(session: &mut Session, request: &[u8], trouble: &[String]) {
    session.send_text();
    session.send(&hello());
    for text in trouble {
        session.send(&FromAgent::Trouble { text: text.clone() });
    }
    match decode(request) {
        Ok(request) => {
            kernel_log::write(BEGINS);
            work::run(session, &request);
        }
        Err(error) => session.send(&FromAgent::Trouble { text: format!("{STANDALONE}: {error}") }),
    }
    session.drain();
}

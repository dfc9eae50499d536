//! A reader that goes away.

use std::io::{self, ErrorKind, Write};

use report::{Human, Json, Junit, Ktap, Plain};

use crate::sessions::{emit, rich};

/// A pipe that nobody reads.
#[derive(Debug)]
struct Closed;

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

macro_rules! breaks {
    ($new:expr) => {{
        let mut report = $new;
        emit(&mut report, &rich());
        assert_eq!(report.finish().unwrap_err().kind(), ErrorKind::BrokenPipe);
    }};
}

#[test]
fn a_broken_pipe_is_told_at_the_end() {
    breaks!(Plain::new(Closed));
    breaks!(Human::new(Closed, true, None));
    breaks!(Json::new(Closed));
    breaks!(Ktap::new(Closed));
    breaks!(Junit::new(Closed));
}

//! Records what the kernel does while a case runs: a process of the agent writes it to the last part of the window.

use std::sync::atomic::{AtomicBool, Ordering};

use harness::child::{Child, child};
use harness::sys::handle;
use protocol::trace::TraceRequest;
use protocol::trace::ring::MACHINE_SIZE;
use protocol::window::RECORDING;
use rustix::fd::OwnedFd;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Signal;
use trace::{Ring, record};

use crate::window;

static STOP: AtomicBool = AtomicBool::new(false);

extern "C" fn stop(_: libc::c_int, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
    STOP.store(true, Ordering::Relaxed);
}

/// A process that records.
#[derive(Debug)]
pub(crate) struct Recording(Child);

impl Recording {
    /// Begins it. The pipe can be read when events are recorded, and has the file for marks in a line; or when it is clear that none are:
    /// then the line is empty, and the recording says why.
    pub(crate) fn start(request: &TraceRequest) -> Result<(Self, OwnedFd), String> {
        let memory = window::for_recording()?;
        let failed = |error: rustix::io::Errno| format!("the recording: {}", harness::check::describe(error));
        let (begun, begins) = pipe_with(PipeFlags::CLOEXEC).map_err(failed)?;
        let process = child(|| {
            // Who cannot be told has not waited. Closing it would not do: what it starts itself has it, too.
            let tell = |marker: &str| {
                let _ = rustix::io::write(&begins, format!("{marker}\n").as_bytes());
            };
            handle(libc::SIGTERM, stop, 0)?;
            let mut ring = Ring::open(&memory, RECORDING, MACHINE_SIZE)?;
            // What keeps it from recording is written there.
            let _ = record(request, &mut ring, &STOP, tell);
            tell("");
            Ok(())
        });
        // Without its own end the pipe also says when the process is no more.
        drop(begins);
        Ok((Self(process.map_err(failed)?), begun))
    }

    /// Has it write what is left, and waits for its end.
    pub(crate) fn stop(self) {
        // One that has ended was waited for already, with the orphans.
        let _ = self.0.kill(Signal::TERM);
        let _ = self.0.wait();
    }
}

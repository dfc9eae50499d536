//! The instrument `trace`: see [`protocol::instrument`]. It records until SIGINT or SIGTERM.

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use harness::instrument::{Ending, broken, run};
use harness::sys::handle;
use protocol::trace::{CpuCounts, RING_VARIABLE, TraceRequest};
use protocol::{Report, ReportKind};
use trace::{Ring, record};

static STOP: AtomicBool = AtomicBool::new(false);

extern "C" fn stop(_: libc::c_int, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
    STOP.store(true, Ordering::Relaxed);
}

fn main() -> ExitCode {
    run(|request: TraceRequest, _| carry_out(&request))
}

fn carry_out(request: &TraceRequest) -> Ending<Vec<CpuCounts>> {
    match recorded(request) {
        Ok(counts) => {
            let lost: u64 = counts.iter().map(|cpu| cpu.lost()).sum();
            Ending::Done(counts, Report { kind: ReportKind::Pass, text: format!("{lost} events lost") })
        }
        Err(why) => Ending::Stopped(why),
    }
}

fn recorded(request: &TraceRequest) -> Result<Vec<CpuCounts>, Report> {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        handle(signal, stop, 0).map_err(|error| broken(format!("sigaction: {error}")))?;
    }
    let missing = || broken(format!("{RING_VARIABLE} names no file: kiln records, not this program alone"));
    let path = std::env::var(RING_VARIABLE).map_err(|_| missing())?;
    let length = std::fs::metadata(&path).ok().and_then(|file| usize::try_from(file.len()).ok());
    let length = length.ok_or_else(missing)?;
    let ring = Ring::open(Path::new(&path), 0, length);
    let mut ring = ring.map_err(|error| broken(format!("{path}: {}", std::io::Error::from(error))))?;
    record(request, &mut ring, &STOP, |_| ())
}

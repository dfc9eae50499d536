//! Whether the kernel reports what a thread had when it ends, as `inherit_stat` of perf_event_open(2) asks for: 6.1 and 6.12 do not, 6.18
//! does.

use std::path::Path;
use std::time::Duration;

use harness::instrument::{broken, skip};
use harness::perf::{DUMMY, Record, Ring, online_cpus};
use protocol::Report;
use rustix::thread::gettid;

use crate::counter::{Descriptor, Scope};

/// Between two looks whether a thread is still there.
const PAUSE: Duration = Duration::from_millis(1);

/// Ends a thread, and looks whether that is reported.
///
/// # Errors
///
/// `skip` if this kernel or user cannot count, `broken` if the host refuses.
pub(crate) fn is_reported() -> Result<bool, Report> {
    // The thread may run on any CPU, and each has its buffer.
    let mut rings = Vec::new();
    for cpu in online_cpus().map_err(broken)? {
        let counter = Descriptor::open(DUMMY, Scope::Threads(gettid(), cpu), false);
        let counter =
            counter.map_err(|error| skip(format!("no counts of parts: {}", DUMMY.refusal(error))))?;
        let ring =
            Ring::map(&counter, 1).map_err(|error| broken(format!("the buffer of a counter: {error}")))?;
        rings.push((ring, counter));
    }
    end_thread()?;
    let mut is_reported = false;
    for (ring, _) in &mut rings {
        ring.drain(&mut |bytes| is_reported |= matches!(Record::read(bytes), Some(Record::Read { .. })));
    }
    Ok(is_reported)
}

/// Starts a thread, and waits until nothing is left of it: whoever joins it goes on before its counters are taken from it.
fn end_thread() -> Result<(), Report> {
    let thread = std::thread::Builder::new().spawn(gettid);
    let thread = thread.map_err(|error| broken(format!("a thread: {error}")))?;
    let number = thread.join().map_err(|_| broken("a thread panicked"))?;
    let rest = format!("/proc/self/task/{}", number.as_raw_nonzero());
    while Path::new(&rest).exists() {
        std::thread::sleep(PAUSE);
    }
    Ok(())
}

//! Lets the kernel do what a case has put off, so that what it reports then counts for the case.

use std::time::{Duration, Instant};

use protocol::ToAgent;

use crate::session::Session;
use crate::system::power_off;

/// Writing it waits for all callbacks of RCU: Documentation/admin-guide/kernel-parameters.txt, `rcutree.do_rcu_barrier`.
const RCU_BARRIER: &str = "/sys/module/rcutree/parameters/do_rcu_barrier";

/// Reading it runs a work on each CPU, after those that are queued there: Documentation/admin-guide/sysctl/vm.rst.
const STAT_REFRESH: &str = "/proc/sys/vm/stat_refresh";

/// `MEMBARRIER_CMD_GLOBAL` of membarrier(2), which waits for a grace period.
const GLOBAL: libc::c_int = 1;

/// Waits for callbacks and works, and then until `time` is over for timers and what they start.
pub(crate) fn settle(session: &mut Session, time: Duration) {
    let deadline = Instant::now() + time;
    wait_for_callbacks();
    wait_for_works();
    while Instant::now() < deadline {
        if session.wait(&[], Some(deadline)).messages.contains(&ToAgent::PowerOff) {
            power_off();
        }
    }
    wait_for_works();
}

fn wait_for_callbacks() {
    if std::fs::write(RCU_BARRIER, "1").is_err() {
        // Kernels before 6.0. Without membarrier(2) the rest of the time must do.
        // SAFETY: no memory is involved.
        unsafe { libc::syscall(libc::SYS_membarrier, GLOBAL, 0, 0) };
    }
}

fn wait_for_works() {
    // A kernel without it has the rest of the time.
    let _ = std::fs::read(STAT_REFRESH);
}

//! Fast user-space locking: futex(2). From one process to another and back it is in [`super::switch`].

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use harness::check::{Checked, equal};
use harness::child::{child, shared_word};
use protocol::Need;
use rustix::io::Errno;
use rustix::thread::futex::{self, Flags, lock_pi, unlock_pi, wake};

use super::parts::{gives, wait_for_sleep};
use crate::{Meter, Operation};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::new("futex/wake-nobody", "FUTEX_WAKE of a private word that nobody waits for", wake_nobody)
        .needs(FUTEX),
    Operation::new(
        "futex/wake-nobody-shared",
        "FUTEX_WAKE of a shared word that nobody waits for",
        wake_nobody_shared,
    )
    .needs(FUTEX),
    Operation::new("futex/wait-changed", "FUTEX_WAIT for a value that has changed: EAGAIN", wait_changed)
        .needs(FUTEX),
    Operation::new("futex/wake-one", "FUTEX_WAKE of a process that waits", wake_one).needs(FUTEX),
    Operation::new("futex/pi-lock-unlock", "FUTEX_LOCK_PI and FUTEX_UNLOCK_PI of a free lock", pi_lock)
        .needs(&[Need::Config("FUTEX_PI")]),
];

const FUTEX: &[Need] = &[Need::Config("FUTEX")];

const SHARED: Flags = Flags::empty();

fn wake_nobody(meter: &mut Meter) -> Checked {
    let word = AtomicU32::new(0);
    gives(meter, "woken", 0, || wake(&word, Flags::PRIVATE, 1))
}

fn wake_nobody_shared(meter: &mut Meter) -> Checked {
    let word = shared_word()?;
    gives(meter, "woken", 0, || wake(word, SHARED, 1))
}

fn wait_changed(meter: &mut Meter) -> Checked {
    let word = AtomicU32::new(7);
    gives(meter, "the answer", Err(Errno::AGAIN), || Ok(futex::wait(&word, Flags::PRIVATE, 6, None)))
}

fn wake_one(meter: &mut Meter) -> Checked {
    let word = shared_word()?;
    meter.around(
        || {
            let waiting = child(|| Ok(futex::wait(word, SHARED, 0, None)?))?;
            wait_for_sleep(&waiting)?;
            Ok(waiting)
        },
        |_| wake(word, SHARED, 1),
        |waiting, woken| {
            equal("woken", woken, 1)?;
            waiting.succeeds()
        },
    )
}

fn pi_lock(meter: &mut Meter) -> Checked {
    let word = AtomicU32::new(0);
    meter.each(|| {
        lock_pi(&word, Flags::PRIVATE, None)?;
        unlock_pi(&word, Flags::PRIVATE)
    })?;
    equal("its owner", word.load(SeqCst), 0)
}

//! Wrong use of locks and RCU, which lockdep finds.

use super::Pattern::Starts;
use super::Role::Alone;
use super::{Kind, Opening, Title, row};

/// In the order in which they are tried.
pub(super) const TABLE: &[Opening] = &[
    row(
        Kind::Lockdep,
        Alone,
        Starts("WARNING: possible circular locking dependency detected", ""),
        Title::InTaker("possible deadlock"),
        "lockdep: locks are taken in two orders",
    ),
    row(
        Kind::Lockdep,
        Alone,
        Starts("WARNING: possible recursive locking detected", ""),
        Title::InTaker("possible deadlock"),
        "lockdep: a lock of a class is taken twice",
    ),
    row(
        Kind::Lockdep,
        Alone,
        Starts("WARNING: possible irq lock inversion dependency detected", ""),
        Title::InTaker("possible deadlock"),
        "lockdep: an interrupt can take them in the other order",
    ),
    row(
        Kind::Lockdep,
        Alone,
        Starts("WARNING: ", "-unsafe lock order detected"),
        Title::InTaker("possible deadlock"),
        "lockdep: HARDIRQ-safe -> HARDIRQ-unsafe, and of softirqs",
    ),
    row(
        Kind::Lockdep,
        Alone,
        Starts("WARNING: inconsistent lock state", ""),
        Title::InTaker("inconsistent lock state"),
        "lockdep: taken with and in interrupts",
    ),
    row(
        Kind::Lockdep,
        Alone,
        Starts("WARNING: bad unlock balance detected!", ""),
        Title::InTaker("WARNING: bad unlock balance"),
        "lockdep: released and not held",
    ),
    row(
        Kind::Lockdep,
        Alone,
        Starts("WARNING: bad contention detected!", ""),
        Title::InTaker("WARNING: bad contention"),
        "lockdep: waited for and not held",
    ),
    row(
        Kind::Lockdep,
        Alone,
        Starts("WARNING: held lock freed!", ""),
        Title::InTaker("WARNING: held lock freed"),
        "lockdep: the memory of a held lock is freed",
    ),
    row(
        Kind::Lockdep,
        Alone,
        Starts("WARNING: Nested lock was not taken", ""),
        Title::InTaker("WARNING: Nested lock was not taken"),
        "lockdep: the outer lock of a nesting is missing",
    ),
    row(
        Kind::Lockdep,
        Alone,
        Starts("WARNING: lock held when returning to user space!", ""),
        Title::InTaker("WARNING: lock held when returning to user space"),
        "lockdep: a system call forgot to unlock",
    ),
    row(
        Kind::Lockdep,
        Alone,
        Starts("WARNING: ", " still has locks held!"),
        Title::InTaker("WARNING: still has locks held"),
        "lockdep: a task freezes or exits with locks",
    ),
    row(
        Kind::Lockdep,
        Alone,
        Starts("WARNING: suspicious RCU usage", ""),
        Title::InStack("WARNING: suspicious RCU usage"),
        "lockdep: RCU is read without a read-side lock",
    ),
    row(
        Kind::Lockdep,
        Alone,
        Starts("[ BUG: Invalid wait context ]", ""),
        Title::InTaker("BUG: Invalid wait context"),
        "lockdep: a sleeping lock inside a spinning one",
    ),
    row(
        Kind::Lockdep,
        Alone,
        Starts("INFO: trying to register non-static key", ""),
        Title::InStack("INFO: trying to register non-static key"),
        "lockdep: a lock was never initialised",
    ),
    row(
        Kind::Lockdep,
        Alone,
        Starts("BUG: MAX_", " too low!"),
        Title::HeadUntil(&['!']),
        "lockdep is full and has switched itself off: nothing is found from here on",
    ),
];

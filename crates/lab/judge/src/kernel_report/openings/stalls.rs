//! What takes too long.

use super::Pattern::Starts;
use super::Role::Alone;
use super::{Kind, Opening, Title, row};

/// In the order in which they are tried.
pub(super) const TABLE: &[Opening] = &[
    row(
        Kind::HungTask,
        Alone,
        Starts("INFO: task ", "for more than "),
        Title::InStack("INFO: task hung"),
        "kernel/hung_task.c",
    ),
    row(
        Kind::RcuStall,
        Alone,
        Starts("INFO: rcu", "detected stall"),
        Title::InStalled("INFO: rcu detected stall"),
        "kernel/rcu/tree_stall.h: `self-detected stall on CPU`, `detected stalls on CPUs/tasks`",
    ),
    row(
        Kind::RcuStall,
        Alone,
        Starts("INFO: rcu", "detected expedited stall"),
        Title::InStalled("INFO: rcu detected stall"),
        "kernel/rcu/tree_exp.h",
    ),
    row(
        Kind::SoftLockup,
        Alone,
        Starts("BUG: soft lockup", ""),
        Title::InStalled("BUG: soft lockup"),
        "kernel/watchdog.c",
    ),
    row(
        Kind::HardLockup,
        Alone,
        Starts("Watchdog detected hard LOCKUP", ""),
        Title::InStalled("Watchdog detected hard LOCKUP"),
        "kernel/watchdog.c, kernel/watchdog_hld.c",
    ),
    row(
        Kind::WorkqueueLockup,
        Alone,
        Starts("BUG: workqueue lockup", ""),
        Title::Fixed("BUG: workqueue lockup"),
        "kernel/workqueue.c",
    ),
];

//! What begins a report: facts about kernels, as data.

mod asserts;
mod locks;
mod oopses;
mod sanitizers;
mod stalls;

use super::Kind;
use super::line::{died, warned_at};

/// How the first line of a report is known, what the report is and how it is called.
#[derive(Debug)]
pub(super) struct Opening {
    pub(super) kind: Kind,
    pub(super) role: Role,
    pattern: Pattern,
    pub(super) title: Title,
    /// Why this is a defect, and what prints it: for whoever reads or changes this table.
    #[cfg_attr(not(test), expect(dead_code, reason = "for people; a test demands it on each line"))]
    why: &'static str,
}

/// How a report stands to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Has nothing to do with it.
    Alone,
    /// Has nothing to do with it; a trap, an oops or a panic that follows before any stack is of this one.
    Cause,
    /// The text of a `WARN()` or `BUG()`: belongs to it, before its line or after it (since 6.19).
    Text,
    /// `WARNING:` and `kernel BUG at`: belongs to a text or cause right before it.
    Trap,
    /// `...: 0000 [#1]`: belongs to a text, cause or trap right before it.
    Death,
    /// `Kernel panic`: often only what another report ends in.
    Panic,
}

/// How a line is known.
#[derive(Debug)]
enum Pattern {
    /// Its headline starts with the first text and then contains the second.
    Starts(&'static str, &'static str),
    /// It ends in an error code and the number of the oops: `: 0000 [#1] SMP`.
    Died,
    /// `WARN()` in its forms; see [`super::line::warned_at`].
    Warned,
}

/// How the title is made.
#[derive(Debug, Clone, Copy)]
pub(super) enum Title {
    /// Just this.
    Fixed(&'static str),
    /// This, ` in ` and the first telling function of the stack.
    InStack(&'static str),
    /// This, ` in ` and the function from which the task or the interrupt entered what does not end.
    InStalled(&'static str),
    /// This, ` in ` and the function that takes the lock.
    InTaker(&'static str),
    /// The headline as it is, cleaned; what follows ` in ` or ` at ` is a function.
    Head,
    /// The headline up to the first of these characters, cleaned.
    HeadUntil(&'static [char]),
    /// `WARNING in` and the function of the headline.
    Warned,
    /// What comes before the error code, ` in ` and the first telling function.
    Died,
    /// `Kernel panic: ` and its text, cleaned.
    Panic,
    /// `BUG kmalloc-64: ` and what is wrong with it.
    Slab,
}

const fn row(kind: Kind, role: Role, pattern: Pattern, title: Title, why: &'static str) -> Opening {
    Opening { kind, role, pattern, title, why }
}

/// All of them, in the order in which they are tried.
pub(super) fn all() -> impl Iterator<Item = &'static Opening> {
    TABLES.into_iter().flatten()
}

/// The opening that a line is, if it is one. The first that matches counts.
pub(super) fn find(headline: &str) -> Option<&'static Opening> {
    all().find(|opening| match opening.pattern {
        Pattern::Starts(start, within) => {
            headline.strip_prefix(start).is_some_and(|rest| rest.contains(within))
        }
        Pattern::Died => died(headline).is_some(),
        Pattern::Warned => warned_at(headline).is_some(),
    })
}

/// What begins a report; the last table has the most general openings.
///
/// Deliberately not here:
/// * `page allocation failure: order:` and `vmalloc error:`: too little memory is no defect of the
///   kernel, though a stack is printed; so are `oom-kill:` and `Out of memory:`
/// * `INFO: NMI handler ... took too long`, `hrtimer: interrupt took`, `clocksource: ... unstable`,
///   `unchecked MSR access error`: they tell of the host under a guest
/// * `segfault at`, `traps: init[7] general protection fault ip:`: they are user space's
/// * `WARNING: The mand mount option`, `WARNING: can't ...`: words of `pr_warn()`, not a `WARN()`
/// * back traces that were asked for (`sysrq: Show ...`)
const TABLES: [&[Opening]; 5] =
    [locks::TABLE, sanitizers::TABLE, stalls::TABLE, oopses::TABLE, asserts::TABLE];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_opening_says_why() {
        for opening in TABLES.into_iter().flatten() {
            assert!(opening.why.len() > 4, "{opening:?}");
        }
    }

    #[test]
    fn words_of_other_messages_open_nothing() {
        for line in [
            "Warning: unable to open an initial console.",
            "WARNING: The mand mount option has been deprecated and",
            "WARNING: can't access registers at entry_SYSCALL_64_after_hwframe+0x76/0x7e",
            "WARNING: workqueue cpumask: online intersect > possible intersect",
            "Spectre V2 : WARNING: Unprivileged eBPF is enabled with eIBRS on",
            "x86/cpu: SGX disabled by BIOS.",
            "DEBUG: here",
            "DEBUGGING is on",
            "Fix BUG: reports",
            "PCI: if necessary, use \"pci=nocrs\" and report a bug",
            "INFO: NMI handler (perf_event_nmi_handler) took too long to run: 1.2 msecs",
            "rcu: INFO: Stall ended before state dump start",
            "INFO: task foo:12 is blocked on a mutex likely owned by task bar:13.",
            "ODEBUG: Out of memory. ODEBUG disabled",
            "traps: init[79] general protection fault ip:4019ea sp:7ffd93d11770 error:0 in init[401000+7a000]",
            "init[78]: segfault at 0 ip 00000000004019c7 sp 00007ffd93d11770 error 6",
            "Out of memory: Killed process 78 (init) total-vm:138748kB",
            "insmod: page allocation failure: order:9, mode:0xcc0(GFP_KERNEL)",
            "NMI watchdog: Enabled. Permanently consumes one hw-PMU counter.",
            "irq 9: Affinity broken due to vector space exhaustion.",
            "sched: DL replenish lagged too much",
            "Kernel panicked? No.",
            "UBSAN: enabled",
            "",
        ] {
            assert!(find(crate::kernel_report::line::headline(line)).is_none(), "{line}");
        }
    }
}

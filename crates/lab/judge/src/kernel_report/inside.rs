//! What the lines inside of a report look like.

use super::line::{is_end_of_trace, is_start_of_trace};

/// Digits that the value of a register has at least.
const REGISTER_DIGITS: usize = 8;
/// Letters that the name of a register has at most.
const REGISTER_NAME_MAX: usize = 6;

/// Whether the line looks like the inside of a report rather than like any other message.
pub(super) fn is_inside(line: &str) -> bool {
    line.starts_with([' ', '\t'])
        || is_register(line)
        || starts_with_address(line)
        || is_end_of_trace(line)
        || is_start_of_trace(line)
        || INSIDE.iter().any(|start| line.starts_with(start))
        || INSIDE_ENDS.iter().any(|end| line.ends_with(end))
}

/// `RAX: 0000000000000000 RBX: ...`, `CR2: 0000000000000018`, `x29: ffff800012345678`
fn is_register(line: &str) -> bool {
    let Some((name, value)) = line.split_once(':') else { return false };
    let name = name.trim_end();
    let value = value.split_whitespace().next().unwrap_or("");
    (2..=REGISTER_NAME_MAX).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric())
        && value.bytes().take_while(u8::is_ascii_hexdigit).count() >= REGISTER_DIGITS
}

/// `ffffffffc0440000 (lock){+.+.}-{3:3}, at: foo+0x1/0x2`
fn starts_with_address(line: &str) -> bool {
    line.bytes().take_while(u8::is_ascii_hexdigit).count() >= REGISTER_DIGITS
}

/// How lines inside a report begin.
const INSIDE: &[&str] = &[
    "Modules linked in:",
    "Hardware name:",
    "CPU: ",
    "CPU#",
    "Tainted: ",
    "Workqueue: ",
    "Stopper: ",
    "Sched_ext: ",
    "#PF: ",
    "PGD ",
    "Mem abort info:",
    "Data abort info:",
    "user pgtable:",
    "note: ",
    "Kernel Offset:",
    "Dumping ftrace buffer:",
    "Rebooting in ",
    "Kernel panic - not syncing",
    "NMI backtrace for cpu",
    "Sending NMI from CPU",
    "Preemption disabled at:",
    "in_atomic(): ",
    "preempt_count: ",
    "RCU nest depth: ",
    "INFO: lockdep is turned off.",
    "irq event stamp: ",
    "hardirqs last ",
    "softirqs last ",
    "other info that might help",
    "rcu_scheduler_active = ",
    "which lock already ",
    "the existing dependency chain",
    "the dependencies between",
    "the shortest dependencies",
    "and this task is already holding:",
    "but task is already holding lock:",
    "but there are no more locks",
    "which would create a new",
    "to a HARDIRQ",
    "to a SOFTIRQ",
    "-> #",
    "... which became",
    "... acquired at:",
    "but this lock ",
    "but this new dependency",
    "{IN-",
    "{HARDIRQ",
    "{SOFTIRQ",
    "{INITIAL",
    "context-{",
    "no locks held by ",
    "1 lock held by ",
    "Showing all locks held",
    "#0: ",
    "Read of size ",
    "Write of size ",
    "Read at ",
    "Write at ",
    "Free of addr ",
    "Out-of-bounds ",
    "Use-after-free ",
    "Invalid free",
    "Corrupted memory at ",
    "kfence-#",
    "Allocated by task ",
    "Freed by task ",
    "allocated by task ",
    "freed by task ",
    "Uninit was ",
    "Local variable ",
    "Bytes ",
    "Last potentially related work",
    "Second to last potentially",
    "The buggy address ",
    "Memory state around ",
    "Memory access of size",
    "Data copied to",
    "which belongs to ",
    "The following is an execution trace",
    "page:",
    "page: ",
    "page dumped because",
    "page_type: ",
    "flags: ",
    "raw: ",
    ">",
    "page_owner ",
    "page last ",
    "page has been",
    "addr:",
    "value changed: ",
    "read to 0x",
    "write to 0x",
    "read-write to 0x",
    "Reported by Kernel Concurrency",
    "assert no ",
    "race at unknown origin",
    "Slab 0x",
    "Object 0x",
    "Object ",
    "Redzone ",
    "Padding ",
    "Right Redzone ",
    "FIX ",
    "Allocated in ",
    "Freed in ",
    "INFO: Slab ",
    "INFO: Object ",
    "INFO: 0x",
    "INFO: Allocated in",
    "INFO: Freed in",
    "0xffff",
    "Disabling lock debugging",
    "Disabling IRQ #",
    "handlers:",
    "[<",
    "task:",
    "\"echo 0 > /proc/sys",
    "INFO: task ",
    "Shutting down cpus",
    "unreferenced object ",
    "comm \"",
    "Oops: ",
    "Internal error: ",
    "Call Trace",
    "KASAN: ",
    "RIP: ",
    "RSP: ",
    "EIP: ",
    "ESP: ",
    "CS:  ",
    "CS: ",
    "pc : ",
    "lr : ",
    "epc : ",
    "kmemleak:",
    "------",
    "rcu: ",
    "Code: ",
    "load of value ",
    "shift exponent ",
    "index ",
    "signed integer ",
    "unsigned ",
    "left shift of ",
    "division of ",
    "member access ",
];

/// How lines inside a report end.
const INSIDE_ENDS: &[&str] = &[
    "is trying to acquire lock:",
    "is trying to acquire:",
    "is trying to lock:",
    "is trying to release lock",
    "locks held by",
    "takes:",
    "just changed the state of lock:",
    "at:",
    "still held!",
    "with a lock still held there!",
    "is freeing memory",
    "usage!",
    "Not tainted",
    "held lock freed!",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_told_from_messages() {
        for line in [
            "RAX: 0000000000000000 RBX: ff",
            "CR2: 0000000000000018",
            "FS:  000000002e8bc380(0000)",
            "PKRU: 55555554",
        ] {
            assert!(is_inside(line), "{line}");
        }
        for line in [
            "ACPI: PM: Preparing to enter system sleep",
            "NET: Registered",
            "PM: 1",
            "",
            "tsc: Refined",
            "e1000: 00:12",
        ] {
            assert!(!is_inside(line), "{line}");
        }
    }
}

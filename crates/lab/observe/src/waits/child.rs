//! Children for which a process waits.

use std::collections::HashMap;

use super::Reason;
use super::syscall::Syscall;

/// Which child a system call waits for; `children` are those of each process.
pub(super) fn awaited(
    call: &Syscall,
    process: i32,
    children: &HashMap<i32, Vec<i32>>,
) -> Option<(Reason, Vec<i32>)> {
    let [first, second, ..] = call.arguments;
    // pid_t is 32 bits wide, and negative for groups.
    let number = |argument: u64| (argument & 0xffff_ffff) as u32 as i32;
    let child = match (call.number, first) {
        (libc::SYS_wait4, _) => number(first),
        (libc::SYS_waitid, kind) if kind == u64::from(libc::P_PID) => number(second),
        (libc::SYS_waitid, _) => -1,
        _ => return None,
    };
    let all = children.get(&process).cloned().unwrap_or_default();
    if child > 0 {
        return all.contains(&child).then(|| (Reason::Child(Some(child)), vec![child]));
    }
    Some((Reason::Child(None), all))
}

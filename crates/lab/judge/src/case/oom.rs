//! Too little memory: the kernel kills a program, or gives up when there is none left to kill. That is no defect of
//! it: Documentation/admin-guide/mm/concepts.rst, `mm/oom_kill.c`.

use super::{Judgement, Seen};
use crate::outcome::Blame;
use protocol::End;

/// What the kernel writes before the process that it killed.
const KILLED: &str = ": Killed process ";

/// What a shell ends with whose last command was killed: 128 and the number of SIGKILL.
const KILLED_IN_SHELL: i32 = 128 + SIGKILL;

const SIGKILL: i32 = 9;

/// Panics for want of memory.
const PANICS: &[&str] = &["System is deadlocked on memory", "Out of memory: "];

/// The kernel ended the program for want of memory.
pub(super) fn killed(seen: &Seen<'_>, end: &End) -> Option<Judgement> {
    let is_killed = matches!(end, End::Signalled(SIGKILL) | End::Exited(KILLED_IN_SHELL));
    // Those before it were its children: it went on without them.
    let victim = victims(seen.log).last().filter(|_| is_killed)?;
    let reason = if victim.starts_with("Memory cgroup") {
        format!("its cgroup ran out of memory ({victim})")
    } else {
        format!("the machine ran out of memory ({victim}): --memory gives it more")
    };
    Some(Judgement::broken(Blame::Case, reason))
}

/// Whether a panic with this text is for want of memory.
pub(super) fn is_panic(title: &str) -> bool {
    PANICS.iter().any(|text| title.contains(text))
}

/// What the kernel says of each process that it killed for want of memory: `Out of memory: Killed process 78 (it)`.
pub fn victims<'a>(log: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
    log.iter().filter_map(|line| {
        let (why, process) = line.split_once(KILLED)?;
        let begin =
            ["Memory cgroup out of memory", "Out of memory"].iter().find_map(|text| why.rfind(text))?;
        let end = line.len() - process.len() + process.find(')')? + 1;
        Some(&line[begin..end])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn victims_are_named_as_the_kernel_does() {
        let log = [
            "tail invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0",
            "Out of memory: Killed process 78 (tail) total-vm:138748kB, anon-rss:1kB",
            "Memory cgroup out of memory: Killed process 9 (a b) total-vm:1kB",
            "[   12.3] Out of memory (oom_kill_allocating_task): Killed process 7 (x) total-vm:1kB",
            "somebody: Killed process 7 (x)",
        ];
        let expected = [
            "Out of memory: Killed process 78 (tail)",
            "Memory cgroup out of memory: Killed process 9 (a b)",
            "Out of memory (oom_kill_allocating_task): Killed process 7 (x)",
        ];
        assert_eq!(victims(&log).collect::<Vec<_>>(), expected);
    }

    proptest! {
        #[test]
        fn any_log_is_read(line in "(Out of memory|: Killed process |[é() 7]){0,9}") {
            prop_assert!(victims(&[&line]).count() <= 1);
        }
    }
}

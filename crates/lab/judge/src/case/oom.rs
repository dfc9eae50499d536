//! Too little memory: the kernel kills a program, or gives up when there is none left to kill. That is no defect of
//! it: Documentation/admin-guide/mm/concepts.rst, `mm/oom_kill.c`.

use super::{Judgement, Seen};
use crate::outcome::Blame;
use protocol::End;

/// What the kernel writes before the process that it killed.
const KILLED: &str = ": Killed process ";

/// What it writes before everything else: `it invoked oom-killer: gfp_mask=...`.
const INVOKED: &str = " invoked oom-killer: ";

/// What it writes after everything else: whom it killed, or that there is nobody.
const OUT_OF_MEMORY: &[&str] = &["Memory cgroup out of memory", "Out of memory", "deadlocked on memory"];

/// Lines that show whom it killed at last.
const LINES: usize = 6;

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
    let shows: Vec<String> =
        seen.log.iter().copied().filter(|line| is_telling(line)).map(str::to_string).collect();
    let begin = shows.len().saturating_sub(LINES);
    Some(Judgement::broken(Blame::Case, reason).with(&shows[begin..]))
}

/// Whether a line says who wanted memory, or whom the kernel killed for it.
fn is_telling(line: &str) -> bool {
    line.contains(INVOKED) || victims(&[line]).next().is_some()
}

/// Lines of a log without what the kernel dumps when it wants memory: registers, a call trace, its memory and all tasks.
pub fn without_dumps<T: AsRef<str>>(lines: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    let mut is_dump = false;
    lines.into_iter().filter(move |line| {
        let line = line.as_ref();
        let is_end = OUT_OF_MEMORY.iter().any(|text| line.contains(text));
        let is_shown = !is_dump || is_end;
        is_dump = line.contains(INVOKED) || is_dump && !is_end;
        is_shown
    })
}

/// Whether a panic with this text is for want of memory.
pub(super) fn is_panic(title: &str) -> bool {
    PANICS.iter().any(|text| title.contains(text))
}

/// What the kernel says of each process that it killed for want of memory: `Out of memory: Killed process 78 (it)`.
pub fn victims<'a>(log: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
    log.iter().filter_map(|line| {
        let (why, process) = line.split_once(KILLED)?;
        let begin = OUT_OF_MEMORY.iter().find_map(|text| why.rfind(text))?;
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

    #[test]
    fn of_a_dump_only_its_ends_are_shown() {
        let log = [
            "before",
            "tail invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0",
            "CPU: 0 PID: 78 Comm: tail",
            "RIP: 0033:0x7f",
            "Mem-Info:",
            "Memory cgroup out of memory: Killed process 78 (tail) total-vm:138748kB, anon-rss:1kB",
            "after",
        ];
        assert_eq!(without_dumps(log).collect::<Vec<_>>(), [log[0], log[1], log[5], log[6]]);
        assert_eq!(log.iter().filter(|line| is_telling(line)).count(), 2);
    }

    proptest! {
        #[test]
        fn any_log_is_read(line in "(Out of memory|: Killed process |[é() 7]){0,9}") {
            prop_assert!(victims(&[&line]).count() <= 1);
        }
    }
}

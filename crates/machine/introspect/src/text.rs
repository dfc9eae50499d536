//! Tasks as text.

use crate::stack::Call;
use crate::tasks::Task;

/// Lines about a machine at most.
const LINES_MAX: usize = 160;

impl Call {
    /// What was called, as back traces of the kernel show it.
    #[must_use]
    pub fn line(&self) -> String {
        format!("  {}{}", if self.is_guess { "? " } else { "" }, self.text)
    }
}

impl Task {
    /// Who it is: `cat (91 of 90) D`, `kworker/0:1 (17) R on CPU 1`.
    #[must_use]
    pub fn head(&self) -> String {
        let Self { pid, tgid, name, state, .. } = self;
        let thread = if pid == tgid { String::new() } else { format!(" of {tgid}") };
        let cpu = self.on_cpu.map(|cpu| format!(" on CPU {cpu}")).unwrap_or_default();
        format!("{name} ({pid}{thread}) {state}{cpu}")
    }

    /// Who it is, what it holds and where it is.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let calls = self.calls.iter().map(Call::line);
        std::iter::once(self.head()).chain(self.held()).chain(calls).collect()
    }

    /// What it holds.
    pub fn held(&self) -> impl Iterator<Item = String> {
        self.locks.iter().map(|lock| format!("  holds {lock}"))
    }

    /// The less, the more it says about a machine that hangs; nothing of threads of the kernel that wait for work.
    fn order(&self) -> Option<u8> {
        match (self.on_cpu, self.state) {
            (Some(_), _) => Some(0),
            (None, 'D') => Some(1),
            _ if !self.locks.is_empty() => Some(2),
            (None, 'R') => Some(3),
            _ => (!self.is_kernel).then_some(4),
        }
    }
}

/// What says most about a machine that hangs, in lines: who runs, then who waits for the kernel, then programs.
#[must_use]
pub fn lines(tasks: &[Task]) -> Vec<String> {
    let count = |is_one: fn(&Task) -> bool| tasks.iter().filter(|task| is_one(task)).count();
    let (running, waiting) = (count(|task| task.on_cpu.is_some()), count(|task| task.state == 'D'));
    let mut lines = vec![format!("tasks: {}, {running} on a CPU, {waiting} in state D", tasks.len())];
    let mut told: Vec<(u8, &Task)> = tasks.iter().filter_map(|task| Some((task.order()?, task))).collect();
    told.sort_by_key(|(order, _)| *order);
    let mut left = told.len();
    for (_, task) in told {
        let of_task = task.lines();
        if lines.len() + of_task.len() > LINES_MAX {
            lines.push(format!("and {left} more"));
            break;
        }
        lines.extend(of_task);
        left -= 1;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(pid: u32, state: char, on_cpu: Option<u32>) -> Task {
        let call = |text: &str, is_guess| Call { text: text.to_owned(), is_guess };
        Task {
            pid,
            tgid: 7,
            name: "cat".to_owned(),
            state,
            is_kernel: false,
            on_cpu,
            calls: vec![call("schedule+0x5e/0xd0", false), call("read+0x1/0x2 [ext4]", true)],
            locks: if state == 'D' { vec!["&pipe->mutex (0x10)".to_owned()] } else { Vec::new() },
        }
    }

    #[test]
    fn who_runs_comes_first_and_who_waits_for_work_is_left_out() {
        let idle = Task { is_kernel: true, ..task(2, 'I', None) };
        let tasks = [idle, task(7, 'S', None), task(8, 'D', None), task(9, 'R', Some(1))];
        let calls = ["  schedule+0x5e/0xd0", "  ? read+0x1/0x2 [ext4]"];
        let expected = [
            &["tasks: 4, 1 on a CPU, 1 in state D", "cat (9 of 7) R on CPU 1"][..],
            &calls,
            &["cat (8 of 7) D", "  holds &pipe->mutex (0x10)"],
            &calls,
            &["cat (7) S"],
            &calls,
        ];
        assert_eq!(lines(&tasks), expected.concat());
    }

    #[test]
    fn there_are_not_too_many_lines() {
        let lines = lines(&vec![task(7, 'S', None); 500]);
        assert!(lines.len() <= LINES_MAX + 1, "{}", lines.len());
        assert_eq!(lines.last().map(String::as_str), Some("and 447 more"));
    }
}

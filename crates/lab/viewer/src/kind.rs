//! What the events of a class say of threads and CPUs.

use std::rc::Rc;

use ctf::Class;

/// What an event says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Another thread is on the CPU.
    Switch,
    /// The thread whose number is in this field can run.
    Wake(&'static str),
    /// The thread ends.
    Exit,
    /// The thread enters the system call of this name.
    Enter(Rc<str>),
    /// The thread enters a system call whose number is in the event.
    EnterNumber,
    /// The thread leaves its system call.
    Leave,
    /// The CPU handles an interrupt.
    Interrupt,
    /// It has handled it.
    InterruptEnd,
    /// The CPU handles a soft interrupt.
    SoftInterrupt,
    /// It has handled it.
    SoftInterruptEnd,
    /// A device gets a request.
    Issue,
    /// It has done it.
    Complete,
    /// Nothing of this.
    Other,
}

impl Kind {
    fn of(name: &str) -> Self {
        match name {
            "sched:sched_switch" => Self::Switch,
            "sched:sched_waking" | "sched:sched_wakeup" | "sched:sched_wakeup_new" => Self::Wake("pid"),
            "sched:sched_process_fork" => Self::Wake("child_pid"),
            "sched:sched_process_exit" => Self::Exit,
            "raw_syscalls:sys_enter" => Self::EnterNumber,
            "raw_syscalls:sys_exit" => Self::Leave,
            "irq:irq_handler_entry" => Self::Interrupt,
            "irq:irq_handler_exit" => Self::InterruptEnd,
            "irq:softirq_entry" => Self::SoftInterrupt,
            "irq:softirq_exit" => Self::SoftInterruptEnd,
            "block:block_rq_issue" => Self::Issue,
            "block:block_rq_complete" => Self::Complete,
            name => match name.strip_prefix("syscalls:sys_enter_") {
                Some(call) => Self::Enter(call.into()),
                None if name.starts_with("syscalls:sys_exit_") => Self::Leave,
                None => Self::Other,
            },
        }
    }
}

/// The kinds of classes, found once for each.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kinds(Vec<Option<Kind>>);

impl Kinds {
    pub(crate) fn of(&mut self, class: &Class) -> Kind {
        let at = usize::from(class.id);
        if at >= self.0.len() {
            self.0.resize(at + 1, None);
        }
        self.0[at].get_or_insert_with(|| Kind::of(&class.name)).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctf::Stream;

    #[test]
    fn a_class_is_of_one_kind() {
        let mut kinds = Kinds::default();
        let mut of = |id, name: &str| {
            kinds.of(&Class { id, stream: Stream::Kernel, name: name.to_owned(), fields: Vec::new() })
        };
        assert_eq!(of(9, "syscalls:sys_enter_read"), Kind::Enter("read".into()));
        assert_eq!(of(2, "sched:sched_process_fork"), Kind::Wake("child_pid"));
        assert_eq!(of(3, "syscalls:sys_exit_read"), Kind::Leave);
        assert_eq!(of(4, "sched:sched_stat_runtime"), Kind::Other);
        assert_eq!(of(9, "syscalls:sys_enter_read"), Kind::Enter("read".into()));
    }
}

//! Which programs make processes and threads, execute and end.

use aya::Pod;
use bpf::{Object, Watch, programs};
use protocol::Report;
use protocol::probe::{Found, Programs};

use super::{Tool, largest, name};

/// `struct program` of `bpf/forks.bpf.c`.
type Comm = [u8; 16];

/// `struct numbers`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Numbers {
    processes: u64,
    threads: u64,
    executed: u64,
    ended: u64,
}

// SAFETY: numbers, without anything between them.
unsafe impl Pod for Numbers {}

pub(super) struct Forks(Object);

impl Forks {
    pub(super) fn begin(watch: &Watch) -> Result<Self, Report> {
        let mut object = Object::load(programs::FORKS, watch, &[])?;
        object.attach_to("new_task", "task:task_newtask")?;
        object.attach_to("executed", "sched:sched_process_exec")?;
        object.attach_to("ended", "sched:sched_process_exit")?;
        Ok(Self(object))
    }
}

impl Tool for Forks {
    fn found(&mut self) -> Result<Found, Report> {
        let programs = |(comm, all): (Comm, Vec<Numbers>)| Programs {
            name: name(&comm),
            processes: all.iter().map(|one| one.processes).sum(),
            threads: all.iter().map(|one| one.threads).sum(),
            executed: all.iter().map(|one| one.executed).sum(),
            ended: all.iter().map(|one| one.ended).sum(),
        };
        let rows = self.0.elements("programs")?.into_iter().map(programs).collect();
        let made = |row: &Programs| (row.processes.saturating_add(row.threads), row.name.clone());
        Ok(Found::Programs(largest(rows, made)))
    }

    fn lost(&self) -> Result<u64, Report> {
        self.0.lost()
    }
}

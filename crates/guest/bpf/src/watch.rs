//! Whose events are looked at.

use harness::instrument::skip;
use harness::tracefs;
use protocol::Report;
use protocol::workload::Workload;
use rustix::process::Pid;

/// The first namespace of processes: `PROC_PID_INIT_INO`.
const FIRST_PIDS: &str = "pid:[4026531836]";

/// Whose events are looked at.
#[derive(Debug, Clone, Copy)]
pub struct Watch {
    /// The program with all that it starts; everything without one.
    pub(crate) process: Option<Pid>,
    /// Where `task:task_newtask` has the number of the new thread.
    pub(crate) new_task_pid: u32,
    /// Where it has the flags of clone(2).
    pub(crate) new_task_flags: u32,
    /// Where `sched:sched_process_free` has the number of the thread.
    pub(crate) freed_task_pid: u32,
    /// The number of the program, if there is one.
    pub program: Option<Pid>,
}

impl Watch {
    /// What a workload is of, whose program is this process.
    ///
    /// # Errors
    ///
    /// `skip` if this kernel or user cannot watch it.
    pub fn new(workload: &Workload, program: Option<Pid>) -> Result<Self, Report> {
        let process = program.filter(|_| !workload.everywhere);
        // Programs in the kernel see the numbers of the first namespace.
        let is_elsewhere =
            std::fs::read_link("/proc/self/ns/pid").is_ok_and(|link| link.as_os_str() != FIRST_PIDS);
        if process.is_some() && is_elsewhere {
            return Err(skip(
                "processes have other numbers in this container than in the kernel: use --everywhere",
            ));
        }
        let field = |system, event, name| tracefs::field(system, event, name).map_err(skip);
        Ok(Self {
            process,
            new_task_pid: field("task", "task_newtask", "pid")?,
            new_task_flags: field("task", "task_newtask", "clone_flags")?,
            freed_task_pid: field("sched", "sched_process_free", "pid")?,
            program,
        })
    }
}

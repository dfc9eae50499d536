//! What each thread had, from the counters of each CPU: a program of BPF reads them whenever a thread leaves it.

use aya::Pod;
use bpf::{Object, Watch, programs};
use harness::instrument::skip;
use harness::perf::{Number, online_cpus};
use protocol::Report;
use protocol::count::{CountRequest, EVENTS_MAX, Part};
use rustix::fd::AsFd;
use rustix::process::Pid;

use crate::counter::{Descriptor, Scope};

/// `struct task` of `bpf/counts.bpf.c`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct TaskKey {
    pid: u32,
    tid: u32,
}

// SAFETY: numbers, without anything between them.
unsafe impl Pod for TaskKey {}

/// `struct counts`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Counts {
    of: [u64; EVENTS_MAX],
}

// SAFETY: numbers, without anything between them.
unsafe impl Pod for Counts {}

/// The program in the kernel, and the counters that it reads.
#[derive(Debug)]
pub(crate) struct Switches {
    object: Object,
    /// They count as long as they are open.
    _counters: Vec<Descriptor>,
}

impl Switches {
    /// Counts these events, at most [`EVENTS_MAX`], for each part of the program that this process executes.
    ///
    /// # Errors
    ///
    /// `skip` if this kernel or user cannot, `broken` if the kernel refuses.
    pub(crate) fn begin(events: &[Number], request: &CountRequest, process: Pid) -> Result<Self, Report> {
        let watch = Watch::new(&request.workload, Some(process))?;
        let threads = u32::from(request.per == Some(Part::Thread));
        let count = u32::try_from(events.len()).unwrap_or(u32::MAX);
        let mut object = Object::load(programs::COUNTS, &watch, &[("events", count), ("threads", threads)])?;
        let mut counters = Vec::new();
        for cpu in online_cpus().map_err(skip)? {
            for (at, event) in events.iter().enumerate() {
                let counter = Descriptor::open(*event, Scope::Cpu(cpu), false)
                    .map_err(|error| skip(event.refusal(error)))?;
                object.set_counter(&format!("counters_{at}"), cpu, counter.as_fd())?;
                counters.push(counter);
            }
        }
        object.attach_raw("switched", "sched_switch")?;
        Ok(Self { object, _counters: counters })
    }

    /// The threads with their process, their number and what they have had of each event; of processes the first thread has it all.
    ///
    /// # Errors
    ///
    /// `broken` if the kernel does not tell.
    pub(crate) fn tasks(&self) -> Result<Vec<(u32, u32, Vec<u64>)>, Report> {
        let sum = |all: &[Counts], at: usize| all.iter().map(|one| one.of[at]).fold(0, u64::saturating_add);
        let counts = |(key, all): (TaskKey, Vec<Counts>)| {
            (key.pid, key.tid, (0..EVENTS_MAX).map(|at| sum(&all, at)).collect())
        };
        Ok(self.object.elements("tasks")?.into_iter().map(counts).collect())
    }

    /// Switches of tasks for which there was no room.
    ///
    /// # Errors
    ///
    /// `broken` if the kernel does not tell.
    pub(crate) fn lost(&self) -> Result<u64, Report> {
        self.object.lost()
    }
}

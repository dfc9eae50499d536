//! What clones of a machine go on with.

use std::fs::File;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use protocol::{Decoder, Encoder};
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde::{Deserialize, Serialize};

use super::{Vmm, launch};

/// What a clone needs beside its memory.
#[derive(Debug)]
pub(crate) struct Frozen {
    /// The state of the devices.
    pub(crate) state: File,
    pub(crate) frames: Frames,
}

/// Frames that went over the control port so far.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Frames {
    /// From the agent.
    pub(crate) received: u64,
    /// To the agent.
    pub(crate) sent: u64,
}

impl Vmm {
    /// A clone of a machine whose conversation had come so far.
    pub(crate) fn cloned(self, frames: Frames) -> Self {
        Self { is_clone: true, ..self.after(frames) }
    }

    /// The same machine with a conversation that has come so far.
    pub(super) fn after(self, frames: Frames) -> Self {
        Self { decoder: Decoder::after(frames.received), encoder: Encoder::after(frames.sent), ..self }
    }

    /// Where the program's own thread and the processor of its guest want to go on at the same moment, the guest does:
    /// they share one CPU of the host, which an idle thread takes from nobody. What the host does not allow is left.
    pub(crate) fn let_guest_go_first(&self) {
        let id = self.process.id;
        let threads = std::fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
        let threads = threads.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let one = next_cpu();
        for thread in threads.filter_map(Pid::from_raw) {
            let _ = one.map(|one| sched_setaffinity(Some(thread), &one));
        }
        let idle = libc::sched_param { sched_priority: 0 };
        // SAFETY: sets the policy of one thread; the structure outlives the call.
        unsafe { libc::sched_setscheduler(id.cast_signed(), libc::SCHED_IDLE, &raw const idle) };
    }

    /// Why it cannot be cloned, as far as is known at its start.
    pub(crate) fn blocks_clones(&mut self) -> Option<String> {
        self.driver.blocks_clones()
    }

    /// Stops the machine; gives what a clone needs beside its memory.
    pub(crate) fn freeze(&mut self) -> Result<Frozen, String> {
        let state = launch::in_memory("state", &[]).map_err(|error| error.to_string())?;
        self.driver.save(state.as_fd())?;
        let frames = Frames { received: self.decoder.frames(), sent: self.encoder.frames() };
        Ok(Frozen { state: state.into(), frames })
    }

    /// Whether a clone has gone on where its template stopped; waits for it until `deadline`.
    pub(crate) fn runs_by(&mut self, deadline: Instant) -> Result<bool, String> {
        self.driver.runs_by(deadline)
    }

    /// Has a clone go on whose template had stopped itself.
    pub(crate) fn resume(&mut self, deadline: Instant) -> Result<(), String> {
        self.driver.resume(deadline)
    }
}

/// The CPUs of this host in turns, so that machines which are made ready at the same time do not share one.
fn next_cpu() -> Option<CpuSet> {
    static TURN: AtomicUsize = AtomicUsize::new(0);
    let allowed = sched_getaffinity(None).ok()?;
    let turn = TURN.fetch_add(1, Ordering::Relaxed) % (allowed.count() as usize).max(1);
    let cpu = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).nth(turn)?;
    let mut one = CpuSet::new();
    one.set(cpu);
    Some(one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_machine_is_given_another_cpu() {
        let allowed = sched_getaffinity(None).unwrap();
        let (first, second) = (next_cpu().unwrap(), next_cpu().unwrap());
        assert_eq!((first.count(), second.count()), (1, 1));
        let is_allowed =
            |one: &CpuSet| (0..CpuSet::MAX_CPU).all(|cpu| !one.is_set(cpu) || allowed.is_set(cpu));
        assert!(is_allowed(&first) && is_allowed(&second));
        assert_eq!(first == second, allowed.count() == 1);
    }
}

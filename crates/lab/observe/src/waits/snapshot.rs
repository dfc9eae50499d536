//! What all processes have that others may wait for.

use std::collections::{HashMap, HashSet};
use std::fs::File;

use super::lock::{self, Entry};
use super::pipe::{self, Pipes};
use super::syscall::{self, Syscall};
use super::{Reason, Wait, child, futex};
use crate::process;

/// What all processes have that others may wait for.
pub(super) struct Snapshot {
    threads: HashMap<i32, Vec<i32>>,
    children: HashMap<i32, Vec<i32>>,
    pipes: Pipes,
    locks: Vec<Entry>,
    /// How often each thread had blocked before anything else was read.
    switches: HashMap<i32, u64>,
}

impl Snapshot {
    /// Reads `/proc`.
    pub(super) fn take() -> Self {
        let (mut threads, mut children) = (HashMap::new(), HashMap::<i32, Vec<i32>>::new());
        let (mut pipes, mut switches) = (Pipes::default(), HashMap::new());
        for process in process::all() {
            let Ok(of_process) = process::threads(process) else { continue };
            for &thread in &of_process {
                switches.extend(process::switches(thread).map(|count| (thread, count)));
            }
            threads.insert(process, of_process);
            if let Some(status) = process::status(process) {
                children.entry(status.ppid).or_default().push(process);
            }
        }
        threads.keys().for_each(|&process| pipes.add(process));
        Self { threads, children, pipes, locks: lock::all(), switches }
    }

    /// All threads, with their processes.
    pub(super) fn threads(&self) -> impl Iterator<Item = (i32, i32)> {
        self.threads
            .iter()
            .flat_map(|(&process, threads)| threads.iter().map(move |&thread| (process, thread)))
    }

    /// What a thread waits for; nothing if it is not known who has to do something.
    pub(super) fn wait(&self, process: i32, thread: i32) -> Option<Wait> {
        let switches = *self.switches.get(&thread)?;
        let call = syscall::blocked_in(process, thread)?;
        let (reason, targets) = self.reason(process, &call)?;
        let comm = std::fs::read_to_string(format!("/proc/{process}/task/{thread}/comm")).ok()?;
        Some(Wait { process, thread, comm: comm.trim_end().to_owned(), reason, targets, switches })
    }

    fn reason(&self, process: i32, call: &Syscall) -> Option<(Reason, Vec<i32>)> {
        let descriptor = call.arguments[0];
        let of_pipe = || pipe::of_descriptor(process, descriptor);
        match call.number {
            libc::SYS_futex => self.futex(process, call),
            libc::SYS_read | libc::SYS_readv => {
                let pipe = of_pipe()?;
                Some((Reason::Writer(pipe.1), self.threads_of(self.pipes.writers(pipe))))
            }
            libc::SYS_write | libc::SYS_writev => {
                let pipe = of_pipe()?;
                Some((Reason::Reader(pipe.1), self.threads_of(self.pipes.readers(pipe))))
            }
            libc::SYS_flock | libc::SYS_fcntl => {
                let (lock, holder) = lock::awaited(&self.locks, process)?;
                // The process that took it may be gone, and its children have it.
                self.threads.get(&holder).map(|threads| (Reason::FileLock(lock), threads.clone()))
            }
            _ => {
                let (reason, children) = child::awaited(call, process, &self.children)?;
                Some((reason, self.threads_of(&children)))
            }
        }
    }

    fn futex(&self, process: i32, call: &Syscall) -> Option<(Reason, Vec<i32>)> {
        let memory = File::open(format!("/proc/{process}/mem")).ok()?;
        let own = self.threads.get(&process)?;
        let is_thread = |thread: i32, is_private: bool| {
            if is_private { own.contains(&thread) } else { self.switches.contains_key(&thread) }
        };
        futex::decode(call, &memory, is_thread).map(|(reason, thread)| (reason, vec![thread]))
    }

    /// Each thread once.
    fn threads_of(&self, processes: &[i32]) -> Vec<i32> {
        let processes: HashSet<_> = processes.iter().collect();
        let mut threads: Vec<_> = processes
            .into_iter()
            .filter_map(|process| self.threads.get(process))
            .flatten()
            .copied()
            .collect();
        threads.sort_unstable();
        threads
    }
}

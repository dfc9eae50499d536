//! What is mapped into each process, and what its threads are called.

use std::collections::HashMap;

use harness::perf::{Mapping, Record};
use rustix::process::Pid;
use unwind::{AddressSpace, Image, Library};

/// Processes that are known at a time at most; with more, all are forgotten, and read again from those that live.
const PROCESSES_MAX: usize = 65_536;

/// Bytes of a name at most: `TASK_COMM_LEN` and more.
const NAME_MAX: usize = 64;

/// A process.
#[derive(Debug, Default)]
struct Process {
    name: String,
    space: AddressSpace,
    /// Names of threads that have others than the process.
    threads: HashMap<u32, String>,
}

/// All processes.
#[derive(Debug, Default)]
pub(crate) struct Processes {
    all: HashMap<u32, Process>,
    library: Library,
}

impl Processes {
    /// The file of a mapping, read at once: its process may end soon.
    pub(crate) fn image(&mut self, mapping: &Mapping) -> Option<Image> {
        let Mapping { pid, path, addresses, offset } = mapping;
        Image::mapped(pid.cast_signed(), path, addresses.clone(), *offset, &mut self.library)
    }

    /// Takes in a process that runs already with these threads.
    pub(crate) fn know(&mut self, pid: u32, threads: &[Pid]) {
        let process = self.process(pid);
        for thread in threads.iter().map(|thread| thread.as_raw_nonzero().get().unsigned_abs()) {
            let name = comm(&format!("{pid}/task/{thread}")).filter(|name| *name != process.name);
            process.threads.extend(name.map(|name| (thread, name)));
        }
    }

    /// Takes in what was mapped into a process.
    pub(crate) fn map(&mut self, pid: u32, image: Image) {
        self.process(pid).space.map(image);
    }

    /// Takes in what happened to a process.
    pub(crate) fn take(&mut self, record: Record) {
        match record {
            Record::Name { pid, tid, mut name, is_executed } => {
                name.truncate(name.floor_char_boundary(NAME_MAX));
                if is_executed {
                    let process = Process { name, ..Process::default() };
                    self.all.insert(pid, process);
                } else if pid == tid {
                    self.process(pid).name = name;
                } else {
                    self.process(pid).threads.insert(tid, name);
                }
            }
            Record::Fork { pid, parent, .. } if pid != parent => {
                let parent = self.process(parent);
                let (name, space) = (parent.name.clone(), parent.space.clone());
                self.all.insert(pid, Process { name, space, threads: HashMap::new() });
            }
            // Its other threads may live on without the first.
            Record::Exit { pid, tid } if pid == tid && self.is_gone(pid) => {
                self.all.remove(&pid);
            }
            Record::Exit { pid, tid } => {
                if let Some(process) = self.all.get_mut(&pid) {
                    process.threads.remove(&tid);
                }
            }
            _ => {}
        }
    }

    fn is_gone(&self, pid: u32) -> bool {
        self.all.get(&pid).is_some_and(|process| process.threads.is_empty())
    }

    /// The code of a process, and what a thread of it is called.
    pub(crate) fn of_thread(&mut self, pid: u32, tid: u32) -> (&mut AddressSpace, &str) {
        let Process { name, space, threads } = self.process(pid);
        (space, threads.get(&tid).unwrap_or(name))
    }

    /// A process; what can be read of it if nothing has been heard of it.
    fn process(&mut self, pid: u32) -> &mut Process {
        if self.all.len() >= PROCESSES_MAX && !self.all.contains_key(&pid) {
            self.all.clear();
        }
        let library = &mut self.library;
        self.all.entry(pid).or_insert_with(|| Process {
            name: comm(&pid.to_string()).unwrap_or_else(|| if pid == 0 { "swapper" } else { "?" }.to_owned()),
            space: AddressSpace::of_process(pid.cast_signed(), library),
            threads: HashMap::new(),
        })
    }
}

/// What a process or a thread is called, if it is there.
fn comm(of: &str) -> Option<String> {
    Some(std::fs::read_to_string(format!("/proc/{of}/comm")).ok()?.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(pid: u32, tid: u32, name: &str, is_executed: bool) -> Record {
        Record::Name { pid, tid, name: name.to_owned(), is_executed }
    }

    #[test]
    fn threads_are_called_as_they_say_or_as_their_process() {
        let mut processes = Processes::default();
        // No process has such a number.
        let (first, second) = (u32::MAX - 9, u32::MAX - 8);
        processes.take(name(first, first, "make", true));
        processes.take(Record::Fork { pid: second, parent: first, tid: second });
        assert_eq!(processes.of_thread(second, second).1, "make");
        processes.take(name(second, second, "cc1", true));
        processes.take(name(second, 7, "worker", false));
        assert_eq!(processes.of_thread(second, 7).1, "worker");
        assert_eq!(processes.of_thread(second, 8).1, "cc1");
        processes.take(Record::Exit { pid: second, tid: 7 });
        assert_eq!(processes.of_thread(second, 7).1, "cc1");
        processes.take(Record::Exit { pid: second, tid: second });
        assert_eq!(processes.of_thread(second, second).1, "?");
    }

    #[test]
    fn a_process_that_was_there_before_is_read() {
        let mut processes = Processes::default();
        let this = std::process::id();
        let (space, name) = processes.of_thread(this, this);
        assert!(format!("{space:?}").contains("sample"), "{space:?}");
        assert!(!name.is_empty() && name != "?");
    }

    #[test]
    fn threads_that_were_there_before_are_called_as_they_are() {
        let (told, wait) = std::sync::mpsc::channel::<()>();
        let (tells, id) = std::sync::mpsc::channel();
        let work = move || {
            tells.send(rustix::thread::gettid()).expect("it is heard");
            wait.recv()
        };
        let thread = std::thread::Builder::new().name("worker".to_owned()).spawn(work).expect("it starts");
        let (this, id) = (std::process::id(), id.recv().expect("it runs"));
        let mut processes = Processes::default();
        processes.know(this, &[rustix::process::getpid(), id]);
        let number = id.as_raw_nonzero().get().unsigned_abs();
        assert_eq!(processes.of_thread(this, number).1, "worker");
        assert_ne!(processes.of_thread(this, this).1, "worker");
        drop(told);
        assert!(thread.join().expect("it ends").is_err());
    }
}

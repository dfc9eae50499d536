//! An event, as the kernel counts it: perf_event_open(2).

use harness::perf::flags::{COMM, DISABLED, ENABLE_ON_EXEC, INHERIT, INHERIT_STAT, TASK};
use harness::perf::{self, Attributes, Number};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::process::Pid;

/// `PERF_FORMAT_TOTAL_TIME_ENABLED`, `PERF_FORMAT_TOTAL_TIME_RUNNING` and `PERF_FORMAT_ID`.
const READ_FORMAT: u64 = 1 | 2 | 4;

/// Whose events are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Those of the program that a process executes next, and of all that it starts.
    Program(Pid),
    /// The same on one CPU, and each thread but the first is reported when it ends.
    Threads(Pid, u32),
    /// Those of a thread that runs already, and of all that it starts from now on.
    Running(Pid),
    /// Those of a process alone.
    Alone(Pid),
    /// All on one CPU, from now on.
    Cpu(u32),
}

/// A value of a counter, or the sum of several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) count: u64,
    pub(crate) enabled_ns: u64,
    pub(crate) running_ns: u64,
}

/// An event that is counted.
#[derive(Debug)]
pub(crate) struct Descriptor {
    file: OwnedFd,
    /// By which records name it.
    pub(crate) id: u64,
}

impl Descriptor {
    /// Begins to count. `tells` has the kernel tell of processes, too, that begin, end and change their names.
    ///
    /// # Errors
    ///
    /// As perf_event_open(2) says; `ESRCH` of a thread that has ended, also if others of its process have not.
    pub(crate) fn open(number: Number, scope: Scope, tells: bool) -> Result<Self, Errno> {
        let told = if tells { COMM | TASK } else { 0 };
        let of_program = DISABLED | INHERIT | ENABLE_ON_EXEC;
        let (process, cpu, flags) = match scope {
            Scope::Program(process) => (Some(process), None, of_program),
            Scope::Threads(process, cpu) => (Some(process), Some(cpu), of_program | INHERIT_STAT | told),
            Scope::Running(thread) => (Some(thread), None, INHERIT),
            Scope::Alone(process) => (Some(process), None, DISABLED),
            Scope::Cpu(cpu) => (None, Some(cpu), 0),
        };
        let process = process.map(|process: Pid| process.as_raw_nonzero().get().unsigned_abs());
        let attributes = Attributes { read_format: READ_FORMAT, flags, ..number.attributes() };
        let file = perf::open(attributes, process, cpu)?;
        let [_, _, _, id] = read(&file)?;
        Ok(Self { file, id })
    }

    /// What it has come to.
    ///
    /// # Errors
    ///
    /// As read(2) says.
    pub(crate) fn value(&self) -> Result<Value, Errno> {
        let [count, enabled_ns, running_ns, _] = read(&self.file)?;
        Ok(Value { count, enabled_ns, running_ns })
    }
}

impl AsFd for Descriptor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Value {
    /// The sum for a thread that has a counter on each of so many CPUs: all of them are enabled while it runs on one.
    pub(crate) fn of_one_thread(self, cpus: usize) -> Self {
        let enabled_ns = self.enabled_ns / (cpus.max(1) as u64);
        let is_whole = enabled_ns.saturating_sub(self.running_ns) <= enabled_ns / 1000;
        Self { enabled_ns: if is_whole { self.running_ns } else { enabled_ns }, ..self }
    }
}

impl std::iter::Sum for Value {
    fn sum<I: Iterator<Item = Self>>(values: I) -> Self {
        values.fold(Self::default(), |sum, value| Self {
            count: sum.count.saturating_add(value.count),
            enabled_ns: sum.enabled_ns.saturating_add(value.enabled_ns),
            running_ns: sum.running_ns.saturating_add(value.running_ns),
        })
    }
}

/// The words that a counter reads as.
fn read(file: &OwnedFd) -> Result<[u64; 4], Errno> {
    let mut bytes = [0; 32];
    if rustix::io::read(file, &mut bytes)? != bytes.len() {
        return Err(Errno::IO);
    }
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        *word = u64::from_ne_bytes(bytes.try_into().unwrap_or_default());
    }
    Ok(words)
}

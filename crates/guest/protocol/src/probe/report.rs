//! What a tool has found.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{ProbeRequest, Tool};

/// Opened files at most: later ones are only counted.
pub const OPENS_MAX: usize = 16_384;

/// Rows of a table at most.
pub const ROWS_MAX: usize = 16_384;

/// Bytes that a script may print.
pub const OUTPUT_MAX: usize = 4 << 20;

/// Bytes of a name or a path at most.
const TEXT_MAX: usize = 1024;

/// What was found so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ProbeReport {
    /// What was asked.
    pub request: ProbeRequest,
    /// How long the tool looked, in nanoseconds.
    pub elapsed_ns: u64,
    /// The exit status of the command; none while it runs, without one, and if a signal ended it.
    pub status: Option<u8>,
    /// The signal that ended the command.
    pub signal: Option<u8>,
    /// What was found.
    pub found: Found,
    /// What this kernel cannot tell.
    pub missing: Vec<Missing>,
    /// Events and rows for which there was no room: they are in nothing else here.
    pub lost: u64,
}

/// What each tool finds. Tables have the rows with the largest numbers first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Found {
    /// By `cachetop`.
    PageCache(Vec<PageCache>),
    /// By `forks`.
    Programs(Vec<Programs>),
    /// By `funccount`: all functions that the patterns name, those that were not called, too.
    Functions(Vec<Function>),
    /// By `klockstat`.
    Locks(Vec<LockWaits>),
    /// By `opensnoop`.
    Opens {
        /// In the order of time: the first [`OPENS_MAX`], or while it grows the last ones.
        opens: Vec<Open>,
        /// Others, which are not in it.
        omitted: u64,
    },
    /// By `slabratetop`.
    Slabs(Vec<Slab>),
    /// By a script.
    Output {
        /// What it has printed, up to [`OUTPUT_MAX`] bytes; while it grows the end of that.
        text: String,
        /// Other bytes that it has printed.
        omitted: u64,
    },
}

/// What this kernel cannot tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// What.
    pub what: String,
    /// Why, in a line.
    pub why: String,
}

/// How a process uses the page cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct PageCache {
    /// Its number.
    pub pid: u32,
    /// Its name.
    pub name: String,
    /// Pages that it used: `folio_mark_accessed`.
    pub accessed: u64,
    /// Pages that were added to the cache.
    pub added: u64,
    /// Pages that it made dirty.
    pub dirtied: u64,
    /// Buffers of metadata that it made dirty: `mark_buffer_dirty`.
    pub buffers_dirtied: u64,
}

/// What the processes with one name did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Programs {
    /// The name.
    pub name: String,
    /// Processes that they made.
    pub processes: u64,
    /// Threads that they made.
    pub threads: u64,
    /// How often one has executed a program and has this name since.
    pub executed: u64,
    /// Their threads that have ended, the first one of each process too.
    pub ended: u64,
}

/// How often a function was called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The module that it is in.
    pub module: Option<String>,
    /// How often.
    pub calls: u64,
}

/// What kind a lock of the kernel is of, as Documentation/locking/locktypes.rst calls them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LockKind {
    /// A mutex, whether it was spun or slept for.
    Mutex,
    /// A semaphore for readers and a writer that each CPU has for itself.
    PercpuRwsem,
    /// A mutex with priority inheritance; in PREEMPT_RT other locks are, too.
    RtMutex,
    /// A spin lock for readers and a writer.
    Rwlock,
    /// A semaphore for readers and a writer.
    Rwsem,
    /// A counting semaphore.
    Semaphore,
    /// A spin lock.
    Spinlock,
}

/// How long locks were waited for: those with this name, if they have one, by this function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct LockWaits {
    /// What kind they are of.
    pub kind: LockKind,
    /// The variable that is the lock, or in which it is; none for locks in other memory.
    pub lock: Option<String>,
    /// The function that waited; `?` if the kernel could not tell.
    pub caller: String,
    /// How often it waited.
    pub waits: u64,
    /// How long in all, in nanoseconds.
    pub total_ns: u64,
    /// The longest time.
    pub longest_ns: u64,
}

/// A file that was opened, or could not be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Open {
    /// When the call began, in nanoseconds since the tool began.
    pub time_ns: u64,
    /// How long the call took.
    pub elapsed_ns: u64,
    /// The process.
    pub pid: u32,
    /// Its thread.
    pub tid: u32,
    /// The name of the thread.
    pub name: String,
    /// The descriptor, or the error as a negative number.
    pub result: i32,
    /// The name of the error.
    pub error: Option<String>,
    /// The path as the program gave it, up to its first 255 bytes.
    pub path: String,
}

/// What was allocated from a cache of the slab allocator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slab {
    /// The cache, as /proc/slabinfo calls it, up to its first 31 bytes; `kmalloc-64` for what kmalloc gave, by its size.
    pub cache: String,
    /// Objects.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// No instrument has reported this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the instrument has sent a report that cannot be: {0}")]
pub struct WrongReport(&'static str);

impl ProbeReport {
    /// Whether an instrument can have reported this.
    ///
    /// # Errors
    ///
    /// What cannot be.
    pub fn validate(&self) -> Result<(), WrongReport> {
        let is_long = |text: &str| text.len() > TEXT_MAX;
        let wrong = [
            (self.request.validate().is_err(), "its request"),
            (!self.found.is_of(&self.request.tool), "what another tool finds"),
            (self.found.rows() > self.found.rows_max(), "so many rows"),
            (self.found.texts().iter().any(|text| is_long(text)), "a name"),
            (self.missing.len() > ROWS_MAX, "so much that is missing"),
            (self.missing.iter().any(|one| is_long(&one.what) || is_long(&one.why)), "what is missing"),
        ];
        wrong.iter().find(|(is_wrong, _)| *is_wrong).map_or(Ok(()), |(_, what)| Err(WrongReport(what)))
    }
}

impl PageCache {
    /// Which share of the pages that it read was there already: an estimate, since the kernel counts neither. Of what it used, pages of metadata
    /// are no reads; of what was added, pages that it wrote were not missing.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub fn hits(&self) -> Option<f64> {
        let used = self.accessed.saturating_sub(self.buffers_dirtied);
        let missing = self.added.saturating_sub(self.dirtied).min(used);
        (used > 0).then(|| (used - missing) as f64 / used as f64)
    }
}

impl Found {
    /// Whether this is what a tool finds.
    fn is_of(&self, tool: &Tool) -> bool {
        matches!(
            (self, tool),
            (Self::PageCache(_), Tool::Cachetop)
                | (Self::Programs(_), Tool::Forks)
                | (Self::Functions(_), Tool::Funccount { .. })
                | (Self::Locks(_), Tool::Klockstat)
                | (Self::Opens { .. }, Tool::Opensnoop { .. })
                | (Self::Slabs(_), Tool::Slabratetop)
                | (Self::Output { .. }, Tool::Bpftrace { .. })
        )
    }

    /// Rows of its table; bytes of an output.
    fn rows(&self) -> usize {
        match self {
            Self::PageCache(rows) => rows.len(),
            Self::Programs(rows) => rows.len(),
            Self::Functions(rows) => rows.len(),
            Self::Locks(rows) => rows.len(),
            Self::Opens { opens, .. } => opens.len(),
            Self::Slabs(rows) => rows.len(),
            Self::Output { text, .. } => text.len(),
        }
    }

    fn rows_max(&self) -> usize {
        match self {
            Self::Opens { .. } => OPENS_MAX,
            Self::Output { .. } => OUTPUT_MAX,
            _ => ROWS_MAX,
        }
    }

    /// The names in it.
    fn texts(&self) -> Vec<&str> {
        match self {
            Self::PageCache(rows) => rows.iter().map(|row| row.name.as_str()).collect(),
            Self::Programs(rows) => rows.iter().map(|row| row.name.as_str()).collect(),
            Self::Functions(rows) => rows
                .iter()
                .flat_map(|row| [Some(row.name.as_str()), row.module.as_deref()])
                .flatten()
                .collect(),
            Self::Locks(rows) => rows
                .iter()
                .flat_map(|row| [row.lock.as_deref().unwrap_or_default(), row.caller.as_str()])
                .collect(),
            Self::Opens { opens, .. } => opens
                .iter()
                .flat_map(|one| {
                    [one.name.as_str(), one.path.as_str(), one.error.as_deref().unwrap_or_default()]
                })
                .collect(),
            Self::Slabs(rows) => rows.iter().map(|row| row.cache.as_str()).collect(),
            Self::Output { .. } => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Workload;

    fn report(tool: Tool, found: Found) -> ProbeReport {
        let workload = Workload { command: vec!["true".to_owned()], ..Workload::default() };
        ProbeReport {
            request: ProbeRequest { tool, workload },
            elapsed_ns: 1,
            status: Some(0),
            signal: None,
            found,
            missing: Vec::new(),
            lost: 0,
        }
    }

    fn function(name: &str) -> Function {
        Function { name: name.to_owned(), module: Some("ext4".to_owned()), calls: 1 }
    }

    #[test]
    fn hits_are_what_was_there_already() {
        let hits = |accessed, added, dirtied, buffers_dirtied| {
            PageCache { pid: 1, name: String::new(), accessed, added, dirtied, buffers_dirtied }.hits()
        };
        assert_eq!(
            [hits(100, 25, 0, 0), hits(100, 60, 50, 20), hits(10, 99, 0, 0)],
            [Some(0.75), Some(0.875), Some(0.0)]
        );
        assert_eq!([hits(0, 5, 0, 0), hits(5, 0, 0, 5)], [None, None]);
    }

    #[test]
    fn what_no_instrument_reports_is_refused() {
        let funccount = || Tool::Funccount { patterns: vec!["vfs_*".to_owned()] };
        let good = report(funccount(), Found::Functions(vec![function("vfs_read")]));
        assert_eq!(good.validate(), Ok(()));
        let wrong = |report: ProbeReport| report.validate().expect_err("it is wrong").0;
        assert_eq!(wrong(report(Tool::Forks, good.found.clone())), "what another tool finds");
        let long = Found::Functions(vec![function(&"x".repeat(TEXT_MAX + 1))]);
        assert_eq!(wrong(report(funccount(), long)), "a name");
        let many = Found::Functions(vec![function("x"); ROWS_MAX + 1]);
        assert_eq!(wrong(report(funccount(), many)), "so many rows");
        let script = Tool::Bpftrace { script: "BEGIN".to_owned(), json: false };
        let output = |length| Found::Output { text: "x".repeat(length), omitted: 0 };
        assert_eq!(report(script.clone(), output(OUTPUT_MAX)).validate(), Ok(()));
        assert_eq!(wrong(report(script, output(OUTPUT_MAX + 1))), "so many rows");
        let why = Missing { what: "x".to_owned(), why: "x".repeat(TEXT_MAX + 1) };
        assert_eq!(wrong(ProbeReport { missing: vec![why], ..good }), "what is missing");
    }
}

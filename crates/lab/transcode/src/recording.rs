//! What comes through a ring becomes a trace.

use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ctf::{Error, Metadata};
use ftrace::{Format, Layout};
use protocol::trace::ring::Kind;
use protocol::trace::{Alignment, CpuCounts, Entry};
use protocol::{Report, ReportKind};

use crate::clock::Clock;
use crate::marks::Marks;
use crate::transcoder::{Counts, Transcoder};

/// What the environment of a trace calls the error of its time of day.
pub const CLOCK_ERROR: &str = "clock_error_ns";

/// What it calls whose time of day that is, if not that of the recorded machine.
pub const CLOCK_OF: &str = "clock_of";

/// Entries that are noted at most.
const NOTES_MAX: usize = 1000;

/// What is known of a recording.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Where the trace is; nothing if nothing was recorded.
    pub folder: Option<PathBuf>,
    /// `uname -r` of the kernel.
    pub release: String,
    /// Where the clock of the trace stands; nothing if nothing was recorded.
    pub clock: Option<Clock>,
    /// What became of the events that came.
    pub counts: Counts,
    /// What the kernel says of each CPU; nothing if the machine ended first.
    pub cpus: Option<Vec<CpuCounts>>,
    /// Events that were asked for and are not recorded, and why.
    pub missing: Vec<(String, String)>,
    /// Events are recorded.
    pub is_recording: bool,
    /// The file to which programs write marks meanwhile.
    pub marker: String,
    /// The event has happened that ends the recording.
    pub has_happened: bool,
    /// Why nothing is recorded.
    pub refused: Option<Report>,
    /// Entries that could not be read.
    pub unreadable: u64,
}

impl Summary {
    /// Events that are not in the trace, by what the kernel says of its CPUs, or else by what its pages say.
    #[must_use]
    pub fn lost(&self) -> u64 {
        let by_pages = self.counts.lost.saturating_add(self.counts.gaps);
        let by_cpus = self.cpus.iter().flatten().fold(0, |lost: u64, cpu| lost.saturating_add(cpu.lost()));
        by_pages.max(by_cpus)
    }

    /// Nothing more comes.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.cpus.is_some() || self.refused.is_some()
    }
}

/// A recording that becomes a trace.
#[derive(Debug)]
pub struct Recording {
    folder: PathBuf,
    /// Only what is at most so many nanoseconds before the end is kept.
    tail: Option<u64>,
    trace: Option<(Transcoder, Marks)>,
    /// What there is to know of the trace before its events.
    metadata: Metadata,
    summary: Summary,
}

impl Recording {
    /// One whose trace becomes this folder, which must not be there: all of it, or what is at most some time before the end, and a
    /// little more.
    #[must_use]
    pub fn new(folder: &Path, tail: Option<Duration>) -> Self {
        let tail = tail.map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        let (metadata, summary) = (Metadata::default(), Summary::default());
        Self { folder: folder.to_owned(), tail, trace: None, metadata, summary }
    }

    /// What is known of it so far.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Adds a block.
    ///
    /// # Errors
    ///
    /// When the trace cannot be written.
    pub fn block(&mut self, kind: Kind, bytes: &[u8]) -> Result<(), Error> {
        match (kind, &mut self.trace) {
            (Kind::Gap, _) => Ok(()),
            (Kind::Page { cpu }, Some((transcoder, _))) => transcoder.page(cpu, bytes),
            (Kind::Entry, _) => match Entry::decode(bytes) {
                Ok(entry) => self.entry(entry),
                Err(_) => self.unreadable(),
            },
            (Kind::Page { .. }, None) => self.unreadable(),
        }
    }

    /// What follows cannot be read.
    pub(crate) fn is_damaged(&mut self) {
        self.summary.unreadable = self.summary.unreadable.saturating_add(1);
    }

    fn unreadable(&mut self) -> Result<(), Error> {
        self.is_damaged();
        Ok(())
    }

    fn entry(&mut self, entry: Entry) -> Result<(), Error> {
        match (entry, &mut self.trace) {
            (began @ Entry::Began { .. }, None) => self.begin(began),
            (Entry::Format { system, text }, Some((transcoder, _))) => match Format::parse(&text) {
                Ok(format) => transcoder.event(&system, &format),
                Err(_) => self.unreadable(),
            },
            (Entry::Found(found), Some((_, marks))) => marks.found(&found),
            (Entry::Missing { event, why }, _) => {
                if self.summary.missing.len() < NOTES_MAX {
                    self.summary.missing.push((event, why));
                }
                Ok(())
            }
            (Entry::Recording { marker }, _) => {
                self.summary.is_recording = true;
                self.summary.marker = marker;
                Ok(())
            }
            (Entry::Refused { is_lacking, why }, _) => {
                let kind = if is_lacking { ReportKind::Skip } else { ReportKind::Broken };
                self.summary.refused = Some(Report { kind, text: why });
                Ok(())
            }
            (Entry::Happened, _) => {
                self.summary.has_happened = true;
                Ok(())
            }
            (Entry::Ended { cpus, alignment }, _) => {
                self.summary.cpus = Some(cpus);
                alignment.map_or(Ok(()), |end| self.align(end))
            }
            _ => self.unreadable(),
        }
    }

    fn begin(&mut self, began: Entry) -> Result<(), Error> {
        let Entry::Began {
            release,
            hostname,
            header_page,
            monotonic_ns,
            realtime_ns,
            error_ns,
            alignment,
            without,
        } = began
        else {
            return self.unreadable();
        };
        let Ok(layout) = Layout::parse(&header_page) else { return self.unreadable() };
        let environment = [("hostname", hostname), ("release", release.clone())];
        let environment = environment.map(|(name, value)| (name.to_owned(), value)).into();
        self.metadata =
            Metadata { uuid: uuid(), environment, classes: Marks::classes(), ..Metadata::default() };
        let own = Clock::own(Alignment { monotonic_ns, realtime_ns, error_ns });
        self.clock_is(alignment.map_or(own, Clock::aligned));
        let transcoder = Transcoder::create(&self.folder, &self.metadata, layout)?;
        let transcoder = transcoder.with_tail(self.tail).without(without);
        let marks = Marks::new(&transcoder, monotonic_ns)?;
        self.trace = Some((transcoder, marks));
        (self.summary.folder, self.summary.release) = (Some(self.folder.clone()), release);
        Ok(())
    }

    fn clock_is(&mut self, clock: Clock) {
        self.metadata.offset = clock.offset;
        let environment = &mut self.metadata.environment;
        environment.insert(CLOCK_ERROR.to_owned(), clock.error_ns.to_string());
        if clock.is_aligned {
            environment.insert(CLOCK_OF.to_owned(), "host".to_owned());
        }
        self.summary.clock = Some(clock);
    }

    /// The clock at the end.
    fn align(&mut self, end: Alignment) -> Result<(), Error> {
        if let Some(clock) = self.summary.clock.filter(|clock| clock.is_aligned) {
            self.clock_is(clock.with_end(end));
        }
        self.trace.as_ref().map_or(Ok(()), |(transcoder, _)| transcoder.rewrite(&self.metadata))
    }

    /// Writes what there is; with a step, that kiln did this behind the last event.
    ///
    /// # Errors
    ///
    /// When the trace cannot be written.
    pub fn finish(self, step: Option<&str>) -> Result<Summary, Error> {
        let mut summary = self.summary;
        if let Some((transcoder, mut marks)) = self.trace {
            step.map_or(Ok(()), |step| marks.step(transcoder.latest(), step))?;
            marks.finish()?;
            summary.counts = transcoder.finish()?;
        }
        Ok(summary)
    }
}

/// A number that no other trace has: each hasher of the standard library has keys of its own.
fn uuid() -> [u8; 16] {
    let halves = [0_u8, 1].map(|half| RandomState::new().hash_one(half));
    let mut uuid = [0; 16];
    uuid[..8].copy_from_slice(&halves[0].to_le_bytes());
    uuid[8..].copy_from_slice(&halves[1].to_le_bytes());
    uuid
}

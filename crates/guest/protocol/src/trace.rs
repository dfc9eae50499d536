//! What the instrument `trace` is asked, and what it records.
//!
//! * [`choice`]: which events; [`found`]: what is there already when a recording begins
//! * [`ring`]: the memory through which a recording reaches the host

pub mod choice;
pub mod found;
pub mod ring;

use serde::{Deserialize, Serialize};

pub use choice::{Choice, WrongChoice};
pub use found::Found;

/// The variable that names the file whose memory is the [`ring`].
pub const RING_VARIABLE: &str = "KILN_TRACE_RING";

/// The least that the kernel has for each CPU, in KiB.
pub const BUFFER_KIB_MIN: u32 = 8;

/// The most, in KiB: a machine has not much more memory.
pub const BUFFER_KIB_MAX: u32 = 1 << 20;

/// What is recorded if nobody says anything else, separated by commas.
pub const EVENTS: &str = "sched,irq,syscalls";

/// What the kernel has for a CPU, if it can have that.
///
/// # Errors
///
/// What it can have.
pub fn buffer_kib(kib: u64) -> Result<u32, String> {
    let kib = u32::try_from(kib).ok().filter(|kib| (BUFFER_KIB_MIN..=BUFFER_KIB_MAX).contains(kib));
    kib.ok_or_else(|| format!("a buffer has from {BUFFER_KIB_MIN} KiB to {} MiB", BUFFER_KIB_MAX >> 10))
}

/// The argument of the instrument.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TraceRequest {
    /// The events.
    pub events: Vec<Choice>,
    /// What the kernel has for those of each CPU until they are taken, in KiB.
    pub buffer_kib: u32,
    /// Only those of this process and of those that it starts later.
    #[serde(default)]
    pub process: Option<u32>,
    /// Not those of these threads, unless only those of a process are asked for.
    #[serde(default)]
    pub without: Vec<u32>,
    /// The recording ends when this single event happens.
    #[serde(default)]
    pub until: Option<Choice>,
    /// The reader of the ring has another clock, and answers when it is asked for it.
    #[serde(default)]
    pub align_clocks: bool,
}

impl TraceRequest {
    /// The same until an event happens, which is recorded.
    #[must_use]
    pub fn until(mut self, event: Option<Choice>) -> Self {
        let is_new = |event: &Choice| !self.events.iter().any(|choice| choice == event || choice.has(event));
        let new = event.clone().filter(is_new);
        self.events.extend(new);
        Self { until: event, ..self }
    }
}

/// What is said beside the pages with events, in this order: [`Entry::Began`], all [`Entry::Format`], [`Entry::Missing`] and
/// [`Entry::Found`], then [`Entry::Recording`], perhaps [`Entry::Happened`], and last [`Entry::Ended`], unless the machine was ended first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Entry {
    /// About the kernel.
    Began {
        /// `uname -r`.
        release: String,
        /// The host's name.
        hostname: String,
        /// `events/header_page` of tracefs.
        header_page: String,
        /// CLOCK_MONOTONIC, in which all times are, in nanoseconds.
        monotonic_ns: u64,
        /// CLOCK_REALTIME at the same time.
        realtime_ns: u64,
        /// Their distance is known up to this, in nanoseconds.
        error_ns: u64,
        /// The reader's clock, if it has answered.
        alignment: Option<Alignment>,
        /// Threads that take the recording. What they do themselves is for the reader to leave out: the kernel's filter costs a
        /// twelfth of an event.
        without: Vec<u32>,
    },
    /// An event that is recorded.
    Format {
        /// Its system.
        system: String,
        /// `events/SYSTEM/EVENT/format`.
        text: String,
    },
    /// An event that was asked for and is not recorded.
    Missing {
        /// As it was asked for.
        event: String,
        /// Why.
        why: String,
    },
    /// Something that is there already.
    Found(Found),
    /// From here on events are recorded.
    Recording {
        /// The file to which programs write marks.
        marker: String,
    },
    /// Nothing is recorded, and nothing follows.
    Refused {
        /// The machine or the user lacks something; else the recorder's own part failed.
        is_lacking: bool,
        /// Why.
        why: String,
    },
    /// The event has happened that ends the recording.
    Happened,
    /// No page follows.
    Ended {
        /// For each CPU.
        cpus: Vec<CpuCounts>,
        /// The reader's clock, as at the begin.
        alignment: Option<Alignment>,
    },
}

impl Entry {
    /// Its bytes.
    ///
    /// # Errors
    ///
    /// When it has no binary form.
    pub fn encode(&self) -> postcard::Result<Vec<u8>> {
        postcard::to_stdvec(self)
    }

    /// Reads one.
    ///
    /// # Errors
    ///
    /// When these bytes are none.
    pub fn decode(bytes: &[u8]) -> postcard::Result<Self> {
        postcard::from_bytes(bytes)
    }
}

/// Clocks of the writer and the reader at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alignment {
    /// CLOCK_MONOTONIC of the writer, in nanoseconds.
    pub monotonic_ns: u64,
    /// CLOCK_REALTIME of the reader.
    pub realtime_ns: u64,
    /// They were read within so many nanoseconds of each other.
    pub error_ns: u64,
}

/// What became of the events of a CPU, as `per_cpu/cpuN/stats` of tracefs says it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuCounts {
    /// The CPU.
    pub cpu: u32,
    /// Events that were read.
    pub read: u64,
    /// Events that were overwritten before they were read.
    pub overrun: u64,
    /// Events for which there was no room, or that came while the buffer was written to.
    pub dropped: u64,
}

impl CpuCounts {
    /// Events that are not in the recording.
    #[must_use]
    pub fn lost(self) -> u64 {
        self.overrun.saturating_add(self.dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_a_recording_is_in_it_once() {
        let request = |events: &[&str]| TraceRequest {
            events: events.iter().map(|event| event.parse().expect("an event")).collect(),
            ..TraceRequest::default()
        };
        let end: Choice = "sched:sched_process_exit if pid == 7".parse().expect("an event");
        let ended = request(&["irq"]).until(Some(end.clone()));
        assert_eq!((ended.events.len(), ended.until.as_ref()), (2, Some(&end)));
        // As a session is run again.
        assert_eq!(ended.clone().until(Some(end.clone())), ended);
        assert_eq!(request(&["sched"]).until(Some(end)).events.len(), 1);
        assert_eq!(request(&["irq"]).until(None), request(&["irq"]));
    }

    #[test]
    fn a_request_travels_as_json_and_in_the_binary_form() {
        let events = vec!["sched:sched_switch if prev_pid == 0".parse().expect("an event")];
        for request in [
            TraceRequest {
                until: events.first().cloned(),
                events,
                buffer_kib: 64,
                process: Some(1),
                without: vec![2],
                align_clocks: true,
            },
            TraceRequest::default(),
        ] {
            let json = serde_json::to_string(&request).expect("plain data");
            assert_eq!(serde_json::from_str::<TraceRequest>(&json).expect("the same"), request);
            let bytes = postcard::to_stdvec(&request).expect("plain data");
            assert_eq!(postcard::from_bytes::<TraceRequest>(&bytes).expect("the same"), request);
        }
    }
}

//! One instance of tracefs, whose pages go to the host as they fill.

use std::ffi::CStr;
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use harness::instrument::{broken, skip};
use harness::tracefs::{Instance, failed};
use protocol::trace::ring::Kind;
use protocol::trace::{Choice, CpuCounts, Entry, TraceRequest};
use protocol::{Report, ReportKind};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::time::Timespec;

use crate::clock::Pair;
use crate::ring::Ring;
use crate::{events, statedump};

/// What an instance is called, with the process's number behind it.
const NAME: &str = "kiln-trace-";

/// A reader is woken when so much of a buffer is full, in percent.
const WAKE_PERCENT: &str = "25";

/// So long what the kernel has recorded may wait to be taken: a machine that crashes keeps the rest.
const INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// Between two looks of which the first found little: where system calls are recorded, a look makes events of its own, which would have
/// the next one come at once. Few events come in this time.
const PAUSE: Duration = Duration::from_millis(2);

/// Little is less than this part of a buffer.
const LITTLE: usize = 8;

/// Pages of a CPU that are passed on before those of the next: a flood on one must not keep the others waiting.
const PAGES_MAX: usize = 256;

/// Larger pages are no kernel's: `buffer_subbuf_size_kb` takes up to 2^10 pages.
const PAGE_MAX: usize = 1024 * 4096;

/// The buffer of a CPU.
#[derive(Debug)]
struct Buffer {
    cpu: u32,
    pages: File,
}

/// Records until it is told to stop, and writes all of it to `ring` meanwhile; calls `begun` with the file for marks when events are
/// recorded.
///
/// # Errors
///
/// As [`Recorder::start`] says, and when nobody reads the ring any more.
pub fn record(
    request: &TraceRequest,
    ring: &mut Ring,
    stop: &AtomicBool,
    begun: impl FnOnce(&str),
) -> Result<Vec<CpuCounts>, Report> {
    let recorder = Recorder::start(request, ring)?;
    begun(&recorder.marker());
    recorder.follow(ring, stop).map_err(lost)?;
    recorder.finish(ring)
}

/// Nobody takes the recording any more.
fn lost(error: Errno) -> Report {
    broken(format!("the ring of the recording: {}", harness::check::describe(error)))
}

/// An instance that records.
#[derive(Debug)]
pub struct Recorder {
    /// Closed before the instance is removed, which would be busy.
    buffers: Vec<Buffer>,
    instance: Instance,
    /// Bytes of a page, and pages of a buffer.
    page: usize,
    pages: usize,
    /// The kernel may end the recording.
    has_end: bool,
    /// The reader has another clock.
    align_clocks: bool,
}

impl Recorder {
    /// Makes it, writes to the ring what is recorded, and begins. What keeps it from recording is written there, too.
    ///
    /// This process must have one thread.
    ///
    /// # Errors
    ///
    /// When the kernel records nothing of it, or nobody reads the ring.
    pub fn start(request: &TraceRequest, ring: &mut Ring) -> Result<Self, Report> {
        Self::try_to_start(request, ring).or_else(|why| {
            let is_lacking = why.kind == ReportKind::Skip;
            ring.entry(&Entry::Refused { is_lacking, why: why.text.clone() }).map_err(lost)?;
            Err(why)
        })
    }

    fn try_to_start(request: &TraceRequest, ring: &mut Ring) -> Result<Self, Report> {
        let instance = Instance::new(NAME).map_err(skip)?;
        instance.write("buffer_size_kb", &request.buffer_kib.to_string()).map_err(skip)?;
        instance.write("trace_clock", "mono").map_err(skip)?;
        // Before 5.0 a reader is woken by the first event.
        let _ = instance.write("buffer_percent", WAKE_PERCENT);
        let header_page = events::read(&instance, "events/header_page").map_err(skip)?;
        let page =
            page_size(&header_page).ok_or_else(|| broken("events/header_page of tracefs has no data"))?;
        let without = without(request);
        request.process.map_or(Ok(()), |process| follow(&instance, process))?;
        // Takes some tenths of a second in an emulated machine: the recording begins behind it.
        let enabled = events::enable(&instance, &request.events);
        let alignment = request.align_clocks.then(|| ring.align()).flatten();
        let Pair { monotonic_ns, realtime_ns, error_ns } = Pair::now();
        let system = rustix::system::uname();
        let text = |name: &CStr| name.to_string_lossy().into_owned();
        let (release, hostname) = (text(system.release()), text(system.nodename()));
        ring.entry(&Entry::Began {
            release,
            hostname,
            header_page,
            monotonic_ns,
            realtime_ns,
            error_ns,
            alignment,
            without,
        })
        .map_err(lost)?;
        events::marks(&instance)
            .iter()
            .chain(&enabled.entries)
            .try_for_each(|entry| ring.entry(entry))
            .map_err(lost)?;
        if enabled.count == 0 {
            return Err(skip("the kernel has none of these events"));
        }
        let has_end = request.until.is_some();
        request.until.iter().try_for_each(|event| stop_at(&instance, event, system.release()))?;
        let buffers = buffers(&instance).map_err(broken)?;
        let pages = (request.buffer_kib as usize * 1024).div_ceil(page);
        let align_clocks = request.align_clocks;
        let recorder = Self { buffers, instance, page, pages, has_end, align_clocks };
        recorder.instance.write("tracing_on", "1").map_err(broken)?;
        // Threads that begin from here on are in the recording.
        statedump::all().try_for_each(|found| ring.entry(&Entry::Found(found))).map_err(lost)?;
        ring.entry(&Entry::Recording { marker: recorder.marker() }).map_err(lost)?;
        Ok(recorder)
    }

    /// The file for marks, as other processes find it.
    #[must_use]
    pub fn marker(&self) -> String {
        let path = self.instance.path("trace_marker").display().to_string();
        // A mount that only this process has is known by its descriptor.
        let own = path.strip_prefix("/proc/self/");
        own.map(|rest| format!("/proc/{}/{rest}", std::process::id())).unwrap_or(path)
    }

    /// What is recorded of a process comes from another one from here on, and those that it starts.
    ///
    /// # Errors
    ///
    /// As the kernel says.
    pub fn move_to(&self, process: u32) -> Result<(), Report> {
        // Written anew the list is empty for a moment, and all is recorded. The process before does nothing any more.
        self.instance.append("set_event_pid", &process.to_string()).map_err(broken)
    }

    /// Passes pages on until it is told to stop.
    fn follow(&self, ring: &mut Ring, stop: &AtomicBool) -> Result<(), Errno> {
        while !stop.load(Ordering::Relaxed) && !self.has_ended() {
            let mut files: Vec<PollFd<'_>> =
                self.buffers.iter().map(|buffer| PollFd::new(&buffer.pages, PollFlags::IN)).collect();
            // An interrupted wait is a short one.
            let _ = poll(&mut files, Some(&INTERVAL));
            if self.take(ring)? < self.pages / LITTLE {
                std::thread::sleep(PAUSE);
            }
        }
        Ok(())
    }

    /// Ends the recording and passes on what is left of it; gives what became of its events.
    ///
    /// # Errors
    ///
    /// When nobody reads the ring any more.
    pub fn finish(self, ring: &mut Ring) -> Result<Vec<CpuCounts>, Report> {
        let has_happened = self.has_ended();
        // What comes from here on is of this process.
        let _ = self.instance.write("tracing_on", "0");
        while self.take(ring).map_err(lost)? == PAGES_MAX {}
        if has_happened {
            ring.entry(&Entry::Happened).map_err(lost)?;
        }
        let cpus: Vec<CpuCounts> = self.buffers.iter().map(|buffer| self.counts(buffer.cpu)).collect();
        let alignment = self.align_clocks.then(|| ring.align()).flatten();
        ring.entry(&Entry::Ended { cpus: cpus.clone(), alignment }).map_err(lost)?;
        Ok(cpus)
    }

    /// Whether the kernel has ended the recording.
    fn has_ended(&self) -> bool {
        self.has_end && events::read(&self.instance, "tracing_on").is_ok_and(|on| on.trim() == "0")
    }

    /// Passes on what there is, of each CPU at most [`PAGES_MAX`] pages; gives how many one had at most.
    fn take(&self, ring: &mut Ring) -> Result<usize, Errno> {
        let mut most = 0;
        for buffer in &self.buffers {
            let mut passed = 0;
            while passed < PAGES_MAX && self.pass(buffer, ring)? {
                passed += 1;
            }
            most = passed.max(most);
        }
        Ok(most)
    }

    /// Passes on the next page of a CPU; gives whether there was one.
    fn pass(&self, Buffer { cpu, pages }: &Buffer, ring: &mut Ring) -> Result<bool, Errno> {
        let read = |page: &mut [u8]| match rustix::io::read(pages, page) {
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            read => read,
        };
        Ok(ring.block(Kind::Page { cpu: *cpu }, self.page, read)? > 0)
    }

    /// What the kernel says of a CPU.
    fn counts(&self, cpu: u32) -> CpuCounts {
        let text = events::read(&self.instance, &format!("per_cpu/cpu{cpu}/stats")).unwrap_or_default();
        let number = |name: &str| -> u64 {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            line.and_then(|number| number.trim().parse().ok()).unwrap_or_default()
        };
        let dropped = number("dropped events").saturating_add(number("commit overrun"));
        CpuCounts { cpu, read: number("read events"), overrun: number("overrun"), dropped }
    }
}

/// Has the kernel end the recording at an event.
fn stop_at(instance: &Instance, event: &Choice, release: &CStr) -> Result<(), Report> {
    let mut numbers = release.to_bytes().split(|byte| !byte.is_ascii_digit());
    let mut number = || numbers.next().and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
    // Before, the event stops the recording of others, and not that of an instance.
    if (number(), number()) < (Some(5), Some(18)) {
        return Err(skip("an event ends a recording since Linux 5.18"));
    }
    events::stop_at(instance, event).map_err(skip)
}

/// Leaves out other processes.
fn follow(instance: &Instance, process: u32) -> Result<(), Report> {
    // Not every kernel follows forks: the option came with 4.7.
    let _ = instance.write("options/event-fork", "1");
    instance.write("set_event_pid", &process.to_string()).map_err(skip)
}

/// This process and those that take the recording, unless they are left out already.
fn without(request: &TraceRequest) -> Vec<u32> {
    match request.process {
        Some(_) => Vec::new(),
        None => request.without.iter().copied().chain([std::process::id()]).collect(),
    }
}

/// The buffers of all CPUs.
fn buffers(instance: &Instance) -> Result<Vec<Buffer>, String> {
    let entries = std::fs::read_dir(instance.path("per_cpu")).map_err(|error| failed("per_cpu", &error))?;
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut cpus: Vec<u32> = names.filter_map(|name| name.strip_prefix("cpu")?.parse().ok()).collect();
    cpus.sort_unstable();
    let open = |cpu: u32| {
        let file = format!("per_cpu/cpu{cpu}/trace_pipe_raw");
        let opened = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(instance.path(&file));
        match opened {
            Ok(pages) => Some(Ok(Buffer { cpu, pages })),
            // A CPU that has never been there has none.
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => Some(Err(failed(&file, &error))),
        }
    };
    cpus.into_iter().filter_map(open).collect()
}

/// Bytes of a page, by its description: where its data begins, and how long that is.
fn page_size(header_page: &str) -> Option<usize> {
    let line = header_page.lines().find(|line| line.contains(" data;"))?;
    let number = |name: &str| -> Option<usize> { line.split(name).nth(1)?.split(';').next()?.parse().ok() };
    let size = number("offset:")?.checked_add(number("size:")?)?;
    (1..=PAGE_MAX).contains(&size).then_some(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_as_large_as_its_description_says() {
        let line = "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
        assert_eq!(page_size(line), Some(4096));
        assert_eq!(page_size(&line.replace("4080", "99999999999")), None);
        assert_eq!(page_size("\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"), None);
    }
}

//! Waits for everything at once: the port, the kernel log, children, and one pipe.

use std::time::{Duration, Instant};

use protocol::trace::TraceRequest;
use protocol::{FromAgent, ToAgent};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use rustix::time::Timespec;

use crate::kernel_log::KernelLog;
use crate::leftovers;
use crate::marks;
use crate::port::Port;
use crate::recording::Recording;

/// Records of one kernel log reading; a flood must not keep the port from being answered.
const LOG_BURST: usize = 256;

/// More records than any kernel's log has room for.
const LOG_MAX: usize = 1 << 20;

/// How long it may take until all events of a recording are switched on.
const RECORDING_LIMIT: Duration = Duration::from_secs(60);

/// How often somebody who only reads is told that the agent lives.
const HEARTBEAT: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct Session {
    port: Port,
    log: KernelLog,
    children: OwnedFd,
    mounts: Vec<String>,
    started: bool,
    recording: Option<Recording>,
    /// What came while nothing but the recording was waited for.
    waiting: Vec<ToAgent>,
}

/// What a wait ended with.
#[derive(Debug, Default)]
pub(crate) struct Ready {
    /// Messages other than pings, which have been answered.
    pub(crate) messages: Vec<ToAgent>,
    /// The extra descriptors that can be read, by their places.
    pub(crate) readable: Vec<usize>,
}

impl Session {
    pub(crate) fn open() -> std::io::Result<Self> {
        Ok(Self {
            port: Port::open()?,
            log: KernelLog::open()?,
            children: child_signals()?,
            mounts: leftovers::mounts(),
            started: false,
            recording: None,
            waiting: Vec::new(),
        })
    }

    pub(crate) fn send(&mut self, message: &FromAgent) {
        self.port.send(message);
    }

    /// Puts the port into the state that messages need.
    pub(crate) fn restore_port(&self) {
        // A line that does not take it is lost for every message alike.
        let _ = self.port.make_raw();
    }

    /// Mount points that belong to the machine, not to a case.
    pub(crate) fn mounts(&self) -> &[String] {
        &self.mounts
    }

    /// Records until [`Self::stop_recording`] what is asked for, from its return on.
    pub(crate) fn record(&mut self, request: &TraceRequest) -> Result<(), String> {
        let (recording, begun) = Recording::start(request)?;
        self.recording = Some(recording);
        let deadline = Instant::now() + RECORDING_LIMIT;
        let mut messages = Vec::new();
        let mut has_begun = false;
        while !has_begun && Instant::now() < deadline {
            let ready = self.wait(&[begun.as_fd()], Some(deadline));
            messages.extend(ready.messages);
            has_begun = !ready.readable.is_empty();
        }
        self.waiting = messages;
        if has_begun {
            marks::begin(&begun);
        }
        Ok(())
    }

    /// Ends the recording, if there is one.
    pub(crate) fn stop_recording(&mut self) {
        if let Some(recording) = self.recording.take() {
            marks::end();
            recording.stop();
        }
    }

    /// What is mounted now belongs to the machine.
    pub(crate) fn keep_mounts(&mut self) {
        self.mounts = leftovers::mounts();
    }

    /// Nobody is beside the machine: what is sent is text, which is looked at when all is over.
    pub(crate) fn send_text(&mut self) {
        self.port.send_text();
        self.started = true;
    }

    /// Waits until all that was sent has left the machine.
    pub(crate) fn drain(&self) {
        self.port.drain();
    }

    /// The machine has given its key.
    fn start(&mut self, key: u64) {
        self.port.set_key(key);
        self.started = true;
    }

    /// Waits until there is a message, a child has ended, one of `extra` can be read or `deadline` is over;
    /// forwards the kernel log and answers pings on the way.
    pub(crate) fn wait(&mut self, extra: &[BorrowedFd<'_>], deadline: Option<Instant>) -> Ready {
        let mut ready = Ready { messages: std::mem::take(&mut self.waiting), ..Ready::default() };
        let deadline = if ready.messages.is_empty() { deadline } else { Some(Instant::now()) };
        let beat = self.port.sends_text().then(|| Instant::now() + HEARTBEAT);
        let deadline = deadline.into_iter().chain(beat).min();
        let ([port, log, children], readable) = self.poll(extra, deadline);
        if beat.is_some_and(|beat| Instant::now() >= beat) {
            self.send(&FromAgent::Pong { nonce: 0 });
        }
        if children {
            self.clear_child_signal();
        }
        if log {
            self.forward_log();
        }
        if port {
            for message in self.port.receive() {
                match message {
                    ToAgent::Ping { nonce } => {
                        self.send(&FromAgent::Pong { nonce });
                        continue;
                    }
                    // What comes after it is answered with this key, also if it came at once.
                    ToAgent::Start { key, .. } => self.start(key),
                    _ => {}
                }
                ready.messages.push(message);
            }
        }
        ready.readable = readable;
        ready
    }

    fn poll(&self, extra: &[BorrowedFd<'_>], deadline: Option<Instant>) -> ([bool; 3], Vec<usize>) {
        let mut all = vec![
            PollFd::new(&self.port, PollFlags::IN),
            // Until its key has come the machine takes nothing but the hello.
            PollFd::new(&self.log, if self.started { PollFlags::IN } else { PollFlags::empty() }),
            PollFd::new(&self.children, PollFlags::IN),
        ];
        let own = all.len();
        all.extend(extra.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)));
        let left = deadline.map(|deadline| timespec(deadline.saturating_duration_since(Instant::now())));
        // An interrupted wait shows nothing as ready and is repeated by the caller.
        let _ = poll(&mut all, left.as_ref());
        let is_ready = |index: usize| all.get(index).is_some_and(|fd| !fd.revents().is_empty());
        let readable = (0..extra.len()).filter(|index| is_ready(own + index)).collect();
        (std::array::from_fn(is_ready), readable)
    }

    /// Sends what the kernel has logged up to now, at most [`LOG_BURST`] lines and the rest of a record.
    fn forward_log(&mut self) {
        self.forward_records(LOG_BURST);
    }

    /// Sends all that the kernel has logged up to now: what comes later belongs to the next run.
    pub(crate) fn forward_whole_log(&mut self) {
        self.forward_records(LOG_MAX);
    }

    fn forward_records(&mut self, most: usize) {
        let mut sent = 0;
        while sent < most {
            let Some(messages) = self.log.next() else { return };
            sent += messages.len();
            messages.iter().for_each(|message| self.send(message));
        }
    }

    fn clear_child_signal(&self) {
        let mut buffer = [0; size_of::<libc::signalfd_siginfo>()];
        // Which child it was is found by waiting for it.
        let _ = rustix::io::read(&self.children, &mut buffer);
    }
}

fn child_signals() -> std::io::Result<OwnedFd> {
    // SAFETY: the set is initialised by sigemptyset before it is used; all pointers are to locals.
    let fd = unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
        libc::signalfd(-1, &raw const set, libc::SFD_NONBLOCK | libc::SFD_CLOEXEC)
    };
    if fd < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: signalfd(2) has just given this descriptor to nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn timespec(duration: Duration) -> Timespec {
    let seconds = i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
    Timespec { tv_sec: seconds, tv_nsec: i64::from(duration.subsec_nanos()) }
}

//! A process of a network load: it prepares, says so, and works until it is killed.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use harness::check::{Checked, Stop, describe};
use harness::child::{Child, child};
use harness::instrument::{broken, skip};
use harness::sys::unshare;
use protocol::{Report, ReportKind};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal};
use rustix::thread::UnshareFlags;

use crate::affinity::pin;

/// How long the preparation may take: the kernel loads modules for it.
const PREPARED: Duration = Duration::from_secs(20);

/// How its messages begin.
const READY: u8 = b'+';
const SKIP: u8 = b'-';
const BROKEN: u8 = b'!';

/// Bytes of a message at most.
const MESSAGE_MAX: u64 = 300;

/// A process in a network namespace of its own. It is killed when this is dropped, and dies with this process.
#[derive(Debug)]
pub(super) struct Worker {
    child: Child,
    stream: UnixStream,
}

/// The worker's side of the conversation with the process that made it.
#[derive(Debug)]
pub(super) struct Maker(UnixStream);

impl Worker {
    /// Makes a process on this CPU. Its body says when it is ready.
    ///
    /// # Errors
    ///
    /// When there can be none.
    pub(super) fn new(cpu: u32, body: impl FnOnce(&mut Maker) -> Checked) -> Result<Self, Report> {
        let failed = |error: &dyn std::fmt::Display| broken(format!("a process of the load: {error}"));
        let (stream, other) = UnixStream::pair().map_err(|error| failed(&error))?;
        stream.set_read_timeout(Some(PREPARED)).map_err(|error| failed(&error))?;
        let parent = getpid();
        let child = child(|| {
            let mut maker = Maker(other);
            let ended = prepare(parent, cpu).and_then(|()| body(&mut maker));
            if let Err(Stop(why)) = ended {
                maker.refuse(&why);
            }
            Ok(())
        });
        Ok(Self { child: child.map_err(|error| failed(&describe(error)))?, stream })
    }

    pub(super) fn pid(&self) -> Pid {
        self.child.pid()
    }

    /// Waits until it is ready.
    ///
    /// # Errors
    ///
    /// Why it will never be.
    pub(super) fn ready(&mut self) -> Result<(), Report> {
        let mut kind = [0];
        self.stream
            .read_exact(&mut kind)
            .map_err(|error| broken(format!("a process of the load: {error}")))?;
        match kind[0] {
            READY => Ok(()),
            kind => Err(self.refusal(kind)),
        }
    }

    /// Lets it go on.
    ///
    /// # Errors
    ///
    /// When it has ended.
    pub(super) fn go(&mut self) -> Result<(), Report> {
        self.stream.write_all(&[READY]).map_err(|error| broken(format!("a process of the load: {error}")))
    }

    /// Looks whether it still works.
    ///
    /// # Errors
    ///
    /// Why it does not.
    pub(super) fn works(&mut self) -> Result<(), Report> {
        let mut kind = [0];
        let read = self.stream.set_nonblocking(true).and_then(|()| self.stream.read(&mut kind));
        self.stream
            .set_nonblocking(false)
            .map_err(|error| broken(format!("a process of the load: {error}")))?;
        match read {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
            Ok(1) => Err(self.refusal(kind[0])),
            _ => Err(self.refusal(BROKEN)),
        }
    }

    fn refusal(&mut self, kind: u8) -> Report {
        let mut text = String::new();
        // It has ended, or does now.
        let _ = (&self.stream).take(MESSAGE_MAX).read_to_string(&mut text);
        let kind = if kind == SKIP { ReportKind::Skip } else { ReportKind::Broken };
        let text = if text.is_empty() { "a process of the load has ended".to_owned() } else { text };
        Report { kind, text }
    }
}

impl Maker {
    /// Says that it is ready.
    pub(super) fn ready(&mut self) -> Checked {
        self.0.write_all(&[READY]).map_err(|_| gone())
    }

    /// Waits until it may go on.
    pub(super) fn wait(&mut self) -> Checked {
        self.0.read_exact(&mut [0]).map_err(|_| gone())
    }

    fn refuse(&mut self, why: &Report) {
        let kind = if why.kind == ReportKind::Skip { SKIP } else { BROKEN };
        // If nobody hears it, nobody needs to.
        let _ = self.0.write_all(&[&[kind], why.text.as_bytes()].concat());
    }
}

fn gone() -> Stop {
    Stop(broken("the instrument has ended"))
}

fn prepare(parent: Pid, cpu: u32) -> Checked {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if getppid() != Some(parent) {
        return Err(gone());
    }
    pin(cpu)?;
    unshare(UnshareFlags::NEWNET).map_err(|error| {
        let need = match error {
            Errno::PERM => "it needs root (CAP_SYS_ADMIN)",
            Errno::INVAL | Errno::NOSYS => "it needs a kernel with CONFIG_NET_NS",
            _ => "there can be none",
        };
        Stop(skip(format!("a network namespace for the load: {}; {need}", describe(error))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A namespace takes a privilege.
    fn worker(body: impl FnOnce(&mut Maker) -> Checked) -> Result<Worker, Report> {
        let mut worker = Worker::new(0, body)?;
        worker.ready().map(|()| worker)
    }

    #[test]
    fn a_worker_prepares_waits_and_dies_with_its_handle() {
        let body = |maker: &mut Maker| {
            maker.ready()?;
            maker.wait()?;
            Err(Stop(broken("it was let go")))
        };
        match worker(body) {
            Ok(mut worker) => {
                assert_eq!(worker.works(), Ok(()));
                worker.go().expect("it waits");
                let why = loop {
                    if let Err(why) = worker.works() {
                        break why;
                    }
                };
                assert_eq!(why, broken("it was let go"));
            }
            Err(why) => assert_eq!(why.kind, ReportKind::Skip, "{}", why.text),
        }
    }

    #[test]
    fn what_a_worker_lacks_is_told() {
        let why = worker(|_| Err(Stop(skip("there is no such device")))).expect_err("it says so");
        assert_eq!(why.kind, ReportKind::Skip);
        let why = worker(|_| Ok(())).expect_err("it has ended");
        assert!(why.kind == ReportKind::Skip || why.text.contains("the load"), "{}", why.text);
    }
}

//! Takes a recording while it comes, on a thread of its own.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use thiserror::Error;

use crate::recording::{Recording, Summary};
use crate::ring::{Ring, RingError};

/// What a flight recorder keeps, and what is kept of the time before an event.
pub const FLIGHT: Duration = Duration::from_secs(10);

/// Between two looks for blocks, which nothing announces.
const INTERVAL: Duration = Duration::from_millis(5);

/// Why a recording did not become a trace.
#[derive(Debug, Error)]
pub enum Failure {
    /// The trace.
    #[error(transparent)]
    Trace(#[from] ctf::Error),
    /// The memory through which it comes.
    #[error(transparent)]
    Ring(#[from] RingError),
    /// The host has no thread for it.
    #[error("a thread for the recording: {0}")]
    Thread(#[from] std::io::Error),
    /// A defect of kiln.
    #[error("the thread of the recording panicked")]
    Panic,
}

/// The thread. It ends with this, too.
#[derive(Debug)]
pub struct Follower {
    thread: JoinHandle<Result<Summary, Failure>>,
    begun: Receiver<Summary>,
    /// Gets what kiln does that ends the recording.
    end: Sender<Option<String>>,
}

impl Follower {
    /// Begins to take what comes; the trace becomes `folder`, which must not be there. With `tail` only what is at most that long before
    /// the end is kept, and a little more.
    ///
    /// # Errors
    ///
    /// When the host has no thread.
    pub fn start(mut ring: Ring, folder: &Path, tail: Option<Duration>) -> Result<Self, Failure> {
        let mut recording = Recording::new(folder, tail);
        let (sender, begun) = channel();
        let mut sender = Some(sender);
        let (end, ends) = channel();
        let thread = std::thread::Builder::new().name("recording".to_owned()).spawn(move || {
            let mut step: Option<Option<String>> = None;
            loop {
                // What was there before is taken, too.
                match ends.try_recv() {
                    Ok(last) => step = Some(last),
                    Err(TryRecvError::Disconnected) => drop(step.get_or_insert_default()),
                    Err(TryRecvError::Empty) => {}
                }
                let is_last = step.is_some();
                if is_last {
                    ring.close();
                }
                let step = step.as_ref().and_then(Option::as_deref);
                // A machine that is gone asks no more.
                let _ = ring.answer();
                let took = take(&mut ring, &mut recording)?;
                let summary = recording.summary();
                if (summary.is_recording || summary.is_over())
                    && let Some(sender) = sender.take()
                {
                    // Not everybody wants to know.
                    let _ = sender.send(summary.clone());
                }
                match took {
                    _ if summary.is_over() => return Ok(recording.finish(step)?),
                    Took::End => return Ok(recording.finish(step)?),
                    Took::Nothing if is_last => return Ok(recording.finish(step)?),
                    Took::Nothing => std::thread::park_timeout(INTERVAL),
                    Took::Blocks => {}
                }
            }
        })?;
        Ok(Self { thread, begun, end })
    }

    /// Waits until events are recorded, or it is clear that none are; nothing if neither happens in time.
    #[must_use]
    pub fn wait_for_begin(&self, time: Duration) -> Option<Summary> {
        self.begun.recv_timeout(time).ok()
    }

    /// Nothing more comes.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.thread.is_finished()
    }

    /// Takes what is left, of a machine that writes no more, and gives what is known.
    ///
    /// # Errors
    ///
    /// When the trace could not be written.
    pub fn finish(self) -> Result<Summary, Failure> {
        self.finish_before(None)
    }

    /// The same before kiln does something to the machine that ends the recording.
    ///
    /// # Errors
    ///
    /// When the trace could not be written.
    pub fn finish_before(self, step: Option<&str>) -> Result<Summary, Failure> {
        // One that has ended by itself needs not be told.
        let _ = self.end.send(step.map(str::to_owned));
        self.thread.thread().unpark();
        self.thread.join().map_err(|_| Failure::Panic)?
    }
}

/// What came.
enum Took {
    Blocks,
    Nothing,
    /// Nothing can come any more.
    End,
}

/// Takes what is there.
fn take(ring: &mut Ring, recording: &mut Recording) -> Result<Took, ctf::Error> {
    let mut done = Ok(());
    let took = ring.take(|kind, bytes| {
        if done.is_ok() {
            done = recording.block(kind, bytes);
        }
    });
    done?;
    match took {
        Ok(true) => Ok(Took::Blocks),
        Ok(false) => Ok(Took::Nothing),
        // With its machine the memory is gone.
        Err(RingError::Io(_)) => Ok(Took::End),
        Err(RingError::Damaged) => {
            recording.is_damaged();
            Ok(Took::End)
        }
    }
}

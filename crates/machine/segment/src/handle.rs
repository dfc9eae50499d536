//! A running segment, as those see it who attach machines to it.

use std::fmt;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::event::{EventfdFlags, eventfd};

use crate::capture::Captured;
use crate::error::SegmentError;
use crate::impairment::Impairment;
use crate::port::Ports;
use crate::settings::Settings;
use crate::statistics::Statistics;
use crate::switch::{Switch, Way};
use crate::worker::{Command, State, work};

/// Commands that wait at most. Whoever gives one waits for its end.
const COMMANDS: usize = 16;

/// One direction of a link, by the names of its stations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction<'a> {
    /// What the machine of a station sends, to others and to the switch.
    From(&'a str),
    /// What the machine of a station receives, also the answers of the switch.
    To(&'a str),
    /// What goes from one station to another. Such a frame passes three links: from its machine, between the stations, and
    /// to the other machine.
    Between {
        /// Who sends.
        from: &'a str,
        /// Who receives.
        to: &'a str,
    },
}

/// A running switch. It ends when it is dropped; the machines that are still attached then hear nothing more.
pub struct Segment {
    name: String,
    stations: Vec<String>,
    /// Taken to end the thread.
    commands: Option<SyncSender<Command>>,
    wake: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl Segment {
    /// Starts the switch of a segment.
    ///
    /// # Errors
    ///
    /// The settings are wrong, or the host has no thread or descriptor left.
    pub fn new(settings: &Settings) -> Result<Self, SegmentError> {
        settings.check()?;
        let host = |what| move |source| SegmentError::Host { what, source };
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let wake = Arc::new(eventfd(0, flags).map_err(io::Error::from).map_err(host("make an eventfd"))?);
        let epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let state = State::new(Switch::new(settings, epoch), Ports::new(settings.stations.len()));
        let (sender, commands) = sync_channel(COMMANDS);
        let (woken, frame_max) = (Arc::clone(&wake), settings.frame_max());
        let thread = std::thread::Builder::new()
            .name("segment".to_string())
            .spawn(move || work(state, &commands, &woken, frame_max))
            .map_err(host("start a thread"))?;
        let stations = settings.stations.iter().map(|station| station.name.clone()).collect();
        Ok(Self { name: settings.name.clone(), stations, commands: Some(sender), wake, thread: Some(thread) })
    }

    /// The name of the segment.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Gives the end of a station's cable, a datagram socket of which each datagram is a frame, for its machine; see
    /// [`netdev`](crate::netdev). The machine that was attached before is detached. Impairments, cuts and counters belong
    /// to the station and stay.
    ///
    /// # Errors
    ///
    /// There is no such station, or the host has no descriptor left.
    pub fn attach(&self, station: &str) -> Result<OwnedFd, SegmentError> {
        let port = self.port(station)?;
        let attached = self.ask(move |state| {
            state.detach(port);
            state.ports.attach(port)
        })?;
        attached.map_err(|source| SegmentError::Host { what: "make a pair of sockets", source })
    }

    /// Takes the machine of a station away, as if its cable was pulled.
    ///
    /// # Errors
    ///
    /// There is no such station.
    pub fn detach(&self, station: &str) -> Result<(), SegmentError> {
        let port = self.port(station)?;
        self.ask(move |state| state.detach(port))
    }

    /// Does this to all frames that enter a direction of a link from now on, in place of what was done before. The fate
    /// of the n-th frame of a direction depends on the seed, on n and on the impairment, and on nothing else.
    ///
    /// # Errors
    ///
    /// There is no such station, or no link does this.
    pub fn impair(&self, direction: Direction<'_>, impairment: Impairment) -> Result<(), SegmentError> {
        impairment.check()?;
        let way = self.way(direction)?;
        self.ask(move |state| {
            if let Some(link) = state.switch.link(way) {
                link.impair(impairment);
            }
        })
    }

    /// Cuts a station off in both directions. Frames that are on their way are lost, except those that are already in its
    /// machine's socket.
    ///
    /// # Errors
    ///
    /// There is no such station.
    pub fn cut(&self, station: &str) -> Result<(), SegmentError> {
        self.set_cut(&[Direction::From(station), Direction::To(station)], true)
    }

    /// Undoes [`Segment::cut`].
    ///
    /// # Errors
    ///
    /// There is no such station.
    pub fn heal(&self, station: &str) -> Result<(), SegmentError> {
        self.set_cut(&[Direction::From(station), Direction::To(station)], false)
    }

    /// Cuts the way from one station to another; the way back stays.
    ///
    /// # Errors
    ///
    /// There is no such station.
    pub fn cut_between(&self, from: &str, to: &str) -> Result<(), SegmentError> {
        self.set_cut(&[Direction::Between { from, to }], true)
    }

    /// Undoes [`Segment::cut_between`].
    ///
    /// # Errors
    ///
    /// There is no such station.
    pub fn heal_between(&self, from: &str, to: &str) -> Result<(), SegmentError> {
        self.set_cut(&[Direction::Between { from, to }], false)
    }

    /// What was counted up to now.
    ///
    /// # Errors
    ///
    /// The thread is gone.
    pub fn statistics(&self) -> Result<Statistics, SegmentError> {
        self.ask(|state| state.switch.statistics(&state.ports))
    }

    /// Writes all frames from now on to `sink` as pcapng, up to `bytes_max`. The segment waits for each write, so `sink`
    /// should be a file.
    ///
    /// # Errors
    ///
    /// There is a capture already.
    pub fn start_capture(&self, sink: Box<dyn Write + Send>, bytes_max: u64) -> Result<(), SegmentError> {
        let is_started = self.ask(move |state| state.switch.capture.start(sink, bytes_max))?;
        let error = || SegmentError::Capturing(self.name.clone(), "is captured already");
        is_started.then_some(()).ok_or_else(error)
    }

    /// Ends the capture and says what it has.
    ///
    /// # Errors
    ///
    /// There is no capture, or it could not be written.
    pub fn stop_capture(&self) -> Result<Captured, SegmentError> {
        let error = || SegmentError::Capturing(self.name.clone(), "is not captured");
        let stopped = self.ask(|state| state.switch.capture.stop())?;
        stopped.ok_or_else(error)?.map_err(SegmentError::Capture)
    }

    /// What the flight recorder has: the last frames, as a pcapng file.
    ///
    /// # Errors
    ///
    /// The thread is gone.
    pub fn recorded(&self) -> Result<Vec<u8>, SegmentError> {
        self.ask(|state| state.switch.capture.recorded())
    }

    fn port(&self, station: &str) -> Result<usize, SegmentError> {
        let error = || SegmentError::Station { segment: self.name.clone(), station: station.to_string() };
        self.stations.iter().position(|name| name == station).ok_or_else(error)
    }

    fn way(&self, direction: Direction<'_>) -> Result<Way, SegmentError> {
        Ok(match direction {
            Direction::From(station) => Way::From(self.port(station)?),
            Direction::To(station) => Way::To(self.port(station)?),
            Direction::Between { from, to } => Way::Between(self.port(from)?, self.port(to)?),
        })
    }

    fn set_cut(&self, directions: &[Direction<'_>], is_cut: bool) -> Result<(), SegmentError> {
        let ways = directions.iter().map(|direction| self.way(*direction)).collect::<Result<Vec<_>, _>>()?;
        self.ask(move |state| ways.iter().for_each(|way| state.cut(*way, is_cut)))
    }

    /// Has the thread do something between two rounds, and waits for what comes of it.
    fn ask<T: Send + 'static>(
        &self,
        what: impl FnOnce(&mut State) -> T + Send + 'static,
    ) -> Result<T, SegmentError> {
        let ended = || SegmentError::Ended(self.name.clone());
        let (answer, answered) = sync_channel(1);
        let command: Command = Box::new(move |state| _ = answer.send(what(state)));
        self.commands.as_ref().and_then(|commands| commands.send(command).ok()).ok_or_else(ended)?;
        self.wake();
        answered.recv().map_err(|_| ended())
    }

    fn wake(&self) {
        // It fails only when the thread has been woken very often and did not look yet.
        let _ = rustix::io::write(&*self.wake, &1u64.to_ne_bytes());
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        self.commands = None;
        self.wake();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported when it happened.
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, stations, .. } = self;
        f.debug_struct("Segment").field("name", name).field("stations", stations).finish_non_exhaustive()
    }
}

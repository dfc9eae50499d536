//! Frames as pcapng: into a file, and into a ring that keeps the last ones.

mod pcapng;
mod ring;

use std::io::{self, BufWriter, Write};
use std::time::Duration;

pub(crate) use pcapng::{Heading, Packet};
use ring::Ring;

/// Where a capture goes.
pub(crate) type Sink = Box<dyn Write + Send>;

/// What a capture has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Captured {
    /// Frames in it; one that passes the switch is in it where it enters and where it leaves.
    pub frames: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Frames that it had no more room for.
    pub left_out: u64,
}

/// The captures of a segment.
pub(crate) struct Capture {
    head: Vec<u8>,
    /// From 1970 to the time that the segment calls zero.
    epoch: Duration,
    ring: Ring,
    file: Option<File>,
    block: Vec<u8>,
}

/// One that is being written.
struct File {
    sink: BufWriter<Sink>,
    bytes_max: u64,
    captured: Captured,
    error: Option<io::Error>,
}

impl Capture {
    /// Captures of interfaces with these names, with a ring of so many bytes.
    pub(crate) fn new<'a>(names: impl Iterator<Item = &'a str>, ring_bytes: usize, epoch: Duration) -> Self {
        let head = pcapng::head(names);
        Self { head, epoch, ring: Ring::new(ring_bytes), file: None, block: Vec::new() }
    }

    /// Takes a frame down.
    pub(crate) fn record(&mut self, packet: &Packet<'_>) {
        if self.file.is_none() && self.ring.is_off() {
            return;
        }
        self.block.clear();
        pcapng::packet(&mut self.block, packet, self.epoch.saturating_add(packet.at));
        self.ring.push(&self.block);
        if let Some(file) = &mut self.file {
            file.write(&self.block);
        }
    }

    /// Writes all frames from now on to `sink`, up to so many bytes; false if there is a capture already.
    pub(crate) fn start(&mut self, sink: Sink, bytes_max: u64) -> bool {
        if self.file.is_some() {
            return false;
        }
        let file = File {
            sink: BufWriter::with_capacity(1 << 16, sink),
            bytes_max: bytes_max.max(self.head.len() as u64),
            captured: Captured::default(),
            error: None,
        };
        self.file.insert(file).write_all(&self.head);
        true
    }

    /// Ends the capture, if there is one.
    pub(crate) fn stop(&mut self) -> Option<io::Result<Captured>> {
        let mut file = self.file.take()?;
        let flushed = file.sink.flush();
        Some(match file.error {
            Some(error) => Err(error),
            None => flushed.map(|()| file.captured),
        })
    }

    /// The last frames, as a whole capture.
    pub(crate) fn recorded(&self) -> Vec<u8> {
        let mut all = self.head.clone();
        self.ring.append_to(&mut all);
        all
    }
}

impl File {
    fn write(&mut self, block: &[u8]) {
        let has_room = self.captured.bytes + block.len() as u64 <= self.bytes_max;
        if has_room && self.error.is_none() {
            self.captured.frames += 1;
            self.write_all(block);
        } else {
            self.captured.left_out += 1;
        }
    }

    fn write_all(&mut self, block: &[u8]) {
        self.captured.bytes += block.len() as u64;
        self.error = self.sink.write_all(block).err();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// A file that is read while it is written.
    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn packet(frame: &[u8]) -> Packet<'_> {
        Packet { port: 0, heading: Heading::In, at: Duration::ZERO, frame, length: frame.len(), drop: None }
    }

    #[test]
    fn a_capture_is_limited_and_counts_what_it_left_out() {
        let mut capture = Capture::new(["a"].into_iter(), 0, Duration::ZERO);
        let shared = Shared::default();
        let head = capture.head.len() as u64;
        assert!(capture.stop().is_none());
        assert!(capture.start(Box::new(shared.clone()), head + 150));
        assert!(!capture.start(Box::new(io::sink()), 1));
        (0..5).for_each(|_| capture.record(&packet(&[0; 20])));
        let captured = capture.stop().unwrap().unwrap();
        assert_eq!((captured.frames, captured.left_out), (2, 3));
        assert_eq!(shared.0.lock().unwrap().len() as u64, captured.bytes);
        assert!(captured.bytes <= head + 150);
    }

    #[test]
    fn a_file_that_cannot_be_written_is_reported() {
        let mut capture = Capture::new(["a"].into_iter(), 0, Duration::ZERO);
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        assert!(capture.start(Box::new(full), 1 << 20));
        (0..5).for_each(|_| capture.record(&packet(&[0; 60_000])));
        assert!(capture.stop().unwrap().is_err());
    }

    #[test]
    fn the_ring_is_a_capture_of_its_own() {
        let mut capture = Capture::new(["a"].into_iter(), 1000, Duration::ZERO);
        (0..100).for_each(|_| capture.record(&packet(&[7; 20])));
        let all = capture.recorded();
        assert!(all.starts_with(&capture.head) && all.len() <= capture.head.len() + 1000);
        assert!(all.len() > capture.head.len() + 900);
    }
}

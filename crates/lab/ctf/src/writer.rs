//! Writes a trace: a folder with a file for each stream.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::class::{Class, ID_MAX, Stream};
use crate::error::Error;
use crate::index;
use crate::metadata::{Metadata, class_text};
use crate::packet::{HEAD, Head, PACKET_MAX};
use crate::tail::Tail;

/// The files of a trace besides its streams.
pub(crate) const METADATA: &str = "metadata";
pub(crate) const INDEX: &str = "index";

/// A packet ends before it has more bytes, unless a single event has.
const PACKET: usize = 256 << 10;

/// The number that says that the head of an event is longer.
pub(crate) const EXTENDED: u16 = ID_MAX + 1;

/// Bytes of both heads of an event.
pub(crate) const COMPACT_HEAD: usize = 2 + 4;
pub(crate) const EXTENDED_HEAD: usize = 2 + 4 + 8;

/// A trace that is written.
#[derive(Debug)]
pub struct Writer {
    folder: PathBuf,
    uuid: [u8; 16],
    metadata: File,
    /// Bytes before the classes.
    head: usize,
}

/// A stream that is written. What it holds is in its file after [`StreamWriter::end_packet`] or [`StreamWriter::finish`].
#[derive(Debug)]
pub struct StreamWriter {
    file: File,
    index: File,
    path: PathBuf,
    context: usize,
    /// Of the current packet; its sizes are known when it ends.
    head: Head,
    /// The current packet, with room for its head.
    packet: Vec<u8>,
    /// Where it will begin in the file.
    offset: u64,
    /// Lost events of which a packet tells.
    told: u64,
    tail: Option<Tail>,
}

impl Writer {
    /// Makes the folder, which must not be there.
    ///
    /// # Errors
    ///
    /// When it is there or cannot be made.
    pub fn create(folder: &Path, metadata: &Metadata) -> Result<Self, Error> {
        fs::create_dir(folder).map_err(Error::file(folder))?;
        let index = folder.join(INDEX);
        fs::create_dir(&index).map_err(Error::file(&index))?;
        let path = folder.join(METADATA);
        let mut file = File::create_new(&path).map_err(Error::file(&path))?;
        let text = Metadata { classes: Vec::new(), ..metadata.clone() }.text();
        file.write_all(text.as_bytes()).map_err(Error::file(&path))?;
        let mut made =
            Self { folder: folder.to_owned(), uuid: metadata.uuid, metadata: file, head: text.len() };
        metadata.classes.iter().try_for_each(|class| made.class(class))?;
        Ok(made)
    }

    /// Writes anew what there is to know of the trace before its events, for a trace that has all its classes.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn rewrite(&self, metadata: &Metadata) -> Result<(), Error> {
        // Whoever reads meanwhile sees one or the other.
        let (path, new) = (self.folder.join(METADATA), self.folder.join(INDEX).join(METADATA));
        let classes = fs::read(&path).map_err(Error::file(&path))?.split_off(self.head);
        let head = Metadata { uuid: self.uuid, classes: Vec::new(), ..metadata.clone() }.text();
        fs::write(&new, [head.as_bytes(), &classes].concat()).map_err(Error::file(&new))?;
        fs::rename(&new, &path).map_err(Error::file(&path))
    }

    /// Adds a class, whose number no other has.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn class(&mut self, class: &Class) -> Result<(), Error> {
        let text = class_text(class);
        self.metadata.write_all(text.as_bytes()).map_err(Error::file(&self.folder.join(METADATA)))
    }

    /// Begins a stream in a file of this name.
    ///
    /// # Errors
    ///
    /// When its files are there or cannot be made.
    pub fn stream(&self, name: &str, stream: Stream, cpu: u32) -> Result<StreamWriter, Error> {
        let path = self.folder.join(name);
        let index_path = self.folder.join(INDEX).join(format!("{name}.idx"));
        let file = File::options().read(true).write(true).create_new(true).open(&path);
        let file = file.map_err(Error::file(&path))?;
        let mut index = File::create_new(&index_path).map_err(Error::file(&index_path))?;
        index.write_all(&index::header()).map_err(Error::file(&index_path))?;
        let (uuid, stream_id) = (self.uuid, stream.id());
        Ok(StreamWriter {
            file,
            index,
            path,
            context: stream.context(),
            head: Head {
                uuid,
                stream: stream_id,
                begin: 0,
                end: 0,
                content: 0,
                size: 0,
                number: 0,
                lost: 0,
                cpu,
            },
            packet: vec![0; HEAD],
            offset: 0,
            told: 0,
            tail: None,
        })
    }
}

impl StreamWriter {
    /// Keeps only what is at most so many nanoseconds before the last event, and what is in a packet with it; or all of it. Until the end it
    /// stays in its place in the file, so nobody can read the stream before.
    #[must_use]
    pub fn with_tail(self, time: Option<u64>) -> Self {
        Self { tail: time.map(Tail::new), ..self }
    }

    /// Adds an event with its context and its fields. One that is earlier than the one before gets that one's time.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn event(&mut self, class: u16, time: u64, context: &[u8], fields: &[u8]) -> Result<(), Error> {
        debug_assert_eq!(context.len(), self.context, "the context is that of the stream");
        let size = EXTENDED_HEAD + context.len() + fields.len();
        if HEAD + size > PACKET_MAX {
            // No reader takes it, and no kernel writes it.
            return self.lost(1);
        }
        if self.packet.len() + size > PACKET {
            self.end_packet()?;
        }
        let time = time.max(self.head.end);
        if self.is_empty() {
            self.head.begin = time;
        }
        // The lower half of a time tells all of it as long as less than four seconds have passed.
        if !self.is_empty() && time - self.head.end <= u64::from(u32::MAX) {
            self.packet.extend(class.to_le_bytes());
            self.packet.extend(&time.to_le_bytes()[..4]);
        } else {
            self.packet.extend(EXTENDED.to_le_bytes());
            self.packet.extend(u32::from(class).to_le_bytes());
            self.packet.extend(time.to_le_bytes());
        }
        self.head.end = time;
        self.packet.extend(context);
        self.packet.extend(fields);
        Ok(())
    }

    /// So many events were lost before the next one.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn lost(&mut self, count: u64) -> Result<(), Error> {
        // A packet tells what was lost up to its end.
        self.end_packet()?;
        self.head.lost = self.head.lost.saturating_add(count);
        Ok(())
    }

    /// Writes the events that there are, so that readers see them.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn end_packet(&mut self) -> Result<(), Error> {
        if self.is_empty() { Ok(()) } else { self.write_packet() }
    }

    /// Writes what there is, and how much was lost at the end.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn finish(mut self) -> Result<(), Error> {
        self.end_packet()?;
        if self.head.lost != self.told {
            self.head.begin = self.head.end;
            self.write_packet()?;
        }
        let kept = self.tail.map_or(Ok(()), |tail| tail.finish(&self.file, &self.index));
        kept.map_err(Error::file(&self.path))
    }

    fn is_empty(&self) -> bool {
        self.packet.len() == HEAD
    }

    fn write_packet(&mut self) -> Result<(), Error> {
        let size = self.packet.len();
        (self.head.content, self.head.size) = (size, size);
        self.packet[..HEAD].copy_from_slice(&self.head.bytes());
        let entry = index::entry(self.offset, &self.head);
        let written = self.file.write_all(&self.packet).and_then(|()| self.index.write_all(&entry));
        written.map_err(Error::file(&self.path))?;
        if let Some(tail) = &mut self.tail {
            tail.add(&self.file, self.offset, self.head);
        }
        self.offset += size as u64;
        self.told = self.head.lost;
        self.head.number += 1;
        self.packet.truncate(HEAD);
        Ok(())
    }
}

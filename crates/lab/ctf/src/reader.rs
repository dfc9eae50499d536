//! Reads a trace: it is open at once, whatever its size, and a time is found without reading what is before it.
//!
//! A trace may come from a stranger, or from a machine that was cut off. What is damaged is passed over and counted.

mod events;
mod stream;
#[cfg(test)]
mod tests;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use events::{Event, Events};

use crate::class::{Class, Steps};
use crate::error::Error;
use crate::metadata::{Metadata, TEXT_MAX};
use crate::writer::{INDEX, METADATA};
use stream::Stream;

/// Streams that are read: a kernel has at most 8192 CPUs.
const STREAMS_MAX: usize = 10_000;

/// The classes of a trace, each at the place of its number.
pub(crate) type Classes = Arc<[Option<Known>]>;

/// A class as its events are read.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) class: Class,
    pub(crate) steps: Steps,
    /// Bytes before the fields.
    pub(crate) context: usize,
}

/// A trace that is read.
#[derive(Debug)]
pub struct Trace {
    /// What it says of itself. The classes are in [`Trace::classes`].
    pub metadata: Metadata,
    folder: PathBuf,
    classes: Classes,
    streams: Vec<Stream>,
}

impl Trace {
    /// Opens the folder of a trace.
    ///
    /// # Errors
    ///
    /// When it is none of kiln's, or a file cannot be read.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(METADATA);
        let mut text = Vec::new();
        let file = fs::File::open(&path).map_err(Error::file(&path))?;
        file.take(TEXT_MAX + 1).read_to_end(&mut text).map_err(Error::file(&path))?;
        if text.len() as u64 > TEXT_MAX {
            return Err(Error::TooLarge { path, what: "the text of the trace is longer than 64 MiB" });
        }
        let parsed = Metadata::parse(&String::from_utf8_lossy(&text));
        let mut metadata = parsed.map_err(|(line, why)| Error::Metadata { path, line, why })?;
        let classes = placed(std::mem::take(&mut metadata.classes));
        let streams = open_streams(folder, metadata.uuid)?;
        Ok(Self { metadata, folder: folder.to_owned(), classes, streams })
    }

    /// Its folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder of what makes it quick to read.
    #[must_use]
    pub fn index(&self) -> PathBuf {
        self.folder.join(INDEX)
    }

    /// The classes of events, by their numbers.
    #[must_use]
    pub fn classes(&self) -> Vec<&Class> {
        self.classes.iter().flatten().map(|known| &known.class).collect()
    }

    /// The times of the first and the last event, in nanoseconds; nothing if there is none.
    #[must_use]
    pub fn span(&self) -> Option<(u64, u64)> {
        let begin = self.streams.iter().filter_map(Stream::begin).min()?;
        let end = self.streams.iter().filter_map(Stream::end).max()?;
        Some((begin, end))
    }

    /// Events that the kernel could not record.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.streams.iter().fold(0, |lost, stream| lost.saturating_add(stream.lost()))
    }

    /// All events from a time on, in the order of their times.
    #[must_use]
    pub fn events(&self, from: u64) -> Events<'_> {
        Events::new(&self.streams, Arc::clone(&self.classes), from)
    }
}

fn placed(classes: Vec<Class>) -> Classes {
    let count = classes.iter().map(|class| usize::from(class.id) + 1).max().unwrap_or_default();
    let mut places: Vec<Option<Known>> = std::iter::repeat_with(|| None).take(count).collect();
    for class in classes {
        let (place, steps, context) = (usize::from(class.id), Steps::of(&class), class.stream.context());
        places[place] = Some(Known { class, steps, context });
    }
    places.into()
}

fn open_streams(folder: &Path, uuid: [u8; 16]) -> Result<Vec<Stream>, Error> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::file(folder))? {
        let entry = entry.map_err(Error::file(folder))?;
        let is_file = entry.file_type().map_err(Error::file(folder))?.is_file();
        let name = entry.file_name();
        if is_file && name != METADATA {
            names.push(name);
        }
        if names.len() > STREAMS_MAX {
            return Err(Error::TooLarge {
                path: folder.to_owned(),
                what: "the trace has more than 10,000 streams",
            });
        }
    }
    // Events of one time come in the order of their streams.
    names.sort_by_key(|name| (name.len(), name.clone()));
    let mut streams = Vec::new();
    for name in names {
        let index = folder.join(INDEX).join(&name).with_extension("idx");
        streams.extend(Stream::open(&folder.join(&name), &index, uuid)?);
    }
    Ok(streams)
}

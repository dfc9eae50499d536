//! Some events of a trace as another one.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;

use crate::class::Stream;
use crate::error::Error;
use crate::metadata::Metadata;
use crate::reader::{Event, Trace};
use crate::writer::{StreamWriter, Writer};

/// A trace to which events of another one are added.
#[derive(Debug)]
pub struct Copy {
    writer: Writer,
    streams: BTreeMap<(u32, u32), StreamWriter>,
}

impl Copy {
    /// A trace without events, with the classes of another one.
    ///
    /// # Errors
    ///
    /// When the folder is there or cannot be made.
    pub fn create(folder: &Path, of: &Trace) -> Result<Self, Error> {
        let classes = of.classes().into_iter().cloned().collect();
        let writer = Writer::create(folder, &Metadata { classes, ..of.metadata.clone() })?;
        Ok(Self { writer, streams: BTreeMap::new() })
    }

    /// Adds an event of that trace. Events come in the order of their times.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    pub fn event(&mut self, event: &Event<'_>) -> Result<(), Error> {
        let (context, fields) = event.bytes();
        self.stream(event.class.stream, event.cpu)?.event(event.class.id, event.time, context, fields)
    }

    /// Ends it; so many events are missing in it that were to be there.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    pub fn finish(mut self, lost: u64) -> Result<(), Error> {
        if lost > 0 {
            // Which CPU lost them is known, but not among which of the events that are here.
            let cpu = self.streams.keys().next().map_or(0, |(_, cpu)| *cpu);
            self.stream(Stream::Kernel, cpu)?.lost(lost)?;
        }
        self.streams.into_values().try_for_each(StreamWriter::finish)
    }

    fn stream(&mut self, stream: Stream, cpu: u32) -> Result<&mut StreamWriter, Error> {
        match self.streams.entry((stream.id(), cpu)) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => {
                Ok(place.insert(self.writer.stream(&stream.file_name(cpu), stream, cpu)?))
            }
        }
    }
}

//! Pages of the ring buffers become streams.

use std::collections::HashMap;
use std::path::Path;

use ctf::class::Stream;
use ctf::{Error, Metadata, StreamWriter, Writer};
use ftrace::{Format, Layout, Lost, Page};

use crate::plan::Plan;

/// CPUs that a kernel can have.
const CPUS_MAX: usize = 8192;

/// What has become of what came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Events in the trace.
    pub events: u64,
    /// Events that the kernel had no room for, as far as it says how many.
    pub lost: u64,
    /// Places where the kernel had no room, and does not say for how many events.
    pub gaps: u64,
    /// Records and pages that could not be read, and records of unknown events.
    pub unreadable: u64,
}

/// Writes a trace of what a kernel recorded.
#[derive(Debug)]
pub struct Transcoder {
    writer: Writer,
    layout: Layout,
    plans: HashMap<u16, Plan>,
    cpus: HashMap<u32, StreamWriter>,
    fields: Vec<u8>,
    counts: Counts,
}

impl Transcoder {
    /// Makes the folder of a trace, which must not be there.
    ///
    /// # Errors
    ///
    /// When it cannot be made.
    pub fn create(folder: &Path, metadata: &Metadata, layout: Layout) -> Result<Self, Error> {
        let writer = Writer::create(folder, metadata)?;
        let (plans, cpus) = (HashMap::new(), HashMap::new());
        Ok(Self { writer, layout, plans, cpus, fields: Vec::new(), counts: Counts::default() })
    }

    /// An event that may come, of this system. The first of a number counts.
    ///
    /// # Errors
    ///
    /// When the trace cannot be written.
    pub fn event(&mut self, system: &str, format: &Format) -> Result<(), Error> {
        let Some(plan) = Plan::new(system, format).filter(|plan| !self.plans.contains_key(&plan.class.id))
        else {
            return Ok(());
        };
        self.writer.class(&plan.class)?;
        self.plans.insert(plan.class.id, plan);
        Ok(())
    }

    /// A page of the ring buffer of a CPU.
    ///
    /// # Errors
    ///
    /// When the trace cannot be written.
    pub fn page(&mut self, cpu: u32, bytes: &[u8]) -> Result<(), Error> {
        let Self { writer, cpus, plans, fields, counts, .. } = self;
        let Ok(page) = Page::read(self.layout, bytes) else {
            counts.unreadable += 1;
            return Ok(());
        };
        if !cpus.contains_key(&cpu) {
            if cpus.len() == CPUS_MAX {
                counts.unreadable += 1;
                return Ok(());
            }
            cpus.insert(cpu, writer.stream(&format!("cpu{cpu}"), Stream::Kernel, cpu)?);
        }
        let Some(stream) = cpus.get_mut(&cpu) else { return Ok(()) };
        match page.lost {
            Lost::Nothing => {}
            Lost::Records(count) => {
                counts.lost = counts.lost.saturating_add(count);
                stream.lost(count)?;
            }
            Lost::Some => {
                counts.gaps += 1;
                stream.lost(1)?;
            }
        }
        for record in page.records() {
            let Ok(record) = record else {
                counts.unreadable += 1;
                break;
            };
            fields.clear();
            let id = record.data.get(..2).map(|id| u16::from_le_bytes([id[0], id[1]]));
            let plan = id.and_then(|id| plans.get(&id));
            match plan.filter(|plan| plan.fields(record.data, fields).is_some()) {
                Some(plan) => {
                    counts.events += 1;
                    stream.event(plan.class.id, record.time, &plan.context(record.data), fields)?;
                }
                None => counts.unreadable += 1,
            }
        }
        Ok(())
    }

    /// What has become of what came so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Writes what there is.
    ///
    /// # Errors
    ///
    /// When the trace cannot be written.
    pub fn finish(self) -> Result<Counts, Error> {
        self.cpus.into_values().try_for_each(StreamWriter::finish)?;
        Ok(self.counts)
    }
}

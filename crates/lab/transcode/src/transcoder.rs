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
    tail: Option<u64>,
    /// Threads whose own events are left out.
    without: Vec<u32>,
    /// The time of the latest event.
    latest: u64,
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
        let (fields, counts) = (Vec::new(), Counts::default());
        Ok(Self { writer, layout, plans, cpus, fields, counts, tail: None, without: Vec::new(), latest: 0 })
    }

    /// Keeps of each CPU only what is at most so many nanoseconds before its last event, and a little more.
    #[must_use]
    pub fn with_tail(self, time: Option<u64>) -> Self {
        Self { tail: time, ..self }
    }

    /// Leaves out what these threads do themselves.
    #[must_use]
    pub fn without(self, threads: Vec<u32>) -> Self {
        Self { without: threads, ..self }
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

    /// Writes anew what there is to know of the trace before its events; no event of another kind follows.
    ///
    /// # Errors
    ///
    /// When the trace cannot be written.
    pub fn rewrite(&self, metadata: &Metadata) -> Result<(), Error> {
        self.writer.rewrite(metadata)
    }

    /// A page of the ring buffer of a CPU.
    ///
    /// # Errors
    ///
    /// When the trace cannot be written.
    pub fn page(&mut self, cpu: u32, bytes: &[u8]) -> Result<(), Error> {
        let Self { writer, cpus, plans, fields, counts, tail, without, latest, .. } = self;
        let Ok(page) = Page::read(self.layout, bytes) else {
            counts.unreadable += 1;
            return Ok(());
        };
        if !cpus.contains_key(&cpu) {
            if cpus.len() == CPUS_MAX {
                counts.unreadable += 1;
                return Ok(());
            }
            let stream = writer.stream(&Stream::Kernel.file_name(cpu), Stream::Kernel, cpu)?;
            cpus.insert(cpu, stream.with_tail(*tail));
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
                    let context = plan.context(record.data);
                    if plan.is_own(&context, without) {
                        continue;
                    }
                    counts.events += 1;
                    *latest = record.time.max(*latest);
                    stream.event(plan.class.id, record.time, &context, fields)?;
                }
                None => counts.unreadable += 1,
            }
        }
        Ok(())
    }

    /// Begins the stream of what is no event of the kernel.
    pub(crate) fn marks(&self) -> Result<StreamWriter, Error> {
        self.writer.stream(&Stream::Marks.file_name(0), Stream::Marks, 0)
    }

    /// The time of the latest event.
    pub(crate) fn latest(&self) -> u64 {
        self.latest
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

#[cfg(test)]
mod tests {
    use ctf::Trace;

    use super::*;

    const FORMAT: &str = "name: number\nID: 9\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
        \tfield:int value;\toffset:8;\tsize:4;\tsigned:1;\n";

    /// A record of an event of this number.
    fn record(id: u16, value: i32) -> Vec<u8> {
        [&id.to_le_bytes()[..], &[0; 2], &7_i32.to_le_bytes(), &value.to_le_bytes()].concat()
    }

    /// A page whose records are a nanosecond apart; `missed` is what the kernel adds to the length.
    fn page(begin: u64, missed: u64, records: &[Vec<u8>]) -> Vec<u8> {
        let quarter = |record: &Vec<u8>| u32::try_from(record.len() / 4).expect("they are short");
        let data: Vec<u8> = records
            .iter()
            .flat_map(|record| [&(quarter(record) | 1 << 5).to_le_bytes()[..], record].concat())
            .collect();
        [&begin.to_le_bytes()[..], &(data.len() as u64 | missed).to_le_bytes(), &data].concat()
    }

    struct Place(tempfile::TempDir);

    impl Place {
        fn transcoder() -> (Self, Transcoder) {
            let place = Self(tempfile::tempdir().expect("a directory"));
            let folder = place.0.path().join("trace");
            let mut transcoder =
                Transcoder::create(&folder, &Metadata::default(), Layout::default()).expect("a folder");
            transcoder.event("test", &Format::parse(FORMAT).expect("a format")).expect("written");
            (place, transcoder)
        }

        /// Time, CPU, thread and value of all events.
        fn events(&self) -> Vec<(u64, u32, Option<i32>, String)> {
            let trace = Trace::open(&self.0.path().join("trace")).expect("it is a trace");
            let mut events = trace.events(0);
            let mut found = Vec::new();
            while let Some(event) = events.next_event().expect("readable") {
                let value = event.field("value").map(|value| value.to_string()).unwrap_or_default();
                found.push((event.time, event.cpu, event.thread, value));
            }
            found
        }
    }

    #[test]
    fn pages_of_all_cpus_become_one_trace() {
        let (place, mut transcoder) = Place::transcoder();
        transcoder.page(1, &page(100, 0, &[record(9, -1), record(9, 2)])).expect("written");
        transcoder.page(0, &page(100, 0, &[record(9, 3)])).expect("written");
        let counts = transcoder.finish().expect("written");
        assert_eq!(counts, Counts { events: 3, ..Counts::default() });
        let event = |time, cpu, value: &str| (time, cpu, Some(7), value.to_owned());
        assert_eq!(place.events(), [event(101, 0, "3"), event(101, 1, "-1"), event(102, 1, "2")]);
    }

    #[test]
    fn what_is_lost_or_unreadable_is_counted() {
        let (place, mut transcoder) = Place::transcoder();
        let mut missed = page(100, 1 << 31 | 1 << 30, &[record(9, 1)]);
        missed.extend(5_u64.to_le_bytes());
        transcoder.page(0, &missed).expect("written");
        transcoder.page(0, &page(200, 1 << 31, &[record(10, 1)])).expect("an unknown event");
        transcoder.page(0, &page(300, 0, &[record(9, 1)[..8].to_vec()])).expect("a short record");
        transcoder.page(0, &[0; 7]).expect("no page");
        let counts = transcoder.finish().expect("written");
        assert_eq!(counts, Counts { events: 1, lost: 5, gaps: 1, unreadable: 3 });
        let trace = Trace::open(&place.0.path().join("trace")).expect("it is a trace");
        assert_eq!((place.events().len(), trace.lost()), (1, 6));
    }

    #[test]
    fn what_takes_the_recording_is_not_in_it() {
        let (place, transcoder) = Place::transcoder();
        let mut transcoder = transcoder.without(vec![3, 7]);
        let of = |thread: i32, value| {
            let mut record = record(9, value);
            record[4..8].copy_from_slice(&thread.to_le_bytes());
            record
        };
        let records = [of(7, 1), of(8, 2), of(3, 3), of(0, 4)];
        transcoder.page(0, &page(100, 0, &records)).expect("written");
        let counts = transcoder.finish().expect("written");
        assert_eq!(counts, Counts { events: 2, ..Counts::default() });
        let values: Vec<_> = place.events().into_iter().map(|(.., value)| value).collect();
        assert_eq!(values, ["2", "4"]);
    }

    #[test]
    fn the_first_event_of_a_number_counts() {
        let (place, mut transcoder) = Place::transcoder();
        let other = Format { name: "other".to_owned(), ..Format::parse(FORMAT).expect("a format") };
        transcoder.event("test", &other).expect("passed over");
        transcoder.finish().expect("written");
        let trace = Trace::open(&place.0.path().join("trace")).expect("it is a trace");
        assert_eq!(trace.classes().iter().map(|class| &*class.name).collect::<Vec<_>>(), ["test:number"]);
    }
}

//! What is in a trace besides the kernel's events: the stream `kiln`.

use ctf::class::{ID_MAX, Number, Stream};
use ctf::{Class, Error, Field, Shape, StreamWriter};
use protocol::trace::Task;

use crate::transcoder::Transcoder;

/// A thread that was there when the recording began.
const TASK: u16 = ID_MAX;

/// What kiln did from outside.
const STEP: u16 = ID_MAX - 1;

/// The stream.
#[derive(Debug)]
pub(crate) struct Marks {
    stream: StreamWriter,
    /// When the recording began.
    began: u64,
    fields: Vec<u8>,
}

impl Marks {
    /// The classes of its events.
    pub(crate) fn classes() -> Vec<Class> {
        let number = |name: &str| Field { name: name.to_owned(), shape: Shape::Number(Number::unsigned(4)) };
        let name = Field { name: "comm".to_owned(), shape: Shape::String };
        let fields = vec![number("tid"), number("pid"), number("ppid"), name];
        let class =
            |id, name: &str, fields| Class { id, stream: Stream::Marks, name: name.to_owned(), fields };
        let text = vec![Field { name: "text".to_owned(), shape: Shape::String }];
        vec![class(TASK, "kiln:task", fields), class(STEP, "kiln:step", text)]
    }

    /// Begins it.
    pub(crate) fn new(transcoder: &Transcoder, began: u64) -> Result<Self, Error> {
        Ok(Self { stream: transcoder.marks()?, began, fields: Vec::new() })
    }

    /// Adds a thread.
    pub(crate) fn task(&mut self, task: &Task) -> Result<(), Error> {
        let Task { thread, process, parent, name } = task;
        self.fields.clear();
        self.fields.extend([thread, process, parent].into_iter().flat_map(|number| number.to_le_bytes()));
        self.fields.extend(name.bytes().filter(|byte| *byte != 0));
        self.fields.push(0);
        self.stream.event(TASK, self.began, &[], &self.fields)
    }

    /// Adds what kiln did at this time, which is that of the last mark or later.
    pub(crate) fn step(&mut self, time: u64, text: &str) -> Result<(), Error> {
        self.fields.clear();
        self.fields.extend(text.bytes().filter(|byte| *byte != 0));
        self.fields.push(0);
        self.stream.event(STEP, time.max(self.began), &[], &self.fields)
    }

    pub(crate) fn finish(self) -> Result<(), Error> {
        self.stream.finish()
    }
}

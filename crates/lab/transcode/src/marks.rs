//! What is in a trace besides the kernel's events: the stream `kiln`.

use ctf::class::{ID_MAX, Number, Stream};
use ctf::{Class, Error, Field, Shape, StreamWriter};
use protocol::trace::Found;

use crate::transcoder::Transcoder;

/// What kiln did from outside.
const STEP: u16 = ID_MAX;

/// What was there when the recording began.
const TASK: u16 = ID_MAX - 1;
const DESCRIPTOR: u16 = ID_MAX - 2;
const MOUNT: u16 = ID_MAX - 3;
const INTERRUPT: u16 = ID_MAX - 4;
const MODULE: u16 = ID_MAX - 5;

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
        let field = |name: &str, shape| Field { name: name.to_owned(), shape };
        let number = |name| field(name, Shape::Number(Number::unsigned(4)));
        let text = |name| field(name, Shape::String);
        let size = |name, is_hex| field(name, Shape::Number(Number { is_hex, ..Number::unsigned(8) }));
        let class = |id, name: &str, fields: Vec<Field>| Class {
            id,
            stream: Stream::Marks,
            name: format!("kiln:{name}"),
            fields,
        };
        vec![
            class(STEP, "step", vec![text("text")]),
            class(TASK, "task", vec![number("tid"), number("pid"), number("ppid"), text("comm")]),
            class(DESCRIPTOR, "descriptor", vec![number("pid"), number("fd"), text("file")]),
            class(
                MOUNT,
                "mount",
                vec![number("id"), text("device"), text("place"), text("type"), text("source")],
            ),
            class(INTERRUPT, "interrupt", vec![number("irq"), text("handlers")]),
            class(MODULE, "module", vec![text("name"), size("size", false), size("address", true)]),
        ]
    }

    /// Begins it.
    pub(crate) fn new(transcoder: &Transcoder, began: u64) -> Result<Self, Error> {
        Ok(Self { stream: transcoder.marks()?, began, fields: Vec::new() })
    }

    /// Adds what was there when the recording began.
    pub(crate) fn found(&mut self, found: &Found) -> Result<(), Error> {
        self.fields.clear();
        let class = match found {
            Found::Task { thread, process, parent, name } => {
                self.numbers(&[*thread, *process, *parent]).texts(&[name]);
                TASK
            }
            Found::Descriptor { process, number, file } => {
                self.numbers(&[*process, *number]).texts(&[file]);
                DESCRIPTOR
            }
            Found::Mount { number, device, place, kind, source } => {
                self.numbers(&[*number]).texts(&[device, place, kind, source]);
                MOUNT
            }
            Found::Interrupt { number, handlers } => {
                self.numbers(&[*number]).texts(&[handlers]);
                INTERRUPT
            }
            Found::Module { name, size, address } => {
                self.texts(&[name]);
                self.fields.extend([size, address].into_iter().flat_map(|number| number.to_le_bytes()));
                MODULE
            }
        };
        self.stream.event(class, self.began, &[], &self.fields)
    }

    fn numbers(&mut self, numbers: &[u32]) -> &mut Self {
        self.fields.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        self
    }

    fn texts(&mut self, texts: &[&str]) {
        for text in texts {
            self.fields.extend(text.bytes().filter(|byte| *byte != 0));
            self.fields.push(0);
        }
    }

    /// Adds what kiln did at this time, which is that of the last mark or later.
    pub(crate) fn step(&mut self, time: u64, text: &str) -> Result<(), Error> {
        self.fields.clear();
        self.texts(&[text]);
        self.stream.event(STEP, time.max(self.began), &[], &self.fields)
    }

    pub(crate) fn finish(self) -> Result<(), Error> {
        self.stream.finish()
    }
}

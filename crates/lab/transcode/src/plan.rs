//! A kernel's format of an event becomes a class, and its records events of that class.
//!
//! Fields keep their order and lose the gaps between them. What a field only points to, in the tail of a record, takes its place.

use ctf::class::{CONTEXT, Number};
use ctf::{Class, Field, Shape, class::Stream};
use ftrace::{Element, Format, Kind};

/// How the records of an event are rewritten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) class: Class,
    /// Where thread, flags and depth of preemption are in a record.
    context: [Option<usize>; 3],
    steps: Vec<Step>,
    /// It tells of other threads than the one that it is of.
    is_of_others: bool,
}

/// What is done with a part of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// So many bytes from here are taken as they are.
    Copy { from: usize, length: usize },
    /// A word here tells where a text is.
    Text { at: usize, is_relative: bool },
    /// A text is here, up to the end of the record.
    Rest { from: usize },
    /// A word here tells where elements of so many bytes are.
    Elements { at: usize, is_relative: bool, bytes: usize },
}

/// The system of events that tell which thread runs and which is woken.
const SCHEDULER: &str = "sched";

/// Flags of an event in a hardware or software interrupt: `TRACE_FLAG_HARDIRQ` and `TRACE_FLAG_SOFTIRQ` of
/// include/linux/trace_events.h.
const IN_INTERRUPT: u8 = 0x08 | 0x10;

/// The width of the three parts of a context.
const CONTEXT_SIZES: [usize; 3] = [4, 1, 1];

impl Plan {
    /// For an event of this system; nothing if its names are none that a trace can have.
    pub(crate) fn new(system: &str, format: &Format) -> Option<Self> {
        let mut fields: Vec<Field> = Vec::new();
        let mut steps = Vec::new();
        for field in &format.fields {
            let (shape, step) = rewritten(field)?;
            let is_taken = |name: &str| fields.iter().any(|other| other.name == name);
            let mut name = field.name.clone();
            while is_taken(&name) {
                name.push('_');
            }
            fields.push(Field { name, shape });
            push(&mut steps, step);
        }
        let name = format!("{system}:{}", format.name);
        let class = Class { id: format.id, stream: Stream::Kernel, name, fields };
        let place =
            |name: &str| format.common.iter().find(|field| field.name == name).map(|field| field.offset);
        let context = ["common_pid", "common_flags", "common_preempt_count"].map(place);
        class.is_valid().then_some(Self { class, context, steps, is_of_others: system == SCHEDULER })
    }

    /// The context of a record; what it does not have is 0.
    pub(crate) fn context(&self, record: &[u8]) -> [u8; CONTEXT] {
        let mut context = [0; CONTEXT];
        let mut at = 0;
        for (place, size) in self.context.into_iter().zip(CONTEXT_SIZES) {
            let found = place.and_then(|place| record.get(place..place.checked_add(size)?));
            found.into_iter().for_each(|bytes| context[at..at + size].copy_from_slice(bytes));
            at += size;
        }
        context
    }

    /// Whether an event with this context is what one of these threads does, and neither an interrupt nor about other threads.
    pub(crate) fn is_own(&self, context: &[u8; CONTEXT], threads: &[u32]) -> bool {
        let [a, b, c, d, flags, _] = *context;
        !self.is_of_others && flags & IN_INTERRUPT == 0 && threads.contains(&u32::from_le_bytes([a, b, c, d]))
    }

    /// Adds the fields of a record; nothing is promised of `fields` if the record is shorter than its format says.
    pub(crate) fn fields(&self, record: &[u8], fields: &mut Vec<u8>) -> Option<()> {
        for step in &self.steps {
            match *step {
                Step::Copy { from, length } => fields.extend(record.get(from..from.checked_add(length)?)?),
                Step::Text { at, is_relative } => push_text(pointed(record, at, is_relative)?, fields),
                Step::Rest { from } => push_text(record.get(from..)?, fields),
                Step::Elements { at, is_relative, bytes } => {
                    let elements = pointed(record, at, is_relative)?;
                    let count = u16::try_from(elements.len() / bytes).ok()?;
                    fields.extend(count.to_le_bytes());
                    fields.extend(&elements[..usize::from(count) * bytes]);
                }
            }
        }
        Some(())
    }
}

/// Adds a text up to its first NUL.
fn push_text(text: &[u8], fields: &mut Vec<u8>) {
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    fields.extend(&text[..end]);
    fields.push(0);
}

/// What a field becomes, and how.
fn rewritten(field: &ftrace::Field) -> Option<(Shape, Step)> {
    let copy = Step::Copy { from: field.offset, length: field.size };
    let count = |bytes: usize| u32::try_from(field.size / bytes).ok();
    Some(match field.kind {
        Kind::One(Element::Character) => (Shape::Number(Number::unsigned(1)), copy),
        Kind::One(element) => (Shape::Number(number(element)), copy),
        Kind::Array(Element::Character) => (Shape::Text(count(1)?), copy),
        Kind::Array(element) => (Shape::Array(number(element), count(element.bytes())?), copy),
        Kind::Rest => (Shape::String, Step::Rest { from: field.offset }),
        Kind::Opaque => (Shape::Array(Number { is_hex: true, ..Number::unsigned(1) }, count(1)?), copy),
        Kind::Dynamic { element: Element::Character, is_relative } => {
            (Shape::String, Step::Text { at: field.offset, is_relative })
        }
        Kind::Dynamic { element, is_relative } => (
            Shape::Sequence(number(element)),
            Step::Elements { at: field.offset, is_relative, bytes: element.bytes() },
        ),
    })
}

fn number(element: Element) -> Number {
    match element {
        Element::Character => Number::unsigned(1),
        Element::Integer { bytes, is_signed } => {
            Number { is_signed, ..Number::unsigned(u8::try_from(bytes).unwrap_or_default()) }
        }
        Element::Pointer => Number { is_hex: true, ..Number::unsigned(8) },
    }
}

/// Adds a step; what is taken as it is, and follows what is, is one step.
fn push(steps: &mut Vec<Step>, step: Step) {
    match (steps.last_mut(), step) {
        (Some(Step::Copy { from, length }), Step::Copy { from: next, length: more })
            if *from + *length == next =>
        {
            *length += more;
        }
        _ => steps.push(step),
    }
}

/// What a word of `__data_loc` or `__rel_loc` points to: its lower half is the place, its upper half the length.
fn pointed(record: &[u8], at: usize, is_relative: bool) -> Option<&[u8]> {
    let word = record.get(at..at.checked_add(4)?)?;
    let (place, length) = (
        usize::from(u16::from_le_bytes([word[0], word[1]])),
        usize::from(u16::from_le_bytes([word[2], word[3]])),
    );
    let begin = if is_relative { at + 4 + place } else { place };
    record.get(begin..begin + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "name: event\nID: 9\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
        \tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
        \tfield:u32 a;\toffset:8;\tsize:4;\tsigned:0;\n\
        \tfield:u32 b;\toffset:12;\tsize:4;\tsigned:0;\n\
        \tfield:__data_loc char[] name;\toffset:16;\tsize:4;\tsigned:0;\n\
        \tfield:__rel_loc u16[] list;\toffset:20;\tsize:4;\tsigned:0;\n\
        \tfield:char a[2];\toffset:24;\tsize:2;\tsigned:0;\n";

    fn plan() -> Plan {
        Plan::new("test", &Format::parse(TEXT).expect("a format")).expect("a plan")
    }

    fn record() -> Vec<u8> {
        let mut record = vec![9, 0, 5, 6];
        record.extend(77_u32.to_le_bytes());
        record.extend([1, 0, 0, 0, 2, 0, 0, 0]);
        record.extend([28, 0, 4, 0]); // four bytes at 28
        record.extend([8, 0, 4, 0]); // four bytes at 24 + 8
        record.extend(b"xy..");
        record.extend(b"hi\0!\x03\0\x04\0");
        record
    }

    #[test]
    fn a_record_becomes_an_event_without_gaps_and_pointers() {
        let plan = plan();
        let names: Vec<_> = plan.class.fields.iter().map(|field| &*field.name).collect();
        assert_eq!((&*plan.class.name, names), ("test:event", vec!["a", "b", "name", "list", "a_"]));
        assert_eq!(plan.context(&record()), [77, 0, 0, 0, 5, 6]);
        let mut fields = Vec::new();
        plan.fields(&record(), &mut fields).expect("it is whole");
        assert_eq!(fields, b"\x01\0\0\0\x02\0\0\0hi\0\x02\0\x03\0\x04\0xy");
        assert_eq!(plan.steps.len(), 4, "neighbours are one step");
    }

    #[test]
    fn a_record_that_is_cut_or_points_beyond_itself_is_none() {
        let plan = plan();
        let fields = |record: &[u8]| plan.fields(record, &mut Vec::new());
        for length in [0, 8, 15, 25, 31, 35] {
            assert_eq!(fields(&record()[..length]), None, "{length}");
        }
        let mut lying = record();
        lying[19] = 0xff;
        assert_eq!(fields(&lying), None);
        assert_eq!(plan.context(&[1, 2, 3]), [0, 0, 0, 0, 3, 0]);
    }

    #[test]
    fn what_a_thread_does_itself_is_neither_an_interrupt_nor_scheduling() {
        let plan = plan();
        let context = |thread: u8, flags: u8| [thread, 0, 0, 0, flags, 0];
        assert!(plan.is_own(&context(7, 1), &[6, 7]));
        assert!(!plan.is_own(&context(8, 1), &[6, 7]));
        assert!(!plan.is_own(&context(7, 1), &[]));
        assert!(!plan.is_own(&context(7, 0x08), &[7]), "an interrupt");
        assert!(!plan.is_own(&context(7, 0x11), &[7]), "a software interrupt");
        let switch = Plan::new("sched", &Format::parse(TEXT).expect("a format")).expect("a plan");
        assert!(!switch.is_own(&context(7, 1), &[7]));
    }

    #[test]
    fn names_that_no_trace_can_have_give_no_plan() {
        let format = Format::parse(TEXT).expect("a format");
        assert!(Plan::new("te\"st", &format).is_none());
        assert!(Plan::new("test", &Format { name: "a\nb".to_owned(), ..format }).is_none());
    }
}

//! What events there are, and their fields.

/// A class of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class {
    /// Its number, by which events name it.
    pub id: u16,
    /// The streams that it is in.
    pub stream: Stream,
    /// Its name, such as `sched:sched_switch`.
    pub name: String,
    /// Its fields in their order, with nothing in between.
    pub fields: Vec<Field>,
}

/// What the streams of a trace are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// What a kernel recorded on a CPU. Each event says in which context.
    Kernel,
    /// What programs say.
    Marks,
}

/// A field of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name: letters, digits and underscores.
    pub name: String,
    /// What is in it.
    pub shape: Shape,
}

/// What is in a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A number.
    Number(Number),
    /// So many numbers.
    Array(Number, u32),
    /// Numbers behind 16 bits with their count.
    Sequence(Number),
    /// So many bytes with a text that ends at the first NUL.
    Text(u32),
    /// A text with a NUL behind it.
    String,
}

/// An integer, little endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number {
    /// 1, 2, 4 or 8.
    pub bytes: u8,
    /// It may be negative.
    pub is_signed: bool,
    /// People read it in hexadecimal.
    pub is_hex: bool,
}

/// Bytes of the count of a sequence.
pub const COUNT: usize = 2;

/// The largest number of a class: the one above says that an event has a longer head.
pub const ID_MAX: u16 = u16::MAX - 1;

/// Longest name of a class or a field, in bytes.
const NAME_MAX: usize = 200;

impl Class {
    /// Whether it can be written: its names are such as kernels have.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        let is_short = |name: &str| !name.is_empty() && name.len() <= NAME_MAX;
        let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_name =
            |name: &str| is_short(name) && name.chars().all(|c| is_letter(c) || ":.-+/ ".contains(c));
        let is_field = |name: &str| is_short(name) && name.chars().all(is_letter);
        let is_number = |number: Number| matches!(number.bytes, 1 | 2 | 4 | 8);
        let is_shape = |shape: Shape| match shape {
            Shape::Number(number) | Shape::Sequence(number) => is_number(number),
            Shape::Array(number, count) => is_number(number) && count > 0,
            Shape::Text(size) => size > 0,
            Shape::String => true,
        };
        let is_right = |field: &Field| is_field(&field.name) && is_shape(field.shape);
        self.id <= ID_MAX && is_name(&self.name) && self.fields.iter().all(is_right)
    }
}

impl Stream {
    /// Its number in a trace.
    #[must_use]
    pub fn id(self) -> u32 {
        match self {
            Self::Kernel => 0,
            Self::Marks => 1,
        }
    }

    /// What its file is called; those of kernels have one for each CPU.
    #[must_use]
    pub fn file_name(self, cpu: u32) -> String {
        match self {
            Self::Kernel => format!("cpu{cpu}"),
            Self::Marks => "kiln".to_owned(),
        }
    }

    /// Bytes of the context of each of its events.
    pub(crate) fn context(self) -> usize {
        match self {
            Self::Kernel => CONTEXT,
            Self::Marks => 0,
        }
    }
}

/// Bytes of the context of a kernel's event: the thread, flags, and how often preemption is disabled.
pub const CONTEXT: usize = 6;

impl Number {
    /// An unsigned one.
    #[must_use]
    pub fn unsigned(bytes: u8) -> Self {
        Self { bytes, is_signed: false, is_hex: false }
    }

    pub(crate) fn size(self) -> usize {
        usize::from(self.bytes)
    }
}

impl Shape {
    /// How many bytes a field has that begins with `bytes`; none if it reaches beyond their end.
    #[must_use]
    pub fn size(self, bytes: &[u8]) -> Option<usize> {
        let size = match self {
            Self::Number(_) | Self::Array(..) | Self::Text(_) => self.fixed_size()?,
            Self::Sequence(number) => {
                let count = u16::from_le_bytes(bytes.get(..COUNT)?.try_into().ok()?);
                COUNT + number.size() * usize::from(count)
            }
            Self::String => bytes.iter().position(|byte| *byte == 0)? + 1,
        };
        (size <= bytes.len()).then_some(size)
    }

    /// How many bytes each field of this shape has; nothing if they differ.
    fn fixed_size(self) -> Option<usize> {
        match self {
            Self::Number(number) => Some(number.size()),
            Self::Array(number, count) => number.size().checked_mul(usize::try_from(count).ok()?),
            Self::Text(size) => usize::try_from(size).ok(),
            Self::Sequence(_) | Self::String => None,
        }
    }
}

/// How the bytes of an event are passed over: runs of fields whose size is known, and the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Steps(Vec<Step>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Fixed(usize),
    Varying(Shape),
}

impl Steps {
    pub(crate) fn of(class: &Class) -> Self {
        let mut steps = Vec::new();
        for field in &class.fields {
            let Some(fixed) = field.shape.fixed_size() else {
                steps.push(Step::Varying(field.shape));
                continue;
            };
            match steps.last_mut() {
                Some(Step::Fixed(size)) => *size = size.saturating_add(fixed),
                _ => steps.push(Step::Fixed(fixed)),
            }
        }
        Self(steps)
    }

    /// How many bytes the fields have at the begin of `bytes`; none if they reach beyond their end.
    pub(crate) fn size(&self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0_usize;
        for step in &self.0 {
            let rest = bytes.get(at..)?;
            at += match step {
                Step::Fixed(size) => *size,
                Step::Varying(shape) => shape.size(rest)?,
            };
        }
        (at <= bytes.len()).then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_as_long_as_its_fields() {
        let field = |shape| Field { name: "f".to_owned(), shape };
        let word = Number::unsigned(4);
        let fields = [
            Shape::Number(word),
            Shape::Text(3),
            Shape::String,
            Shape::Sequence(word),
            Shape::Array(word, 2),
        ];
        let class =
            Class { id: 1, stream: Stream::Kernel, name: "x".to_owned(), fields: fields.map(field).to_vec() };
        let steps = Steps::of(&class);
        let bytes = b"\x01\0\0\0abcdef\0\x02\0........--------....";
        assert_eq!(steps.size(bytes), Some(4 + 3 + 4 + 2 + 8 + 8));
        for cut in 0..29 {
            assert_eq!(steps.size(&bytes[..cut]), None, "{cut}");
        }
    }
}

//! The format of an event: its number and its fields.
//!
//! ```text
//! name: sched_switch
//! ID: 372
//! format:
//!         field:unsigned short common_type;       offset:0;       size:2; signed:0;
//!         field:int common_pid;   offset:4;       size:4; signed:1;
//!
//!         field:char prev_comm[16];       offset:8;       size:16;        signed:0;
//!
//! print fmt: "prev_comm=%s", REC->prev_comm
//! ```

mod types;

use thiserror::Error;

use types::{Shape, shape};

/// Fields that are read of one event: the kernel's own have less than a hundred.
const FIELDS_MAX: usize = 1000;

/// How the names of fields begin that all events have.
const COMMON: &str = "common_";

/// An event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Format {
    /// Its name without that of its system.
    pub name: String,
    /// Its number, by which records name it.
    pub id: u16,
    /// The fields that all events have.
    pub common: Vec<Field>,
    /// Its own fields.
    pub fields: Vec<Field>,
    /// How the kernel prints it: a format and what goes into it, in C.
    pub print: String,
}

/// A field of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Where it is in a record, in bytes.
    pub offset: usize,
    /// How many bytes it has there.
    pub size: usize,
    /// What these are.
    pub kind: Kind,
}

/// What a field is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One of these.
    One(Element),
    /// As many as fit. Characters end with the first NUL.
    Array(Element),
    /// As many as a word in its place says; they are behind the fields, so many bytes from the begin of the record, or from the
    /// end of the word.
    Dynamic {
        /// What there are.
        element: Element,
        /// Their place is counted from the end of the word.
        is_relative: bool,
    },
    /// A text from its place to the end of the record.
    Rest,
    /// Bytes of which nothing is known.
    Opaque,
}

/// What arrays are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// A character of a text.
    Character,
    /// An integer.
    Integer {
        /// 1, 2, 4 or 8.
        bytes: usize,
        /// It may be negative.
        is_signed: bool,
    },
    /// An address.
    Pointer,
}

/// What is wrong with a format.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WrongFormat {
    /// It has no such line.
    #[error("the format of an event has no line \"{0}\"")]
    Missing(&'static str),
    /// A field cannot be read.
    #[error("the format of the event {event} has a field that is not understood: {line:?}")]
    Field {
        /// Its name.
        event: String,
        /// What it says.
        line: String,
    },
    /// There are too many.
    #[error("the format of the event {0} has more than {FIELDS_MAX} fields")]
    Many(String),
}

impl Format {
    /// Reads the file `format` of an event.
    ///
    /// # Errors
    ///
    /// When it has no name or number, or a field is not understood.
    pub fn parse(text: &str) -> Result<Self, WrongFormat> {
        let value = |key: &'static str| text.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
        let name = value("name:").filter(|name| !name.is_empty()).ok_or(WrongFormat::Missing("name:"))?;
        let id = value("ID:").and_then(|id| id.parse().ok()).ok_or(WrongFormat::Missing("ID:"))?;
        let mut format = Self {
            name: name.to_owned(),
            id,
            common: Vec::new(),
            fields: Vec::new(),
            print: value("print fmt:").unwrap_or_default().to_owned(),
        };
        for line in text.lines().filter(|line| line.trim_start().starts_with("field:")) {
            let field = attributes(line).and_then(|attributes| attributes.field());
            let wrong = || WrongFormat::Field { event: name.to_owned(), line: line.trim().to_owned() };
            let field = field.ok_or_else(wrong)?;
            if format.common.len() + format.fields.len() == FIELDS_MAX {
                return Err(WrongFormat::Many(name.to_owned()));
            }
            let list = if field.name.starts_with(COMMON) { &mut format.common } else { &mut format.fields };
            list.push(field);
        }
        Ok(format)
    }
}

/// A line about a field as it is written.
pub(crate) struct Attributes<'a> {
    declaration: &'a str,
    pub(crate) offset: usize,
    pub(crate) size: usize,
    is_signed: bool,
}

/// Reads `field:DECLARATION; offset:N; size:N; signed:N;`.
pub(crate) fn attributes(line: &str) -> Option<Attributes<'_>> {
    let declaration = line.trim_start().strip_prefix("field:")?;
    let (declaration, rest) = declaration.split_once(';')?;
    let value = |key: &str| rest.split(';').find_map(|part| part.trim().strip_prefix(key)).map(str::trim);
    Some(Attributes {
        declaration: declaration.trim(),
        offset: value("offset:")?.parse().ok()?,
        size: value("size:")?.parse().ok()?,
        is_signed: value("signed:").is_some_and(|value| value != "0"),
    })
}

impl Attributes<'_> {
    /// The name in the declaration: what is last before brackets.
    pub(crate) fn name(&self) -> &str {
        self.without_count()
            .rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .next()
            .unwrap_or_default()
    }

    /// The declaration without the brackets of an array.
    fn without_count(&self) -> &str {
        // Those of `__data_loc char[] name` are part of its type.
        if self.is_array() {
            self.declaration.split('[').next().unwrap_or_default()
        } else {
            self.declaration
        }
    }

    fn is_array(&self) -> bool {
        self.declaration.ends_with(']')
    }

    fn field(&self) -> Option<Field> {
        let name = self.name();
        let type_name = self.without_count().strip_suffix(name)?.trim();
        let kind = match shape(type_name) {
            Shape::Dynamic { element, is_relative } if self.size == 4 => {
                Kind::Dynamic { element: element.signed(self.is_signed), is_relative }
            }
            Shape::Dynamic { .. } => return None,
            Shape::Plain(element) if self.is_array() => self.array(element)?,
            Shape::Plain(element) => self.single(element),
        };
        self.offset.checked_add(self.size)?;
        (!name.is_empty()).then(|| Field {
            name: name.to_owned(),
            offset: self.offset,
            size: self.size,
            kind,
        })
    }

    /// What the elements of an array are: their number may be a constant of the kernel, so that only its size tells.
    fn array(&self, known: Option<Element>) -> Option<Kind> {
        if self.size == 0 && known == Some(Element::Character) {
            return Some(Kind::Rest);
        }
        let inside = self.declaration.rsplit_once('[')?.1.strip_suffix(']')?;
        let count = inside.trim().parse::<usize>().ok().filter(|count| *count > 0);
        let by_count = count.filter(|count| self.size.is_multiple_of(*count)).map(|count| self.size / count);
        let element = match (known, by_count) {
            (Some(Element::Character), _) => Some(Element::Character),
            (Some(Element::Pointer), _) => Some(Element::Pointer),
            (Some(Element::Integer { bytes, .. }), None) => integer(bytes, self.is_signed),
            (_, Some(bytes)) => integer(bytes, self.is_signed),
            (None, None) => None,
        };
        Some(
            element
                .filter(|element| self.size.is_multiple_of(element.bytes()))
                .map_or(Kind::Opaque, Kind::Array),
        )
    }

    /// A value of its own: the size decides, since types have many names.
    fn single(&self, known: Option<Element>) -> Kind {
        match (known, integer(self.size, self.is_signed)) {
            (Some(Element::Pointer), Some(_)) if self.size == Element::Pointer.bytes() => {
                Kind::One(Element::Pointer)
            }
            (_, Some(integer)) => Kind::One(integer),
            (_, None) => Kind::Opaque,
        }
    }
}

fn integer(bytes: usize, is_signed: bool) -> Option<Element> {
    matches!(bytes, 1 | 2 | 4 | 8).then_some(Element::Integer { bytes, is_signed })
}

impl Element {
    /// How many bytes one takes. A pointer is that of a 64-bit kernel.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::Character => 1,
            Self::Integer { bytes, .. } => bytes,
            Self::Pointer => 8,
        }
    }

    fn signed(self, is_signed: bool) -> Self {
        match self {
            Self::Integer { bytes, .. } => Self::Integer { bytes, is_signed },
            other => other,
        }
    }
}

#[cfg(test)]
mod tests;

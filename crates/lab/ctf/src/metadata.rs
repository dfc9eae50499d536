//! The classes of a trace as text, in the Trace Stream Description Language.
//!
//! Names of fields have an underscore in front, so that none is a word of the language; readers take it off.

mod parse;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt::Write;

pub(crate) use parse::TEXT_MAX;

use crate::class::{Class, Field, Number, Shape};

/// The first line: `file` and babeltrace2 look for it.
const FIRST: &str = "/* CTF 1.8 */\n";

/// Types that are named, with how the language describes them.
const TYPES: [(&str, &str); 17] = [
    ("uint8_t", "size = 8; align = 8; signed = false;"),
    ("uint16_t", "size = 16; align = 8; signed = false;"),
    ("uint32_t", "size = 32; align = 8; signed = false;"),
    ("uint64_t", "size = 64; align = 8; signed = false;"),
    ("int8_t", "size = 8; align = 8; signed = true;"),
    ("int16_t", "size = 16; align = 8; signed = true;"),
    ("int32_t", "size = 32; align = 8; signed = true;"),
    ("int64_t", "size = 64; align = 8; signed = true;"),
    ("hex8_t", "size = 8; align = 8; signed = false; base = 16;"),
    ("hex16_t", "size = 16; align = 8; signed = false; base = 16;"),
    ("hex32_t", "size = 32; align = 8; signed = false; base = 16;"),
    ("hex64_t", "size = 64; align = 8; signed = false; base = 16;"),
    ("char_t", "size = 8; align = 8; signed = false; encoding = UTF8;"),
    ("count_t", "size = 16; align = 8; signed = false;"),
    ("clock32_t", "size = 32; align = 8; signed = false; map = clock.trace.value;"),
    ("clock64_t", "size = 64; align = 8; signed = false; map = clock.trace.value;"),
    ("id_t", "size = 16; align = 8; signed = false;"),
];

/// The packets and heads of events, which are the same in all traces.
const FRAME: &str = "\
struct packet_context {
	clock64_t timestamp_begin;
	clock64_t timestamp_end;
	uint64_t content_size;
	uint64_t packet_size;
	uint64_t packet_seq_num;
	uint64_t events_discarded;
	uint32_t cpu_id;
};

struct event_header {
	enum : id_t { compact = 0 ... 65534, extended = 65535 } id;
	variant <id> {
		struct { clock32_t timestamp; } compact;
		struct { uint32_t id; clock64_t timestamp; } extended;
	} v;
} align(8);

stream {
	id = 0;
	packet.context := struct packet_context;
	event.header := struct event_header;
	event.context := struct { int32_t _tid; hex8_t _flags; uint8_t _preempt_count; };
};

stream {
	id = 1;
	packet.context := struct packet_context;
	event.header := struct event_header;
};

";

/// Who wrote a trace, as its environment says.
const TRACER: (&str, &str) = ("tracer_name", "kiln");
const VERSION: (&str, &str) = ("trace_version", "1");

/// What there is to know of a trace before its events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata {
    /// Which trace it is.
    pub uuid: [u8; 16],
    /// The time 0 of the trace in nanoseconds since 1970, if it is known.
    pub offset: i64,
    /// What else is to be known, such as the kernel.
    pub environment: BTreeMap<String, String>,
    /// The classes of events.
    pub classes: Vec<Class>,
}

impl Metadata {
    /// The same as text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = FIRST.to_owned();
        for (name, description) in TYPES {
            let _ = writeln!(text, "typealias integer {{ {description} }} := {name};");
        }
        let _ = write!(
            text,
            "\ntrace {{\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"{}\";\n\tbyte_order = le;\n\
             \tpacket.header := struct {{ uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; }};\n}};\n\nenv {{\n",
            uuid(self.uuid)
        );
        let own = [TRACER, VERSION].map(|(key, value)| (key.to_owned(), value.to_owned()));
        let environment = own.into_iter().chain(self.environment.clone());
        for (key, value) in environment.filter(|(key, _)| is_word(key)) {
            let _ = writeln!(text, "\t{key} = \"{}\";", quoted(&value));
        }
        let _ = write!(
            text,
            "}};\n\nclock {{\n\tname = \"trace\";\n\tfreq = 1000000000;\n\toffset = {};\n}};\n\n",
            self.offset
        );
        text.push_str(FRAME);
        self.classes.iter().for_each(|class| text.push_str(&class_text(class)));
        text
    }

    /// Reads the text of a trace of kiln's.
    ///
    /// # Errors
    ///
    /// The line, counted from 1, and what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, (usize, String)> {
        parse::metadata(text)
    }
}

/// A class as text, which may be added to that of the others.
#[must_use]
pub fn class_text(class: &Class) -> String {
    let mut text = format!(
        "event {{\n\tname = \"{}\";\n\tid = {};\n\tstream_id = {};\n\tfields := struct {{\n",
        quoted(&class.name),
        class.id,
        class.stream.id()
    );
    class.fields.iter().for_each(|field| field_text(field, &mut text));
    text + "\t};\n};\n\n"
}

fn field_text(Field { name, shape }: &Field, text: &mut String) {
    let _ = match shape {
        Shape::Number(number) => writeln!(text, "\t\t{} _{name};", type_name(*number)),
        Shape::Array(number, count) => writeln!(text, "\t\t{} _{name}[{count}];", type_name(*number)),
        Shape::Sequence(number) => {
            writeln!(
                text,
                "\t\tcount_t __{name}_length;\n\t\t{} _{name}[__{name}_length];",
                type_name(*number)
            )
        }
        Shape::Text(size) => writeln!(text, "\t\tchar_t _{name}[{size}];"),
        Shape::String => writeln!(text, "\t\tstring _{name};"),
    };
}

fn type_name(Number { bytes, is_signed, is_hex }: Number) -> String {
    let kind = match (is_signed, is_hex) {
        (true, _) => "int",
        (false, true) => "hex",
        (false, false) => "uint",
    };
    format!("{kind}{}_t", u32::from(bytes) * 8)
}

/// A UUID as it is written.
#[must_use]
pub fn uuid(bytes: [u8; 16]) -> String {
    let mut text = String::new();
    for (at, byte) in bytes.iter().enumerate() {
        text.push_str(if matches!(at, 4 | 6 | 8 | 10) { "-" } else { "" });
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn is_word(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !text.is_empty() && text.chars().all(is_letter) && !text.starts_with(|c: char| c.is_ascii_digit())
}

/// What stands between quotes. The language has escapes as C has; a control character is none of our business.
fn quoted(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '"' => "\\\"".to_owned(),
            '\\' => "\\\\".to_owned(),
            c if c.is_control() => " ".to_owned(),
            c => c.to_string(),
        })
        .collect()
}

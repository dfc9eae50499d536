//! Messages of DNS (RFC 1035) over UDP: one question, and what the stations' names say about it.

use super::names::Names;

/// Bytes of the header.
const HEADER: usize = 12;

/// Bytes of a name at most, and of one of its labels (RFC 1035, section 2.3.4).
const NAME_MAX: usize = 255;
const LABEL_MAX: u8 = 63;

/// Types and classes of records; a question may ask for any.
const A: u16 = 1;
const PTR: u16 = 12;
const INTERNET: u16 = 1;
const ANY: u16 = 255;

/// Flags: this is a response, with authority; the client wishes recursion, which comes back to it.
const RESPONSE: u16 = 0x8400;
const IS_RESPONSE: u16 = 0x8000;
const OPERATION: u16 = 0x7800;
const RECURSION_DESIRED: u16 = 0x0100;

/// Where the name of the question is: a pointer to the end of the header (section 4.1.4).
const QUESTION_NAME: u16 = 0xc000 | HEADER as u16;

/// Seconds for which an answer may be kept.
const SECONDS: u32 = 60;

/// Response codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Code {
    NoError = 0,
    FormatError = 1,
    NameError = 3,
    NotImplemented = 4,
}

/// A question.
#[derive(Debug, PartialEq, Eq)]
struct Question<'a> {
    /// In lower case, without the dot at the end.
    name: String,
    kind: u16,
    class: u16,
    /// As it stands in the message.
    bytes: &'a [u8],
}

/// The response to a query; none if it is no query.
pub(super) fn answer(query: &[u8], names: &Names) -> Option<Vec<u8>> {
    let id = word(query, 0)?;
    let flags = word(query, 2)?;
    let questions = word(query, 4)?;
    let rest = query.get(HEADER..)?;
    if flags & IS_RESPONSE != 0 {
        return None;
    }
    let respond = |code, question, record| {
        let flags = RESPONSE | flags & (OPERATION | RECURSION_DESIRED) | code as u16;
        Some(response(id, flags, question, record))
    };
    if flags & OPERATION != 0 {
        return respond(Code::NotImplemented, &[], None);
    }
    let question = if questions == 1 { Question::parse(rest) } else { None };
    let Some(question) = question else { return respond(Code::FormatError, &[], None) };
    let (code, record) = question.look_up(names);
    respond(code, question.bytes, record)
}

impl<'a> Question<'a> {
    fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (name, length) = name(bytes)?;
        let bytes = bytes.get(..length + 4)?;
        Some(Self { name, kind: word(bytes, length)?, class: word(bytes, length + 2)?, bytes })
    }

    /// The code, and the type and the data of the answer.
    fn look_up(&self, names: &Names) -> (Code, Option<(u16, Vec<u8>)>) {
        if ![INTERNET, ANY].contains(&self.class) {
            return (Code::NameError, None);
        }
        let wants = |kind| self.kind == kind || self.kind == ANY;
        if let Some(address) = names.address(&self.name) {
            // A name without an address of the wanted type exists all the same (RFC 4074, section 3).
            return (Code::NoError, wants(A).then(|| (A, address.octets().to_vec())));
        }
        match names.reverse(&self.name) {
            Some(name) => (Code::NoError, wants(PTR).then(|| (PTR, encoded(name)))),
            None => (Code::NameError, None),
        }
    }
}

fn response(id: u16, flags: u16, question: &[u8], record: Option<(u16, Vec<u8>)>) -> Vec<u8> {
    let counts = [u16::from(!question.is_empty()), u16::from(record.is_some()), 0, 0];
    let mut out: Vec<u8> = [id, flags].into_iter().chain(counts).flat_map(u16::to_be_bytes).collect();
    out.extend_from_slice(question);
    if let Some((kind, data)) = record {
        out.extend([QUESTION_NAME, kind, INTERNET].into_iter().flat_map(u16::to_be_bytes));
        out.extend(SECONDS.to_be_bytes());
        out.extend((data.len() as u16).to_be_bytes());
        out.extend(data);
    }
    out
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().copied().map(u16::from_be_bytes)
}

/// The name at the beginning, in lower case, and its bytes. A question needs no pointers, so there are none.
fn name(bytes: &[u8]) -> Option<(String, usize)> {
    let mut name = String::new();
    let mut at = 0;
    loop {
        let length = *bytes.get(at)?;
        if length == 0 {
            return Some((name, at + 1));
        }
        let end = at + 1 + usize::from(length);
        if length > LABEL_MAX || end >= NAME_MAX {
            return None;
        }
        if at > 0 {
            name.push('.');
        }
        name.push_str(&label(bytes.get(at + 1..end)?));
        at = end;
    }
}

/// A label as text. What is no letter of a station's name becomes one that none of them has.
fn label(bytes: &[u8]) -> String {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    bytes.iter().map(|byte| if is_letter(*byte) { byte.to_ascii_lowercase().into() } else { '?' }).collect()
}

/// A name in the form of a message.
fn encoded(name: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len() + 2);
    for label in name.split('.') {
        out.push(label.len().min(LABEL_MAX.into()) as u8);
        out.extend(label.bytes().take(LABEL_MAX.into()));
    }
    out.push(0);
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::settings::Settings;

    fn names() -> Names {
        let mut settings = Settings::new("lan", 1);
        settings.add("a").unwrap();
        Names::new(&settings)
    }

    fn query(name: &str, kind: u16) -> Vec<u8> {
        let head = b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0";
        [&head[..], &encoded(name), &kind.to_be_bytes(), &INTERNET.to_be_bytes()].concat()
    }

    /// The code, the number of answers, and the data of the answer.
    fn ask(query: &[u8]) -> (u16, u16, Vec<u8>) {
        let response = answer(query, &names()).unwrap();
        assert_eq!(response[..2], query[..2]);
        let (flags, answers) = (word(&response, 2).unwrap(), word(&response, 6).unwrap());
        let data = response.get(query.len() + 12..).unwrap_or_default().to_vec();
        (flags & 0xf, answers, data)
    }

    #[test]
    fn names_and_addresses_are_answered() {
        assert_eq!(ask(&query("A.Kiln.Test", A)), (0, 1, vec![10, 77, 0, 2]));
        assert_eq!(ask(&query("2.0.77.10.in-addr.arpa", PTR)), (0, 1, encoded("a.kiln.test")));
        // AAAA.
        assert_eq!(ask(&query("a", 28)), (0, 0, vec![]));
        assert_eq!(ask(&query("c.kiln.test", A)), (3, 0, vec![]));
        assert_eq!(ask(&query("c.kiln.test", 28)).0, 3);
    }

    #[test]
    fn what_is_no_question_is_an_error() {
        let good = query("a", A);
        let with = |at: usize, byte: u8| {
            let mut bytes = good.clone();
            bytes[at] = byte;
            bytes
        };
        assert_eq!(answer(&with(2, 0x80), &names()), None);
        assert_eq!(answer(&good[..11], &names()), None);
        assert_eq!(ask(&with(2, 0x10)).0, 4);
        assert_eq!(ask(&with(5, 2)).0, 1);
        assert_eq!(ask(&with(12, 0xc0)).0, 1);
        assert_eq!(ask(&good[..good.len() - 1]).0, 1);
        assert_eq!(answer(&good, &names()).unwrap()[2] & 1, 1);
    }

    proptest! {
        #[test]
        fn responses_to_any_bytes_are_short(rest in prop::collection::vec(any::<u8>(), 0..600), flags: [u8; 2]) {
            let head = [&[1, 2], &flags[..], &[0, 1, 0, 0, 0, 0, 0, 0]].concat();
            if let Some(response) = answer(&[head, rest.clone()].concat(), &names()) {
                prop_assert!(response.len() <= 512 && response[2] & 0x80 != 0);
            }
            let _ = answer(&rest, &names());
        }
    }
}

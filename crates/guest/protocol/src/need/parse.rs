//! Needs as users write them: `disk=512M,cpus=2,module=kvm,program=fio`.

use std::str::FromStr;

use thiserror::Error;

use super::Need;

/// A text that is not a need.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WrongNeed {
    /// The key or its value has the wrong form.
    #[error(
        "{0:?} is not a need: write module=NAME, optional-module=NAME, fs=TYPE, config=OPTION, device=PATH, \
         disk=SIZE, memory=SIZE, cpus=COUNT, capability=NUMBER or program=NAME"
    )]
    Unknown(String),
    /// No machine has that many.
    #[error("{text:?} is out of range: write a number from {least} to {most}")]
    Number {
        /// The whole text.
        text: String,
        /// The smallest number that is accepted.
        least: &'static str,
        /// The largest one.
        most: &'static str,
    },
}

/// The first form of `--need`, which old sessions and scripts have: what precedes the value, what follows it, and both in
/// today's form.
const OLD_FORMS: [(&str, &str, &str, &str); 9] = [
    ("module ", "", "module=", ""),
    ("file system ", "", "fs=", ""),
    ("CONFIG_", "", "config=", ""),
    ("device ", "", "device=", ""),
    ("a disk of ", " MiB", "disk=", "M"),
    ("", " MiB of memory", "memory=", "M"),
    ("", " CPUs", "cpus=", ""),
    ("capability ", "", "capability=", ""),
    ("program ", "", "program=", ""),
];

/// Numbers that a need can have.
struct Range {
    least: u64,
    most: u64,
    /// Both as users write them.
    texts: (&'static str, &'static str),
}

/// MiB of a disk or memory: more is larger than any machine's.
const SIZES: Range = Range { least: 1, most: 1 << 24, texts: ("1M", "16T") };

/// CPUs of a machine.
const CPUS: Range = Range { least: 1, most: 255, texts: ("1", "255") };

/// Capabilities: a set has 64 bits.
const CAPABILITIES: Range = Range { least: 0, most: 63, texts: ("0", "63") };

impl FromStr for Need<String> {
    type Err = WrongNeed;

    fn from_str(text: &str) -> Result<Self, WrongNeed> {
        let unknown = || WrongNeed::Unknown(text.to_string());
        let modern = from_old_form(text).unwrap_or_else(|| text.to_string());
        let (key, value) = modern.split_once('=').ok_or_else(unknown)?;
        let number = |range: &Range, number: Option<u64>| range.check(text, number.ok_or_else(unknown)?);
        let name = |is_name: fn(&str) -> bool, value: &str| {
            if is_name(value) { Ok(value.to_string()) } else { Err(unknown()) }
        };
        match key {
            "module" => name(is_word, value).map(Need::Module),
            "optional-module" => name(is_word, value).map(Need::OptionalModule),
            "fs" => name(is_word, value).map(Need::Filesystem),
            "config" => name(is_word, value.strip_prefix("CONFIG_").unwrap_or(value)).map(Need::Config),
            "device" => name(is_path, value).map(Need::Device),
            "program" => name(is_word, value).map(Need::Tool),
            "disk" => number(&SIZES, mebibytes(value)).map(Need::Disk),
            "memory" => number(&SIZES, mebibytes(value)).map(Need::Memory),
            "cpus" => number(&CPUS, digits(value)).map(|count| Need::Cpus(small(count))),
            "capability" => {
                number(&CAPABILITIES, digits(value)).map(|number| Need::Capability(small(number)))
            }
            _ => Err(unknown()),
        }
    }
}

impl Range {
    fn check(&self, text: &str, number: u64) -> Result<u64, WrongNeed> {
        let (least, most) = self.texts;
        let is_inside = (self.least..=self.most).contains(&number);
        is_inside.then_some(number).ok_or_else(|| WrongNeed::Number { text: text.to_string(), least, most })
    }
}

/// A text of the first form in today's form.
fn from_old_form(text: &str) -> Option<String> {
    OLD_FORMS.iter().find_map(|(before, after, key, unit)| {
        let value = text.strip_prefix(before)?.strip_suffix(after)?;
        Some(format!("{key}{value}{unit}"))
    })
}

/// `512M`, `2G`, `1T`; a bare number is MiB. Too large a number is the largest there is.
fn mebibytes(text: &str) -> Option<u64> {
    let (number, factor) = match text.as_bytes().last()? {
        b'M' => (&text[..text.len() - 1], 1),
        b'G' => (&text[..text.len() - 1], 1 << 10),
        b'T' => (&text[..text.len() - 1], 1 << 20),
        _ => (text, 1),
    };
    Some(digits(number)?.saturating_mul(factor))
}

/// A number without a sign. Too large a number is the largest there is.
fn digits(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}

fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Whether it can be a single name, which is nothing that leads elsewhere.
fn is_word(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.+:".contains(&byte);
    !name.trim_matches('.').is_empty() && name.bytes().all(is_plain)
}

fn is_path(path: &str) -> bool {
    path.starts_with('/') && path.split('/').skip(1).all(is_word)
}

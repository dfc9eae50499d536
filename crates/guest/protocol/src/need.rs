//! What a case or a program cannot do without.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Something of kernel, machine or host. What is shown is what [`FromStr`] reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Need<Name = &'static str> {
    /// A kernel module, loadable or built in.
    Module(Name),
    /// A file system type, from a module of the same name or built in.
    Filesystem(Name),
    /// A configuration option, without `CONFIG_`, that is `y` or `m`.
    Config(Name),
    /// A device node.
    Device(Name),
    /// An empty disk of this many MiB.
    Disk(u64),
    /// A machine with at least this much memory, in MiB.
    Memory(u64),
    /// A machine with at least this many CPUs.
    Cpus(u32),
    /// A capability of capabilities(7), by its number.
    Capability(u32),
    /// A program of the host, shipped into the machine.
    Tool(Name),
}

/// A text that says no need.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WrongNeed {
    /// Nothing is called that.
    #[error(
        "{0:?} is no need: write module NAME, file system NAME, CONFIG_NAME, device PATH, a disk of N MiB, \
         N MiB of memory, N CPUs, capability N or program NAME"
    )]
    Unknown(String),
    /// No machine has that many.
    #[error("{text:?} cannot be had: write a number from {least} to {most}")]
    Number {
        /// The whole text.
        text: String,
        /// The smallest number that can be asked for.
        least: u64,
        /// The largest one.
        most: u64,
    },
}

/// Disks and memory of this many MiB are larger than any machine's.
const MIB_MAX: u64 = 1 << 24;

/// As many CPUs as can be given to a machine.
const CPUS_MAX: u64 = 255;

/// The number of the last capability that a set of 64 bits has room for.
const CAPABILITY_MAX: u64 = 63;

impl<Name: AsRef<str>> Need<Name> {
    /// The same without a name of its own.
    pub fn borrowed(&self) -> Need<&str> {
        match self {
            Self::Module(name) => Need::Module(name.as_ref()),
            Self::Filesystem(name) => Need::Filesystem(name.as_ref()),
            Self::Config(option) => Need::Config(option.as_ref()),
            Self::Device(path) => Need::Device(path.as_ref()),
            Self::Disk(mib) => Need::Disk(*mib),
            Self::Memory(mib) => Need::Memory(*mib),
            Self::Cpus(count) => Need::Cpus(*count),
            Self::Capability(number) => Need::Capability(*number),
            Self::Tool(name) => Need::Tool(name.as_ref()),
        }
    }
}

impl<Name: fmt::Display> fmt::Display for Need<Name> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Module(name) => write!(f, "module {name}"),
            Self::Filesystem(name) => write!(f, "file system {name}"),
            Self::Config(option) => write!(f, "CONFIG_{option}"),
            Self::Device(path) => write!(f, "device {path}"),
            Self::Disk(mib) => write!(f, "a disk of {mib} MiB"),
            Self::Memory(mib) => write!(f, "{mib} MiB of memory"),
            Self::Cpus(count) => write!(f, "{count} CPUs"),
            Self::Capability(number) => write!(f, "capability {number}"),
            Self::Tool(name) => write!(f, "program {name}"),
        }
    }
}

impl FromStr for Need<String> {
    type Err = WrongNeed;

    fn from_str(text: &str) -> Result<Self, WrongNeed> {
        named(text).or_else(|| counted(text)).unwrap_or_else(|| Err(WrongNeed::Unknown(text.to_string())))
    }
}

/// A need that has a name, if the text begins like one.
fn named(text: &str) -> Option<Result<Need<String>, WrongNeed>> {
    type Kind = (&'static str, fn(String) -> Need<String>, fn(&str) -> bool);
    const KINDS: [Kind; 5] = [
        ("module ", Need::Module, is_word),
        ("file system ", Need::Filesystem, is_word),
        ("CONFIG_", Need::Config, is_word),
        ("device ", Need::Device, |path| path.starts_with('/') && path.split('/').skip(1).all(is_word)),
        ("program ", Need::Tool, is_word),
    ];
    let (name, make, is_name) =
        KINDS.iter().find_map(|(before, make, is_name)| Some((text.strip_prefix(before)?, make, is_name)))?;
    Some(if is_name(name) { Ok(make(name.to_string())) } else { Err(WrongNeed::Unknown(text.to_string())) })
}

/// A need that has a number, if the text is one.
fn counted(text: &str) -> Option<Result<Need<String>, WrongNeed>> {
    let between = |before, after| text.strip_prefix(before)?.strip_suffix(after);
    let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    if let Some(mib) = between("a disk of ", " MiB") {
        return Some(number(text, mib, (1, MIB_MAX))?.map(Need::Disk));
    }
    if let Some(mib) = between("", " MiB of memory") {
        return Some(number(text, mib, (1, MIB_MAX))?.map(Need::Memory));
    }
    if let Some(count) = between("", " CPUs") {
        return Some(number(text, count, (1, CPUS_MAX))?.map(|count| Need::Cpus(small(count))));
    }
    let capability = between("capability ", "")?;
    Some(number(text, capability, (0, CAPABILITY_MAX))?.map(|capability| Need::Capability(small(capability))))
}

/// The number of a text, if it is one.
fn number(text: &str, digits: &str, (least, most): (u64, u64)) -> Option<Result<u64, WrongNeed>> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let inside = digits.parse().ok().filter(|number| (least..=most).contains(number));
    is_number.then(|| inside.ok_or_else(|| WrongNeed::Number { text: text.to_string(), least, most }))
}

/// Whether it can be a single name, which is nothing that leads elsewhere.
fn is_word(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.+:".contains(&byte);
    !name.trim_matches('.').is_empty() && name.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn need() -> impl Strategy<Value = Need<String>> {
        let word = "[a-zA-Z0-9_][a-zA-Z0-9_.:+-]{0,20}";
        prop_oneof![
            word.prop_map(Need::Module),
            word.prop_map(Need::Filesystem),
            word.prop_map(Need::Config),
            word.prop_map(|name| Need::Device(format!("/dev/{name}"))),
            (1..=MIB_MAX).prop_map(Need::Disk),
            (1..=MIB_MAX).prop_map(Need::Memory),
            (1..=255_u32).prop_map(Need::Cpus),
            (0..=63_u32).prop_map(Need::Capability),
            word.prop_map(Need::Tool),
        ]
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read(need in need()) {
            prop_assert_eq!(need.to_string().parse(), Ok(need.clone()));
            prop_assert_eq!(need.borrowed().to_string(), need.to_string());
            prop_assert!(!need.to_string().contains(','), "a list of them can be taken apart");
        }

        #[test]
        fn any_text_is_read_without_panic(text: String) {
            let _ = text.parse::<Need<String>>();
        }
    }

    #[test]
    fn what_says_no_need_is_told_what_there_is() {
        for wrong in [
            "",
            "module",
            "module ",
            "module a b",
            "program ../x",
            "program ..",
            "program a/b",
            "device x",
            "device /",
            "device /dev/../x",
            "CONFIG_",
            "disk",
            "a disk of MiB",
            "a disk of -1 MiB",
            "a disk of 1 GiB",
            " CPUs",
            "x CPUs",
            "2 cpus",
            "capability CAP_SYS_ADMIN",
            "xfs",
            "module é",
        ] {
            let error = wrong.parse::<Need<String>>().expect_err(wrong);
            assert_eq!(error, WrongNeed::Unknown(wrong.to_string()));
            assert!(error.to_string().contains("file system NAME"), "{error}");
        }
    }

    #[test]
    fn numbers_that_no_machine_has_are_refused() {
        for (wrong, least, most) in [
            ("a disk of 0 MiB", 1, MIB_MAX),
            ("99999999999999999999 MiB of memory", 1, MIB_MAX),
            ("256 CPUs", 1, 255),
            ("capability 64", 0, 63),
        ] {
            let text = wrong.to_string();
            assert_eq!(wrong.parse::<Need<String>>(), Err(WrongNeed::Number { text, least, most }));
        }
    }
}

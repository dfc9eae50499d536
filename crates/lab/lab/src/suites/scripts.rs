//! What scripts need to run in a machine.

use machine::program::interpreter;

/// Longest script that is searched for the names of programs, in bytes.
const SCRIPT_MAX: u64 = 1 << 20;

/// Names under which busybox is a shell.
const SHELLS: &[&str] = &["sh", "ash"];

/// Interpreters that do nothing without a tree of modules, which differs from host to host.
const WITH_MODULES: &[&str] = &["python", "perl", "ruby", "tclsh", "expect", "node", "php"];

/// Programs that scripts of the kernel's world use and that busybox lacks, or has in a lesser form. One is
/// shipped when a script names it.
pub(super) const TOOLS: &[&str] = &[
    "bash",
    "blkid",
    "bpftool",
    "capsh",
    "chrt",
    "ethtool",
    "fallocate",
    "getcap",
    "getfattr",
    "ip",
    "iptables",
    "keyctl",
    "losetup",
    "lspci",
    "mkfs.btrfs",
    "mkfs.ext4",
    "mkfs.xfs",
    "nft",
    "nsenter",
    "numactl",
    "ping",
    "prlimit",
    "setcap",
    "setfattr",
    "setpriv",
    "ss",
    "strace",
    "sysctl",
    "taskset",
    "tc",
    "timeout",
    "unshare",
];

/// Who runs a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reader {
    /// The machine's shell, which has to be there under this path.
    Shell(String),
    /// A program of the host that can be shipped.
    Program,
    /// One that cannot; why.
    Missing(String),
}

/// Who runs the script with this content; nothing for other files.
pub(super) fn reader(content: &[u8]) -> Option<Reader> {
    let words = interpreter(content)?;
    let path = words.first().map_or("", String::as_str);
    if !path.starts_with('/') {
        return Some(Reader::Missing(format!("its interpreter {path:?} is not an absolute path")));
    }
    let base = |path: &str| path.rsplit('/').next().unwrap_or_default().to_string();
    let by_env = (base(path) == "env").then(|| words[1..].iter().find(|word| !word.starts_with('-')));
    let name = by_env.flatten().map_or_else(|| base(path), |name| base(name));
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    Some(match () {
        () if SHELLS.contains(&name.as_str()) => Reader::Shell(path.to_string()),
        () if WITH_MODULES.contains(&stem) => {
            Reader::Missing(format!("needs {name} with its modules, which kiln does not ship"))
        }
        () => Reader::Program,
    })
}

/// Those of [`TOOLS`] that a script names.
pub(super) fn tools(content: &[u8]) -> impl Iterator<Item = &'static str> {
    let text = String::from_utf8_lossy(&content[..content.len().min(SCRIPT_MAX as usize)]).into_owned();
    let is_word = |c: char| !(c.is_alphanumeric() || "_.-".contains(c));
    let words: std::collections::HashSet<String> = text.split(is_word).map(str::to_string).collect();
    TOOLS.iter().copied().filter(move |tool| words.contains(*tool))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shells_are_there_modules_are_not_and_the_rest_is_shipped() {
        let shell = |path: &str| Some(Reader::Shell(path.into()));
        assert_eq!(reader(b"#!/bin/sh -e\n"), shell("/bin/sh"));
        assert_eq!(reader(b"#! /usr/bin/env sh\n"), shell("/usr/bin/env"));
        assert_eq!(reader(b"#!/bin/bash\n"), Some(Reader::Program));
        assert_eq!(reader(b"#!/usr/bin/env -S gawk -f\n"), Some(Reader::Program));
        for text in
            ["#!/usr/bin/python3\n", "#!/usr/bin/env python3.11\n", "#!/usr/bin/perl -w\n", "#!x\n", "#!\n"]
        {
            assert!(matches!(reader(text.as_bytes()), Some(Reader::Missing(_))), "{text}");
        }
        assert_eq!(reader(b"\x7fELF"), None);
    }

    #[test]
    fn tools_are_whole_words() {
        let found: Vec<_> = tools(b"#!/bin/sh\nip link; ipcs; $(tc qdisc) mkfs.ext4 x-ping\n").collect();
        assert_eq!(found, ["ip", "mkfs.ext4", "tc"]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken(mut bytes: Vec<u8>) {
            let _ = tools(&bytes).count();
            bytes.splice(0..0, *b"#!");
            prop_assert!(reader(&bytes).is_some());
        }
    }
}

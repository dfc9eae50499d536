//! The configuration that a test asks for: by its group's file `config`, a fragment of a `.config`, and by the system calls
//! that its program makes.

use std::collections::BTreeSet;

/// Most options of one group that are read.
const OPTIONS_MAX: usize = 1000;

/// The options that must be set, without their `CONFIG_`.
#[must_use]
pub fn parse(text: &str) -> Vec<String> {
    let option = |line: &str| {
        let (name, value) = line.trim().strip_prefix("CONFIG_")?.split_once('=')?;
        let is_name =
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        (is_name && value.trim() != "n").then(|| name.to_string())
    };
    text.lines().filter_map(option).take(OPTIONS_MAX).collect()
}

/// Functions of the C library whose system calls exist only with an option: init/Kconfig, fs/notify/*/Kconfig. Not all groups
/// name it.
const CALLS: [(&str, &str); 13] = [
    ("mq_open", "POSIX_MQUEUE"),
    ("msgget", "SYSVIPC"),
    ("semget", "SYSVIPC"),
    ("shmget", "SYSVIPC"),
    ("timer_create", "POSIX_TIMERS"),
    ("epoll_create", "EPOLL"),
    ("epoll_create1", "EPOLL"),
    ("eventfd", "EVENTFD"),
    ("signalfd", "SIGNALFD"),
    ("timerfd_create", "TIMERFD"),
    ("inotify_init", "INOTIFY_USER"),
    ("inotify_init1", "INOTIFY_USER"),
    ("fanotify_init", "FANOTIFY"),
];

/// The options without which functions that a program names do not work. An ELF file has their names among its strings.
#[must_use]
pub fn of_program(content: &[u8]) -> Vec<String> {
    let names: BTreeSet<&[u8]> = content.split(|byte| *byte == 0).collect();
    let calls = CALLS.iter().filter(|(call, _)| names.contains(call.as_bytes()));
    let options: BTreeSet<&str> = calls.map(|(_, option)| *option).collect();
    options.into_iter().map(str::to_string).collect()
}

/// The module that an option builds, if the kernel has one whose name says so: makefiles call most modules like their
/// options, without the first words (`NET_SCH_NETEM` builds `sch_netem`).
pub(in crate::suites) fn module(option: &str, is_there: impl Fn(&str) -> bool) -> Option<String> {
    let name = option.to_ascii_lowercase();
    let starts = std::iter::once(0).chain(name.match_indices('_').map(|(at, _)| at + 1));
    starts.map(|at| name[at..].to_string()).find(|name| is_there(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_must_be_set_is_read() {
        let text = "CONFIG_SYSVIPC=y\n# CONFIG_X is not set\n  CONFIG_NR=128 \nCONFIG_NO=n\nCONFIG_=y\nCONFIG_A B=y\nX=y\n";
        assert_eq!(parse(text), ["SYSVIPC", "NR"]);
    }

    #[test]
    fn a_program_asks_for_the_options_of_its_system_calls() {
        let content = b"\x7fELF\0libc.so.6\0mq_open\0msgget\0shmget\0xmsgget\0timer_creates\0";
        assert_eq!(of_program(content), ["POSIX_MQUEUE", "SYSVIPC"]);
        assert_eq!(of_program(b"#!/bin/sh\necho mq_open\n"), [""; 0]);
    }

    #[test]
    fn a_module_has_the_last_words_of_its_option() {
        let there = |name: &str| ["sch_netem", "veth", "ipip"].contains(&name);
        assert_eq!(module("NET_SCH_NETEM", there).as_deref(), Some("sch_netem"));
        assert_eq!(module("VETH", there).as_deref(), Some("veth"));
        assert_eq!(module("NET_IPIP", there).as_deref(), Some("ipip"));
        assert_eq!(module("NET_VRF", there), None);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(CONFIG_|[A-Z_]{0,5}|=|y|\n|é){0,40}") {
            for option in parse(&text) {
                prop_assert!(!option.is_empty());
                let _ = module(&option, |_| false);
            }
        }
    }
}

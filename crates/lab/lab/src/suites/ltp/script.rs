//! What tests in shell ask for: "Shell test API" of LTP's documentation. `metadata/ltp.json` has a few of them.

use std::collections::BTreeSet;

use protocol::Need;

use super::metadata::{DISK, is_name};

/// Variables for which LTP's library looks for a disk.
const DEVICE: [&str; 4] =
    ["TST_NEEDS_DEVICE", "TST_FORMAT_DEVICE", "TST_MOUNT_DEVICE", "TST_ALL_FILESYSTEMS"];

/// Scripts that one reads in, of which some read others in.
const READ_MAX: usize = 16;

/// Most lines of a script that are looked at, and most that scripts ask for.
const LINES_MAX: usize = 10_000;
const ASKS_MAX: usize = 100;

/// What a script and those that it reads in ask for; `read` gives a script by its name.
pub(super) fn asks(name: &str, read: &dyn Fn(&str) -> Option<String>) -> Vec<Need<String>> {
    let (mut asks, mut seen, mut next) = (Vec::new(), BTreeSet::new(), vec![name.to_string()]);
    while let Some(name) = next.pop().filter(|_| seen.len() < READ_MAX) {
        // The library itself says what others may ask for.
        if name == "tst_test.sh" || !seen.insert(name.clone()) {
            continue;
        }
        let content = read(&name).unwrap_or_default();
        for statement in content.lines().take(LINES_MAX).flat_map(statements) {
            for need in of_statement(statement) {
                if asks.len() < ASKS_MAX && !asks.contains(&need) {
                    asks.push(need);
                }
            }
            next.extend(read_in(statement).filter(|_| next.len() < READ_MAX));
        }
    }
    asks
}

/// The statements of a line, without patterns of `case` and comments.
fn statements(line: &str) -> impl Iterator<Item = &str> {
    let code = line.split(" #").next().unwrap_or_default();
    code.split([';', ')', '&', '|']).map(|text| text.trim().trim_start_matches("export "))
}

/// What an assignment or a call asks for, also one that is made only with some arguments.
fn of_statement(statement: &str) -> Vec<Need<String>> {
    let Some((variable, value)) = statement.split_once(['=', ' ']) else { return Vec::new() };
    let words = || value.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
    let names = || words().filter(|word| is_name(word)).map(str::to_string);
    match variable {
        "TST_NEEDS_DRIVERS" | "tst_require_drivers" => names().map(Need::Module).collect(),
        "TST_NEEDS_CMDS" | "tst_require_cmds" => names().map(Need::Tool).collect(),
        _ if DEVICE.contains(&variable) && words().eq(["1"]) => DISK.iter().map(Need::owned).collect(),
        _ => Vec::new(),
    }
}

/// The script that a statement reads in.
fn read_in(statement: &str) -> Option<String> {
    let name = statement.strip_prefix(". ")?.trim();
    is_name(name).then(|| name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEST: &str = "#!/bin/sh\nTST_NEEDS_CMDS=\"ip ping\"\nTST_SETUP=x\n. lib.sh\ntst_run\n";

    fn asked(scripts: &[(&str, &str)]) -> Vec<String> {
        let read = |name: &str| {
            scripts.iter().find(|(other, _)| *other == name).map(|(_, text)| (*text).to_string())
        };
        asks("test.sh", &read).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_script_and_those_that_it_reads_in_ask() {
        let lib = "TST_NEEDS_DRIVERS=\"veth\"\n. test.sh\n. tst_test.sh\n";
        let library = "TST_NEEDS_CMDS=\"all\"\n";
        let scripts = [("test.sh", TEST), ("lib.sh", lib), ("tst_test.sh", library)];
        assert_eq!(asked(&scripts), ["program=ip", "program=ping", "module=veth"]);
        let disk = ["module=loop", "fs=ext4", "program=mkfs.ext2"];
        assert_eq!(asked(&[("test.sh", "TST_MOUNT_DEVICE=1\n")]), disk);
        let other =
            "TST_MOUNT_DEVICE=0\n\tTST_NEEDS_CMDS=\"$X x /bin/y\"\n\ttst_require_cmds z\n. \"$LIB\"\n";
        assert_eq!(asked(&[("test.sh", other)]), ["program=x", "program=z"]);
    }

    #[test]
    fn statements_are_read_as_shells_read_them() {
        let asks = |text: &str| asked(&[("test.sh", text), ("lib.sh", "TST_NEEDS_CMDS=lib\n")]);
        assert_eq!(asks("\tI) COMM_TYPE=\"ioctl\"; tst_require_cmds ifconfig ;;\n"), ["program=ifconfig"]);
        assert_eq!(asks("TST_NEEDS_CMDS=\"ip ping\" # why\n"), ["program=ip", "program=ping"]);
        assert_eq!(asks("export TST_NEEDS_CMDS='a b'; x\n"), ["program=a", "program=b"]);
        assert_eq!(asks("[ \"$1\" ] && . lib.sh # c\n"), ["program=lib"]);
        assert_eq!(asks("TST_MOUNT_DEVICE=\"1\" # x\n").len(), DISK.len());
    }

    #[test]
    fn a_hostile_script_asks_for_no_more_than_any() {
        let words: String = (0..100_000).map(|number| format!("c{number} ")).collect();
        assert_eq!(asked(&[("test.sh", &format!("TST_NEEDS_CMDS=\"{words}\"\n"))]).len(), ASKS_MAX);
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text in "((TST_NEEDS_(CMDS|DRIVERS)=|\\. )?\\PC{0,9}\n){0,20}") {
            let read = |_: &str| Some(text.clone());
            for need in asks("test.sh", &read) {
                prop_assert!(!need.to_string().contains(['/', '*', ' ']));
            }
        }
    }
}

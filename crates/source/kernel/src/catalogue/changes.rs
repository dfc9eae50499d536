//! What stands under one version in a changelog of Debian or Ubuntu.
//!
//! deb-changelog(5) only asks for an indentation; that entries begin with `*`, those below them with `-` and `+`, and
//! that names of people stand in brackets is the custom of both.

/// What leads to a release of the stable kernel, in the address of its own changelog on kernel.org.
const STABLE: &str = "/ChangeLog-";

/// An entry for each change, in one line. What is only the heading of others is none.
pub(super) fn changes(lines: &[&str]) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in lines.iter().map(|line| line.trim()) {
        if line.is_empty() || is_person(line) || stable_of(line).is_some() {
            is_open = false;
        } else if let Some(text) = ["* ", "- ", "+ "].iter().find_map(|sign| line.strip_prefix(sign)) {
            is_open = true;
            entries.push(text.trim_start().to_owned());
        } else if let Some(entry) = entries.last_mut().filter(|_| is_open) {
            entry.push(' ');
            entry.push_str(line);
        }
    }
    entries.retain(|entry| !entry.ends_with(':'));
    entries
}

/// The releases of the stable kernel that are named, in their order.
pub(super) fn stable(lines: &[&str]) -> Vec<String> {
    lines.iter().filter_map(|line| stable_of(line)).map(str::to_owned).collect()
}

/// `6.1.178` in `https://www.kernel.org/pub/linux/kernel/v6.x/ChangeLog-6.1.178`.
fn stable_of(line: &str) -> Option<&str> {
    let (_, release) = line.split_once(STABLE)?;
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
    (!release.is_empty() && release.chars().all(is_part)).then_some(release)
}

/// `[ Somebody ]`, whose entries follow; a tag such as `[arm64]` has no blanks.
fn is_person(line: &str) -> bool {
    line.starts_with("[ ") && line.ends_with(" ]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LINES: [&str; 20] = [
        "",
        "  * Sign kernel from linux 6.1.180-1",
        "",
        "  * New upstream stable update:",
        "    https://www.kernel.org/pub/linux/kernel/v6.x/ChangeLog-6.1.179",
        "    - nvmet-tcp: fix race between ICReq handling and queue teardown",
        "      (CVE-2026-46135)",
        "    - [arm64] bpf, arm64: Reject out-of-range B.cond targets",
        "    https://www.kernel.org/pub/linux/kernel/v6.x/ChangeLog-6.1.180",
        "      of no entry",
        "    - device property: initialize the remaining fields of",
        "      [arm64] fwnode_handle in",
        "      fwnode_init()",
        "  * [arm64] Mitigate errata:",
        "    - arm64: errata",
        "      + cputype: Add one",
        "  [ Somebody ]",
        "  of no entry",
        "  * net: see https://example.org/ChangeLog-6.1.1 and others",
        "",
    ];

    #[test]
    fn an_entry_is_one_line() {
        let wanted = [
            "Sign kernel from linux 6.1.180-1",
            "nvmet-tcp: fix race between ICReq handling and queue teardown (CVE-2026-46135)",
            "[arm64] bpf, arm64: Reject out-of-range B.cond targets",
            "device property: initialize the remaining fields of [arm64] fwnode_handle in fwnode_init()",
            "arm64: errata",
            "cputype: Add one",
            "net: see https://example.org/ChangeLog-6.1.1 and others",
        ];
        assert_eq!(changes(&LINES), wanted);
    }

    #[test]
    fn stable_releases_are_no_entries() {
        assert_eq!(stable(&LINES), ["6.1.179", "6.1.180"]);
        for line in ["    https://example.org/ChangeLog-", "ChangeLog-6.1", "", " /ChangeLog-6.1 x"] {
            assert_eq!(stable(&[line]), [""; 0], "{line}");
        }
    }

    proptest! {
        #[test]
        fn every_entry_is_one_line(lines in prop::collection::vec(" {0,4}[-*+]? ?(\\[ )?[a-z:\u{e9}]{0,5}( \\])?", 0..12)) {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            for entry in changes(&lines) {
                prop_assert!(!entry.contains('\n') && !entry.ends_with(':') && entry.trim() == entry, "{:?}", entry);
            }
        }
    }
}

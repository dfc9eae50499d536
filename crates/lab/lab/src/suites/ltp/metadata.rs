//! What tests say about themselves: `metadata/ltp.json`, which LTP's build makes of its sources.
//!
//! What a test asks for there is brought into the machine as far as kernel and host have it. The test itself, with
//! LTP's library, judges what is missing.

use std::collections::BTreeMap;
use std::time::Duration;

use protocol::Need;
use serde_json::Value;

use super::runtime::RuntimeFactor;

/// Where it is in a tree, built or installed.
pub(super) const FILE: &str = "metadata/ltp.json";

/// Fields of `struct tst_test` for which LTP's library looks for a disk.
const DEVICE: &[&str] = &["needs_device", "format_device", "mount_device", "all_filesystems"];

/// What the library makes a disk of, and how it formats it, unless a test names file systems.
pub(super) const DISK: [Need<&str>; 3] =
    [Need::Module("loop"), Need::Filesystem("ext4"), Need::Tool("mkfs.ext2")];

/// Longest runtime that is believed, in seconds.
const RUNTIME_MAX: u64 = 24 * 3600;

/// How names of programs end that are built from one source.
const VARIANTS: [&str; 2] = ["_64", "_16"];

/// Names, by the tests that have them; unreadable ones have none.
#[derive(Debug, Default)]
pub(super) struct Metadata {
    tests: BTreeMap<String, Value>,
}

impl Metadata {
    /// Reads the file. One that cannot be read says nothing about any test, as if it were not there.
    pub(super) fn parse(content: &[u8]) -> Self {
        let mut all: Value = serde_json::from_slice(content).unwrap_or_default();
        let tests = all.get_mut("tests").map(Value::take).unwrap_or_default();
        Self { tests: serde_json::from_value(tests).unwrap_or_default() }
    }

    /// What a program says; one of them may be built from the same source for numbers of 16 and of 64 bits.
    fn test(&self, program: &str) -> Option<&Value> {
        let base = VARIANTS.iter().find_map(|variant| program.strip_suffix(variant));
        self.tests.get(program).or_else(|| self.tests.get(base?))
    }

    /// What the test with this program asks for. One of the old library says nothing, and may ask for a disk.
    pub(super) fn asks(&self, program: &str) -> Vec<Need<String>> {
        let Some(test) = self.test(program) else { return DISK.iter().map(Need::owned).collect() };
        let drivers = names(test, "needs_drivers").map(Need::Module);
        let commands = names(test, "needs_cmds").map(Need::Tool);
        let file_systems =
            types(test).flat_map(|kind| [Need::Tool(format!("mkfs.{kind}")), Need::Filesystem(kind)]);
        let is_set = |field: &&str| test.get(field).is_some_and(|value| *value != Value::Bool(false));
        let disk = DEVICE.iter().any(is_set).then_some(&DISK).into_iter().flatten();
        drivers.chain(disk.map(Need::owned)).chain(file_systems).chain(commands).collect()
    }

    /// How long the test with this program goes on by its own word, which a factor does not make shorter than its least; one
    /// that does not say it is short.
    pub(super) fn runtime(&self, program: &str, factor: RuntimeFactor) -> Option<Duration> {
        let test = self.test(program)?;
        let runtime = |field: &str| {
            let seconds = test.get(field).and_then(|value| match value {
                // As LTP's build writes all numbers.
                Value::String(text) => text.parse().ok(),
                value => value.as_u64(),
            });
            Duration::from_secs(seconds.unwrap_or(0).min(RUNTIME_MAX))
        };
        Some(factor.scale(runtime("runtime")).max(runtime("min_runtime")))
    }
}

/// The names of a list. A text may have more behind the name, as `mkfs.ext4 >= 1.43.0`.
fn names(test: &Value, field: &str) -> impl Iterator<Item = String> {
    let list = test.get(field).and_then(Value::as_array).into_iter().flatten();
    let texts = list.filter_map(|one| one.as_str().or_else(|| one.get("cmd")?.as_str()));
    texts.filter_map(|text| text.split_whitespace().next()).filter(|name| is_name(name)).map(str::to_string)
}

/// The file systems with which a test runs.
fn types(test: &Value) -> impl Iterator<Item = String> {
    let list = test.get("filesystems").and_then(Value::as_array).into_iter().flatten();
    let texts = list.filter_map(|one| one.get("type")?.as_str());
    texts.filter(|name| is_name(name)).map(str::to_string)
}

/// Neither a path nor a pattern.
pub(super) fn is_name(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.+".contains(&byte);
    (1..=64).contains(&text.len()) && !text.starts_with(['-', '.']) && text.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn asks(test: &str) -> Vec<String> {
        let text = format!(r#"{{"defaults": {{}}, "tests": {{"it": {test}}}}}"#);
        Metadata::parse(text.as_bytes()).asks("it").iter().map(ToString::to_string).collect()
    }

    #[test]
    fn drivers_disks_file_systems_and_commands_are_read() {
        assert_eq!(asks(r#"{"needs_drivers": ["tun", "ip_tunnel"]}"#), ["module=tun", "module=ip_tunnel"]);
        let disk = ["module=loop", "fs=ext4", "program=mkfs.ext2"];
        assert_eq!(asks(r#"{"mount_device": true, "needs_root": true}"#), disk);
        assert_eq!(asks(r#"{"needs_device": "1"}"#), disk);
        let xfs = asks(r#"{"needs_device": true, "filesystems": [{"type": "xfs", "mkfs_ver": "a >= 1"}]}"#);
        assert_eq!(xfs, [&disk[..], &["program=mkfs.xfs", "fs=xfs"]].concat());
        let commands =
            r#"{"needs_cmds": ["mkfs.ext4 >= 1.43.0", {"cmd": "quotacheck"}, {"optional": true}]}"#;
        assert_eq!(asks(commands), ["program=mkfs.ext4", "program=quotacheck"]);
    }

    #[test]
    fn a_test_says_how_long_it_goes_on() {
        let text = br#"{"tests": {"long": {"runtime": "300"}, "short": {}, "odd": {"runtime": -1},
            "least": {"min_runtime": "20"}, "number": {"runtime": 7}, "both": {"runtime": 90, "min_runtime": 30}}}"#;
        let metadata = Metadata::parse(text);
        let seconds = |factor: &str| {
            let factor = RuntimeFactor::parse(factor).unwrap();
            let seconds = |test| Some(metadata.runtime(test, factor)?.as_secs());
            ["long", "short", "odd", "none", "least", "number", "both"].map(seconds)
        };
        assert_eq!(seconds("1"), [Some(300), Some(0), Some(0), None, Some(20), Some(7), Some(90)]);
        assert_eq!(seconds("0.1"), [Some(30), Some(0), Some(0), None, Some(20), Some(0), Some(30)]);
    }

    #[test]
    fn a_test_that_says_nothing_or_nonsense_asks_for_nothing() {
        for test in [
            "{}",
            "null",
            "[]",
            r#"{"needs_device": false}"#,
            r#"{"needs_drivers": "loop", "filesystems": {}, "needs_cmds": [1, null, "", "/bin/x", "-x", "../x"]}"#,
        ] {
            assert_eq!(asks(test), [""; 0], "{test}");
        }
    }

    #[test]
    fn a_test_without_metadata_gets_what_disks_need() {
        let disk = ["module=loop", "fs=ext4", "program=mkfs.ext2"];
        for text in [&b"{"[..], br#"{"tests": 3}"#, b"", br#"{"tests": {"other": {}}}"#] {
            let asks = Metadata::parse(text).asks("it");
            assert_eq!(asks.iter().map(ToString::to_string).collect::<Vec<_>>(), disk);
        }
    }

    #[test]
    fn variants_of_a_test_ask_for_the_same() {
        let metadata =
            Metadata::parse(br#"{"tests": {"fstatfs01": {"needs_drivers": ["tun"], "runtime": "9"}}}"#);
        let factor = RuntimeFactor::parse("1").unwrap();
        for program in ["fstatfs01", "fstatfs01_64", "fstatfs01_16"] {
            assert_eq!(metadata.asks(program), [Need::Module("tun".to_string())], "{program}");
            assert_eq!(metadata.runtime(program, factor), Some(Duration::from_secs(9)));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken(bytes: Vec<u8>) {
            prop_assert_eq!(Metadata::parse(&bytes).asks("it").len(), DISK.len());
        }

        #[test]
        fn any_text_is_a_plain_name_or_left_out(text in ".*", is_list: bool) {
            let list = |one: Value| if is_list { Value::Array(vec![one]) } else { one };
            let kinds = list(serde_json::json!({ "type": text }));
            let test = serde_json::json!({ "needs_drivers": list(text.clone().into()), "filesystems": kinds });
            let asks = asks(&test.to_string());
            prop_assert_eq!(asks.is_empty(), !(is_list && text.split_whitespace().next().is_some_and(is_name)));
            prop_assert!(asks.iter().all(|need| !need.contains(['/', '*', ' '])));
        }
    }
}

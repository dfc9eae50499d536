//! What mmdebstrap(1) prints: how far it is, and why it failed.

use crate::error::Error;

/// The step that it is at, in its own words; nothing before the first.
pub(super) fn step(log: &str) -> Option<&str> {
    let mut steps = log.lines().filter_map(|line| line.strip_prefix("I: "));
    let takes_time = |step: &&str| STEPS.iter().any(|start| step.starts_with(start));
    Some(steps.rfind(takes_time)?.trim_end_matches('.'))
}

/// Steps that take time.
const STEPS: [&str; 5] = [
    "running apt-get update",
    "downloading packages",
    "extracting archives",
    "installing essential packages",
    "installing remaining packages",
];

/// What apt prints when an archive does not answer.
const NETWORK: [&str; 4] =
    ["Temporary failure resolving", "Could not resolve", "Could not connect", "Failed to fetch"];

/// Why a root of this locator could not be made out of this suite, in at most `percent` % of the memory.
pub(super) fn failure(log: &str, locator: &str, suite: &str, percent: u32) -> Error {
    let lines = || log.lines().map(str::trim);
    let quoted = |line: &str| line.split('\'').nth(1).unwrap_or_default().to_owned();
    let (locator, suite) = (locator.to_owned(), suite.to_owned());
    if lines().any(|line| line.contains("No space left on device") || line.contains("enough free space")) {
        return Error::NoSpace { locator, percent };
    }
    if let Some(package) = lines().find_map(|line| line.strip_prefix("E: Unable to locate package ")) {
        return Error::NoSuchPackage { locator, suite, package: package.to_owned() };
    }
    if let Some(line) = lines().find(|line| line.ends_with("has no installation candidate")) {
        return Error::NoSuchPackage { locator, suite, package: quoted(line) };
    }
    if let Some(line) = lines().find(|line| line.contains("does not have a Release file")) {
        return Error::NoSuchSuite { locator, archive: quoted(line), suite };
    }
    let is_network = |line: &&str| NETWORK.iter().any(|text| line.contains(text));
    if let Some(line) = lines().find(is_network) {
        let reason = line.trim_start_matches("E: ").trim_start_matches("W: ").to_owned();
        return Error::Unreachable { locator, reason };
    }
    Error::Command { action: format!("making {locator}"), reason: last_error(log) }
}

/// The last error in its own words, without that of the program around it.
fn last_error(log: &str) -> String {
    let mut errors = log.lines().filter_map(|line| line.strip_prefix("E: "));
    let says_why = |line: &&str| !line.starts_with("mmdebstrap failed to run");
    errors.rfind(says_why).unwrap_or("mmdebstrap printed no error").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
I: chroot architecture amd64 is equal to the host's architecture
I: running apt-get update...
I: downloading packages with apt...
I: using /tmp/x as tempdir
";

    #[test]
    fn a_step_is_one_that_takes_time() {
        assert_eq!(step(LOG), Some("downloading packages with apt"));
        assert_eq!(step("I: using /tmp/x as tempdir\n"), None);
    }

    #[test]
    fn each_failure_is_told_apart() {
        let failure = |lines: &str| {
            let log = format!("{LOG}{lines}\nE: mmdebstrap failed to run\n");
            super::failure(&log, "debian:x", "bookworm", 80).to_string()
        };
        for (lines, expected) in [
            ("E: Unable to locate package x", "bookworm has no package x: "),
            ("E: Package 'x' has no installation candidate", "bookworm has no package x: "),
            (
                "E: The repository 'http://a/debian y Release' does not have a Release file.",
                "http://a/debian y Release has no suite bookworm",
            ),
            (
                "W: Failed to fetch http://a/InRelease  Temporary failure resolving 'a'",
                "cannot reach the archive",
            ),
            ("tar: x: Cannot write: No space left on device", "no space left"),
            ("E: setup failed: E: something new", "making debian:x failed: setup failed: E: something new"),
            ("", "mmdebstrap printed no error"),
        ] {
            assert!(failure(lines).contains(expected), "{}", failure(lines));
        }
    }
}

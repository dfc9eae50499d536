//! The rooms: their direction, their lints, their place in the picture.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::Value;

use super::Finding;
use super::source::Repository;
use crate::program::{cargo, output};

/// From left to right: a crate may depend on those to its left and on none to its right. The host links no code of the
/// guest but `protocol`, `mark` and `unwind`, so what runs in the guest stands right of it.
const ORDER: &[&str] = &[
    "protocol",
    "mark",
    "unwind",
    "plugin",
    "preload",
    "host",
    "fixture",
    "browser",
    "kconfig",
    "kernel",
    "root",
    "series",
    "history",
    "archive",
    "attestation",
    "kbuild",
    "introspect",
    "hazard",
    "console",
    "hardware",
    "segment",
    "machine",
    "judge",
    "ftrace",
    "ctf",
    "transcode",
    "measure",
    "script",
    "lab",
    "grammar",
    "viewer",
    "observe",
    "ledger",
    "verdict",
    "compare",
    "slurm",
    "bisect",
    "matrix",
    "watch",
    "check",
    "outbox",
    "post",
    "report",
    "dashboard",
    "top",
    "kiln",
    "bench",
    "xtask",
    "harness",
    "bpf",
    "count",
    "latency",
    "race",
    "sample",
    "probe",
    "steal",
    "stress",
    "sweep",
    "trace",
    "micro",
    "cases",
    "agent",
];

/// The page with the picture.
const PICTURE: &str = "docs/architecture.md";

/// Crates that break the rules.
pub(super) fn look(repository: &Repository) -> Result<Vec<Finding>> {
    let arguments = ["metadata", "--no-deps", "--format-version", "1", "--locked"];
    let metadata: Value = serde_json::from_str(&output(&mut cargo(&arguments))?)?;
    let mut findings = Vec::new();
    for (name, needs) in crates(&metadata).context("cargo metadata has another form")? {
        let manifest = repository.sources.iter().find(|source| {
            source.path.ends_with("Cargo.toml") && source.text.contains(&format!("name = \"{name}\"\n"))
        });
        let Some(manifest) = manifest else { continue };
        findings.extend(wrong_direction(&name, &needs, &manifest.path));
        if !manifest.text.contains("[lints]\nworkspace = true") {
            findings.push(Finding::new(&manifest.path, 1, "lints", "add [lints] workspace = true"));
        }
        let picture = repository.text(PICTURE).unwrap_or_default();
        if manifest.path.starts_with("crates/") && !is_pictured(picture, &manifest.path) {
            let advice = format!("{name} is not in its stage in {PICTURE}");
            findings.push(Finding::new(&manifest.path, 1, "picture", advice));
        }
    }
    Ok(findings)
}

/// Whether the picture has the folders of a manifest below `crates`, one in the other.
fn is_pictured(picture: &str, manifest: &str) -> bool {
    let folders: Vec<&str> = manifest.split('/').skip(1).filter(|part| *part != "Cargo.toml").collect();
    let mut wanted = folders.iter().enumerate().peekable();
    for line in picture.lines() {
        let Some((depth, name)) = wanted.peek() else { return true };
        let room = line.trim_start();
        let indent = line.len() - room.len();
        if indent == 2 * (depth + 1) && room.starts_with(&format!("{name}/ ")) {
            wanted.next();
        } else if indent < 2 * (depth + 1) && *depth > 0 {
            // The stage ends here.
            return false;
        }
    }
    wanted.peek().is_none()
}

/// Each crate of the workspace with the names of all that it depends on, also for tests.
fn crates(metadata: &Value) -> Option<BTreeMap<String, Vec<String>>> {
    let mut found = BTreeMap::new();
    for package in metadata.get("packages")?.as_array()? {
        let needs = package.get("dependencies")?.as_array()?.iter();
        let needs = needs.filter_map(|need| Some(need.get("name")?.as_str()?.to_string()));
        found.insert(package.get("name")?.as_str()?.to_string(), needs.collect());
    }
    Some(found)
}

fn wrong_direction(name: &str, needs: &[String], manifest: &str) -> Vec<Finding> {
    let place = |name: &str| ORDER.iter().position(|other| *other == name);
    let Some(own) = place(name) else {
        let advice = "give it a place in the ORDER of xtask/src/tidy/rooms.rs";
        return vec![Finding::new(manifest, 1, format!("direction {name}"), advice)];
    };
    let wrong = needs.iter().filter(|need| place(need).is_some_and(|other| other >= own));
    wrong
        .map(|need| {
            let advice = format!("{name} stands left of {need} and must not know it");
            Finding::new(manifest, 1, format!("direction {need}"), advice)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_is_pictured_in_its_stage() {
        let picture = "crates/\n  kiln/  x\n  a/  x\n    b/  x\n    a/  x\n  c/  x\n    d/  x\nxtask/  x\n";
        for path in ["kiln", "a/b", "a/a", "c/d"] {
            assert!(is_pictured(picture, &format!("crates/{path}/Cargo.toml")), "{path}");
        }
        for path in ["b", "a/d", "c/b", "d", "c/e", "xtask"] {
            assert!(!is_pictured(picture, &format!("crates/{path}/Cargo.toml")), "{path}");
        }
    }

    #[test]
    fn a_crate_knows_only_those_to_its_left() {
        let keys = |name: &str, needs: &[&str]| -> Vec<String> {
            let needs: Vec<String> = needs.iter().map(ToString::to_string).collect();
            wrong_direction(name, &needs, "x").into_iter().map(|finding| finding.key).collect()
        };
        assert!(keys("lab", &["machine", "serde", "protocol"]).is_empty());
        assert_eq!(keys("lab", &["report", "machine"]), ["direction report"]);
        assert_eq!(keys("lab", &["cases"]), ["direction cases"]);
        assert!(keys("agent", &["cases", "harness", "protocol"]).is_empty());
        assert_eq!(keys("new", &[]), ["direction new"]);
    }
}

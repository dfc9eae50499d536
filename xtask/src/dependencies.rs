//! What kiln may depend on: the licences, bans and sources of `deny.toml`, without cargo-deny, which takes longer to
//! compile than kiln. `cargo xtask proof` asks cargo-deny itself, also for advisories.
//!
//! * [`licence`]: whether an expression is met by what is allowed

mod licence;

use std::collections::{HashMap, HashSet};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::program::{cargo, output, root, succeed, works};

/// The platform that kiln is built for, as in `deny.toml`.
const TARGET: &str = "x86_64-unknown-linux-gnu";

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

const PATH: &str = "deny.toml";

/// What is read of `deny.toml`.
#[derive(Deserialize)]
struct Policy {
    licenses: Licenses,
    bans: Bans,
}

#[derive(Deserialize)]
struct Licenses {
    allow: Vec<String>,
}

#[derive(Deserialize)]
struct Bans {
    deny: Vec<Banned>,
}

#[derive(Deserialize)]
struct Banned {
    name: String,
    reason: String,
    /// Who may depend on it all the same.
    #[serde(default)]
    wrappers: Vec<String>,
}

/// What is read of `cargo metadata`.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    /// None for those of this repository.
    source: Option<String>,
}

/// Which packages are built into which: a manifest also names those of features that nobody turns on.
#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    /// Their ids.
    dependencies: Vec<String>,
}

/// Licences, bans and sources of all that kiln is built from.
pub(crate) fn check() -> Result<()> {
    let text = std::fs::read_to_string(root().join(PATH)).context(PATH)?;
    let policy: Policy = toml::from_str(&text).context(PATH)?;
    let arguments =
        ["metadata", "--format-version", "1", "--locked", "--all-features", "--filter-platform", TARGET];
    let mut metadata: Metadata = serde_json::from_str(&output(&mut cargo(&arguments))?)?;
    let built = built()?;
    metadata.packages.retain(|package| built.contains(&format!("{} v{}", package.name, package.version)));
    let findings = findings(&policy, &metadata);
    if !findings.is_empty() {
        bail!("{PATH} does not allow:\n{}", findings.join("\n"));
    }
    println!("dependencies: {} packages", metadata.packages.len());
    Ok(())
}

/// What is built, as `name vVersion`. `cargo metadata` also resolves what only a feature would turn on that is weak (`tokio?/rt`).
fn built() -> Result<HashSet<String>> {
    let arguments = ["tree", "--workspace", "--all-features", "--locked", "--target", TARGET];
    let listed = output(&mut cargo(&[&arguments[..], &["--prefix", "none", "--format", "{p}"]].concat()))?;
    let words = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    Ok(listed.lines().map(words).collect())
}

/// All that cargo-deny checks; advisories only where their list can be fetched.
pub(crate) fn check_all() -> Result<()> {
    let deny =
        |arguments: &[&str]| cargo(&[&["deny", "--locked", "--log-level", "warn"], arguments].concat());
    succeed(&mut deny(&["check", "licenses", "bans", "sources"]))?;
    if !works(&mut deny(&["fetch", "db"])) {
        println!("advisories are not checked: their list cannot be fetched from here");
        return Ok(());
    }
    succeed(&mut deny(&["check", "--disable-fetch", "advisories"]))
}

/// A line for each package that the policy does not allow, and why.
fn findings(policy: &Policy, metadata: &Metadata) -> Vec<String> {
    let names: HashMap<&str, &str> =
        metadata.packages.iter().map(|package| (package.id.as_str(), package.name.as_str())).collect();
    let uses: HashMap<&str, &[String]> =
        metadata.resolve.nodes.iter().map(|node| (node.id.as_str(), node.dependencies.as_slice())).collect();
    let mut found = Vec::new();
    for package in &metadata.packages {
        let mut add = |what: String| found.push(format!("  {} {}: {what}", package.name, package.version));
        let used = uses.get(package.id.as_str()).copied().unwrap_or_default();
        for banned in &policy.bans.deny {
            let is_banned = |id: &String| names.get(id.as_str()) == Some(&banned.name.as_str());
            if used.iter().any(is_banned) && !banned.wrappers.contains(&package.name) {
                add(format!("it uses {}: {}", banned.name, banned.reason));
            }
        }
        let Some(source) = &package.source else { continue };
        if source != CRATES_IO {
            add(format!("it comes from {source}"));
        }
        let licence = package.license.as_deref().unwrap_or_default();
        if !licence::is_met(licence, &policy.licenses.allow) {
            add(format!("its licence is {licence:?}"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A package, and one called `b` that it may use.
    fn metadata(name: &str, source: Option<&str>, license: &str, uses: &[&str]) -> Metadata {
        let package = |name: &str, source: Option<&str>, license: &str| Package {
            id: format!("id of {name}"),
            name: name.to_string(),
            version: "1.0.0".to_string(),
            license: Some(license.to_string()),
            source: source.map(String::from),
        };
        let dependencies = uses.iter().map(|name| format!("id of {name}")).collect();
        let nodes = vec![Node { id: format!("id of {name}"), dependencies }];
        let packages = vec![package(name, source, license), package("b", Some(CRATES_IO), "MIT")];
        Metadata { packages, resolve: Resolve { nodes } }
    }

    #[test]
    fn what_the_policy_does_not_allow_is_found_and_nothing_else() {
        let policy: Policy = toml::from_str(
            "[licenses]\nallow = ['MIT']\n[bans]\ndeny = [{ name = 'b', reason = 'no', wrappers = ['w'] }]",
        )
        .unwrap();
        let found = |metadata| findings(&policy, &metadata);
        assert_eq!(found(metadata("a", Some(CRATES_IO), "MIT", &["c"])), [""; 0]);
        assert_eq!(found(metadata("w", Some(CRATES_IO), "MIT", &["b"])), [""; 0]);
        assert_eq!(found(metadata("ours", None, "", &["b"])), ["  ours 1.0.0: it uses b: no"]);
        assert_eq!(found(metadata("a", Some(CRATES_IO), "", &[])), ["  a 1.0.0: its licence is \"\""]);
        let git = metadata("a", Some("git+https://example.org"), "MIT", &[]);
        assert_eq!(found(git), ["  a 1.0.0: it comes from git+https://example.org"]);
    }
}

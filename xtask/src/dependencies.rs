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
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    /// None for those of this repository.
    source: Option<String>,
}

/// For each package that is built, as `name vVersion`, the names of those it uses.
type Uses = HashMap<String, HashSet<String>>;

/// Licences, bans and sources of all that kiln is built from.
pub(crate) fn check() -> Result<()> {
    let text = std::fs::read_to_string(root().join(PATH)).context(PATH)?;
    let policy: Policy = toml::from_str(&text).context(PATH)?;
    let arguments =
        ["metadata", "--format-version", "1", "--locked", "--all-features", "--filter-platform", TARGET];
    let metadata: Metadata = serde_json::from_str(&output(&mut cargo(&arguments))?)?;
    let uses = uses(&tree()?)?;
    let findings = findings(&policy, &metadata, &uses);
    if !findings.is_empty() {
        bail!("{PATH} does not allow:\n{}", findings.join("\n"));
    }
    println!("dependencies: {} packages", uses.len());
    Ok(())
}

/// What is built, and from what. `cargo metadata` also resolves what only a feature would turn on that is weak (`tokio?/rt`).
fn tree() -> Result<String> {
    let arguments = ["tree", "--workspace", "--all-features", "--locked", "--target", TARGET];
    output(&mut cargo(&[&arguments[..], &["--prefix", "depth", "--format", " {p}"]].concat()))
}

/// Reads lines `DEPTH NAME vVERSION ...` of `cargo tree`, each below what uses it.
fn uses(tree: &str) -> Result<Uses> {
    let mut uses = Uses::new();
    let mut above: Vec<String> = Vec::new();
    for line in tree.lines().filter(|line| !line.is_empty()) {
        let mut words = line.split(' ');
        let mut word = || words.next().with_context(|| format!("cargo tree: {line:?}"));
        let (depth, name, version) = (word()?.parse()?, word()?, word()?);
        above.truncate(depth);
        if let Some(user) = above.last() {
            uses.entry(user.clone()).or_default().insert(name.to_string());
        }
        let package = format!("{name} {version}");
        uses.entry(package.clone()).or_default();
        above.push(package);
    }
    Ok(uses)
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
fn findings(policy: &Policy, metadata: &Metadata, uses: &Uses) -> Vec<String> {
    let mut found = Vec::new();
    for package in &metadata.packages {
        let Some(used) = uses.get(&format!("{} v{}", package.name, package.version)) else { continue };
        let mut add = |what: String| found.push(format!("  {} {}: {what}", package.name, package.version));
        for banned in &policy.bans.deny {
            if used.contains(&banned.name) && !banned.wrappers.contains(&package.name) {
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

    fn package(name: &str, source: Option<&str>, license: &str) -> Package {
        Package {
            name: name.to_string(),
            version: "1.0.0".to_string(),
            license: Some(license.to_string()),
            source: source.map(String::from),
        }
    }

    #[test]
    fn what_the_policy_does_not_allow_is_found_and_nothing_else() {
        let policy: Policy = toml::from_str(
            "[licenses]\nallow = ['MIT']\n[bans]\ndeny = [{ name = 'b', reason = 'no', wrappers = ['w'] }]",
        )
        .unwrap();
        let found = |name, source, license, used| {
            let metadata = Metadata { packages: vec![package(name, source, license)] };
            let uses = uses(&format!("0 {name} v1.0.0\n1 {used} v1.0.0\n")).unwrap();
            findings(&policy, &metadata, &uses)
        };
        assert_eq!(found("a", Some(CRATES_IO), "MIT", "c"), [""; 0]);
        assert_eq!(found("w", Some(CRATES_IO), "MIT", "b"), [""; 0]);
        assert_eq!(found("ours", None, "", "b"), ["  ours 1.0.0: it uses b: no"]);
        assert_eq!(found("a", Some(CRATES_IO), "", "c"), ["  a 1.0.0: its licence is \"\""]);
        let git = found("a", Some("git+https://example.org"), "MIT", "c");
        assert_eq!(git, ["  a 1.0.0: it comes from git+https://example.org"]);
        let not_built = Metadata { packages: vec![package("a", None, "none")] };
        assert_eq!(findings(&policy, &not_built, &Uses::new()), [""; 0]);
    }

    #[test]
    fn each_package_uses_what_stands_one_step_below_it() {
        let tree = "0 a v1.0.0 (/a)\n1 b v2.0.0\n2 c v3.0.0\n1 d v1.0.0\n\n0 e v1.0.0 (/e)\n1 b v2.0.0 (*)\n";
        let uses = uses(tree).unwrap();
        let used = |package: &str| {
            let mut names: Vec<&str> = uses[package].iter().map(String::as_str).collect();
            names.sort_unstable();
            names
        };
        assert_eq!(used("a v1.0.0"), ["b", "d"]);
        assert_eq!(used("b v2.0.0"), ["c"]);
        assert_eq!(used("c v3.0.0"), [""; 0]);
        assert_eq!(used("e v1.0.0"), ["b"]);
        assert!(super::uses("what is this").is_err());
    }
}

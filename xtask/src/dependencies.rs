//! What kiln may depend on: the licences, bans and sources of `deny.toml`, without cargo-deny, which takes longer to
//! compile than kiln. `cargo xtask proof` asks cargo-deny itself, also for advisories.
//!
//! * [`licence`]: whether an expression is met by what is allowed

mod licence;

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
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
}

/// Licences, bans and sources of all that kiln is built from.
pub(crate) fn check() -> Result<()> {
    let text = std::fs::read_to_string(root().join(PATH)).context(PATH)?;
    let policy: Policy = toml::from_str(&text).context(PATH)?;
    let arguments =
        ["metadata", "--format-version", "1", "--locked", "--all-features", "--filter-platform", TARGET];
    let metadata: Metadata = serde_json::from_str(&output(&mut cargo(&arguments))?)?;
    let findings = findings(&policy, &metadata.packages);
    if !findings.is_empty() {
        bail!("{PATH} does not allow:\n{}", findings.join("\n"));
    }
    println!("dependencies: {} packages", metadata.packages.len());
    Ok(())
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
fn findings(policy: &Policy, packages: &[Package]) -> Vec<String> {
    let mut found = Vec::new();
    for package in packages {
        let mut add = |what: String| found.push(format!("  {} {}: {what}", package.name, package.version));
        for banned in &policy.bans.deny {
            let is_user = package.dependencies.iter().any(|other| other.name == banned.name);
            if is_user && !banned.wrappers.contains(&package.name) {
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

    fn package(name: &str, source: Option<&str>, license: &str, uses: &[&str]) -> Package {
        let dependencies = uses.iter().map(|name| Dependency { name: (*name).to_string() }).collect();
        let (source, license) = (source.map(String::from), Some(license.to_string()));
        Package { name: name.to_string(), version: "1.0.0".to_string(), license, source, dependencies }
    }

    #[test]
    fn what_the_policy_does_not_allow_is_found_and_nothing_else() {
        let policy: Policy = toml::from_str(
            "[licenses]\nallow = ['MIT']\n[bans]\ndeny = [{ name = 'b', reason = 'no', wrappers = ['w'] }]",
        )
        .unwrap();
        let found = |package| findings(&policy, &[package]);
        assert_eq!(found(package("a", Some(CRATES_IO), "MIT", &["c"])), [""; 0]);
        assert_eq!(found(package("w", Some(CRATES_IO), "MIT", &["b"])), [""; 0]);
        assert_eq!(found(package("ours", None, "", &["b"])), ["  ours 1.0.0: it uses b: no"]);
        assert_eq!(found(package("a", Some(CRATES_IO), "", &[])), ["  a 1.0.0: its licence is \"\""]);
        let git = package("a", Some("git+https://example.org"), "MIT", &[]);
        assert_eq!(found(git), ["  a 1.0.0: it comes from git+https://example.org"]);
    }
}

//! What this repository demands of itself beyond rustc and clippy.
//!
//! * [`source`]: the files, and which parts of them are tests
//! * [`rooms`]: the direction of the crates, their lints, their place in the picture
//! * [`lengths`]: functions and files
//! * [`calls`]: what is not called, and what instead
//! * [`circles`]: modules that use each other
//! * [`comments`]: what does not belong in a comment
//! * [`words`]: one word for one thing; nothing of a developer's machine
//! * [`modules`]: where the files of modules are
//! * [`paths`]: what is cited exists
//! * [`changelog`]: its form
//! * [`exceptions`]: what is known to break a rule; it can only shrink

mod calls;
mod changelog;
mod circles;
mod comments;
mod exceptions;
mod lengths;
mod modules;
mod paths;
mod rooms;
mod source;
mod words;

use anyhow::{Result, bail};

use source::Repository;

/// One thing that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    line: usize,
    /// The rule and what it is about, by which an exception names it: `function scan`.
    key: String,
    /// How far it goes, for rules with a limit.
    size: Option<usize>,
    /// What to do.
    advice: String,
}

impl Finding {
    fn new(path: &str, line: usize, key: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { path: path.to_string(), line, key: key.into(), size: None, advice: advice.into() }
    }

    fn sized(self, size: usize) -> Self {
        Self { size: Some(size), ..self }
    }
}

/// Looks at the whole repository.
pub(crate) fn tidy() -> Result<()> {
    let repository = Repository::read()?;
    let mut findings = look(&repository)?;
    findings.sort();
    for Finding { path, line, key, advice, .. } in &findings {
        println!("{path}:{line}: {key}: {advice}");
    }
    if !findings.is_empty() {
        bail!("{} untidy places; what cannot be fixed goes into {}", findings.len(), exceptions::PATH);
    }
    println!("tidy: {} files", repository.sources.len());
    Ok(())
}

fn look(repository: &Repository) -> Result<Vec<Finding>> {
    let mut findings = rooms::look(repository)?;
    findings.extend(repository.dead_files());
    findings.extend(circles::look(repository));
    for source in &repository.sources {
        findings.extend(words::look(source));
        findings.extend(paths::look(source, repository));
        if let Some(rust) = &source.rust {
            findings.extend(modules::look(source, rust));
            findings.extend(lengths::look(source, rust));
            findings.extend(calls::look(source, rust));
            findings.extend(comments::look(source, rust));
        }
    }
    findings.extend(repository.text("CHANGELOG.md").map(changelog::look).unwrap_or_default());
    exceptions::excuse(findings, repository.text(exceptions::PATH).unwrap_or_default())
}

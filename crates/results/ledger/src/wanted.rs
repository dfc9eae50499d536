//! From what a user types to a Run that was kept.

use std::path::{Path, PathBuf};

use judge::Run;

use crate::evidence::Evidence;
use crate::past::{Error, Past, SESSION, sessions};
use crate::recorder::default_root;

/// Stands for the newest session in which something failed; the newest of all if nothing did.
const LAST: &str = "last";

/// Names that are listed at most where one must be chosen.
const LISTED_MAX: usize = 10;

/// A Run that was kept, and where.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Its session.
    pub past: Past,
    /// The Run.
    pub run: Run,
}

/// The Run that `text` names: `SESSION/CASE`, where `SESSION` is `last`, a name below `root`, the beginning of
/// one, or a folder; or the document of a Run. Without a case it is the only one that failed, or the only one.
///
/// # Errors
///
/// When there is no such Run, there are several, or it cannot be read.
pub fn find(root: &Path, text: &str) -> Result<Wanted, Error> {
    let path = Path::new(text);
    if path.is_file() {
        return document(path);
    }
    let (past, case) = match folder(path) {
        Some(found) => found,
        None if path.is_dir() => {
            return Err(Error::Wanted(format!(
                "{text}: is not the folder of a session: it has no {SESSION}"
            )));
        }
        None => named(root, text)?,
    };
    let run = if case.is_empty() { only_failed(&past)? } else { past.run(&case)? };
    Ok(Wanted { past, run })
}

/// The session below `root` that `name` is, or is the beginning of, or the folder of; `last` is as for [`find`].
///
/// # Errors
///
/// When there is no such session, or there are several.
pub fn session(root: &Path, name: &str) -> Result<Past, Error> {
    if name.contains('/') {
        let none = || Error::Wanted(format!("{name}: is not the folder of a session"));
        return Past::open(&absolute(Path::new(name))).ok_or_else(none);
    }
    Ok(named(root, name)?.0)
}

/// What [`find`] takes for the session in `directory` where the root is the default: its name there, its folder
/// elsewhere.
#[must_use]
pub fn short_name(directory: &Path) -> String {
    let is_usual = default_root().canonicalize().is_ok_and(|root| directory.parent() == Some(&root));
    match directory.file_name().filter(|_| is_usual) {
        Some(name) => name.to_string_lossy().into_owned(),
        None => directory.display().to_string(),
    }
}

/// The Run of this document.
fn document(path: &Path) -> Result<Wanted, Error> {
    let text = path.display().to_string();
    let is_archive = [".tar", ".tar.zst"].iter().any(|end| text.ends_with(end));
    let remedy = if is_archive { ": unpack a bundle first" } else { "" };
    let none = || Error::Wanted(format!("{text}: is not in the folder of a session{remedy}"));
    let past = absolute(path).ancestors().skip(1).find_map(Past::open).ok_or_else(none)?;
    let run = past.read_run(path)?;
    Ok(Wanted { past, run })
}

/// The session whose folder `path` is, or goes through, and what comes after.
fn folder(path: &Path) -> Option<(Past, String)> {
    let mut above = path.ancestors().filter(|above| !above.as_os_str().is_empty());
    above.find_map(|above| {
        let past = Past::open(&absolute(above))?;
        Some((past, path.strip_prefix(above).ok()?.to_string_lossy().into_owned()))
    })
}

/// Whoever gets the session may go to another directory.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The session below `root` that is named, and the case.
fn named(root: &Path, text: &str) -> Result<(Past, String), Error> {
    let (name, case) = text.split_once('/').unwrap_or((text, ""));
    let mut all = sessions(root);
    let none = || format!("no session {name:?} in {}", root.display());
    if name == LAST && !all.is_empty() {
        // Nobody can repeat what another host ran: it is the last only where there is nothing else.
        let failed = all.iter().position(|past| past.has_failure() && past.is_own());
        let newest = failed.or_else(|| all.iter().position(Past::is_own)).unwrap_or(0);
        return Ok((all.swap_remove(newest), case.to_owned()));
    }
    if let Some(exact) = all.iter().position(|past| past.name() == name) {
        return Ok((all.swap_remove(exact), case.to_owned()));
    }
    if let Some(exact) = Evidence::of(root).restore(name) {
        return Ok((exact, case.to_owned()));
    }
    all.retain(|past| !name.is_empty() && past.name().starts_with(name));
    match all.len() {
        0 => match &Evidence::of(root).restored(name)[..] {
            [] => Err(Error::Wanted(none())),
            [only] => Past::open(&root.join(only))
                .map(|past| (past, case.to_owned()))
                .ok_or_else(|| Error::Wanted(none())),
            several => Err(ambiguous(name, several.iter().cloned())),
        },
        1 => Ok((all.swap_remove(0), case.to_owned())),
        _ => Err(ambiguous(name, all.iter().map(Past::name))),
    }
}

fn ambiguous(name: &str, all: impl ExactSizeIterator<Item = String>) -> Error {
    Error::Wanted(format!("{name:?} names several sessions: {}", list(all)))
}

fn only_failed(past: &Past) -> Result<Run, Error> {
    let mut all = past.runs();
    if all.len() > 1 {
        all.retain(|run| !run.outcome.is_well());
    }
    let name = past.name();
    match all.len() {
        0 => match &past.session()?.cases[..] {
            // It says why there is none.
            [case] => past.run(case),
            _ => {
                let text = format!("nothing failed in session {name}: name a case, such as {name}/CASE");
                Err(Error::Wanted(text))
            }
        },
        1 => Ok(all.swap_remove(0)),
        _ => {
            let names = list(all.into_iter().map(|run| run.case));
            Err(Error::Wanted(format!("several cases failed in session {name}, name one: {names}")))
        }
    }
}

/// Some names, in one line.
fn list(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = names.len().saturating_sub(LISTED_MAX);
    let shown = names.take(LISTED_MAX).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

#[cfg(test)]
mod tests;

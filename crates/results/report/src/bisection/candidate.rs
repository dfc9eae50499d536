//! Candidates as people call them.

use bisect::{Bisection, Candidate, Conclusion, Kind};

use crate::columns::fit;
use crate::safe::safe_line;
use crate::words::{brief, many};

/// Columns of a name or a title at most: somebody made it up.
pub(super) const NAME_MAX: usize = 120;

/// Candidates or states that are named in a sentence.
pub(super) const NAMED: usize = 4;

/// Candidates of which everything is shown.
const LISTED: usize = 16;

/// Those that did it, or may have.
pub(super) fn candidates(bisection: &Bisection) -> &[Candidate] {
    match &bisection.conclusion {
        Conclusion::Culprits { candidates, .. } | Conclusion::Suspects { candidates, .. } => candidates,
        Conclusion::Contradiction { .. } => &[],
    }
}

/// [`candidates`], as many of them as a reader can bear, and a word on the rest.
pub(super) fn listed(bisection: &Bisection) -> (&[Candidate], Option<String>) {
    let all = candidates(bisection);
    let more = all.len().saturating_sub(LISTED);
    let rest = (more > 0).then(|| format!("not listed: {}", many(bisection.kind, more)));
    (&all[..all.len() - more], rest)
}

/// Whether candidates are set one by one, not one upon the other.
pub(super) fn is_setting(kind: Kind) -> bool {
    matches!(kind, Kind::Parameters | Kind::Options)
}

/// The parameter that a candidate takes away, if that is what it does.
pub(super) fn absent(candidate: &Candidate) -> Option<String> {
    candidate.removes.as_deref().map(|parameter| fit(&brief(parameter), NAME_MAX))
}

/// Their names in a sentence, the first few.
pub(super) fn names(candidates: &[Candidate]) -> String {
    let mut names: Vec<String> = candidates.iter().take(NAMED).map(name).collect();
    if candidates.len() > NAMED {
        names.push(format!("{} more", candidates.len() - NAMED));
    }
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// A candidate in a sentence, as kernel people write commits: `1a2b3c4d5e6f ("subject")`.
fn name(candidate: &Candidate) -> String {
    let (name, title) = name_and_title(candidate);
    if let Some(parameter) = absent(candidate) {
        return format!("the removal of {parameter}");
    }
    if title.is_empty() { name } else { format!("{name} (\"{title}\")") }
}

/// The name of a candidate, and its title if that says anything else.
pub(super) fn name_and_title(candidate: &Candidate) -> (String, String) {
    let (name, title) = (fit(&brief(&candidate.name), NAME_MAX), fit(&safe_line(&candidate.title), NAME_MAX));
    let title = if title == name { String::new() } else { title };
    (name, title)
}

/// What is known of a candidate, a word for each fact.
pub(super) fn facts(kind: Kind, candidate: &Candidate, files: usize) -> Vec<(&'static str, String)> {
    let title = fit(&safe_line(&candidate.title), 2 * NAME_MAX);
    let optional = |text: &Option<String>| text.as_deref().map(safe_line).unwrap_or_default();
    let mut names: Vec<String> =
        candidate.files.iter().take(files).map(|file| fit(&safe_line(file), NAME_MAX)).collect();
    if candidate.files.len() > files {
        names.push(format!("{} more", candidate.files.len() - files));
    }
    let name = fit(&safe_line(&candidate.name), 2 * NAME_MAX);
    let name = absent(candidate).map(|parameter| format!("{parameter} (removed)")).unwrap_or(name);
    let title_word = if kind == Kind::Packages { "version" } else { "title" };
    let facts = [
        (kind.noun(), name),
        (title_word, title),
        ("author", fit(&optional(&candidate.author), NAME_MAX)),
        ("date", fit(&optional(&candidate.date), NAME_MAX)),
        ("files", names.join(", ")),
    ];
    facts.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}

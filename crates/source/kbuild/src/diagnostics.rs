//! What a kernel build complained about, read from all that it printed.
//!
//! Lines of parallel jobs mix, so each line is understood by itself ([`mod@line`]); notes belong to the diagnostic that
//! they follow directly. What is said many times, such as a warning in a header, is kept once with a count.

mod advice;
mod diagnostic;
mod found;
mod line;
mod link;
mod location;
mod messages;

use std::collections::HashMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

pub(crate) use diagnostic::write_place;
pub use diagnostic::{Diagnostic, Severity};
use found::{Found, Line, Weight};
pub(crate) use line::cut;
pub(crate) use location::{Location, Places};

/// All complaints of a build.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Diagnostics {
    /// Each once, by file, line, column and text.
    pub all: Vec<Diagnostic>,
    /// How many different ones are left out, since there were too many.
    pub omitted: u64,
    /// The place of the cause in the list.
    first_error: Option<usize>,
}

/// More warnings than anybody reads; of errors there may be as many again.
const DISTINCT: usize = 20_000;
/// Notes of one diagnostic; macros in macros can give more.
const NOTES: usize = 16;
/// A line is cut there, in bytes; C++ and generated sources have longer ones.
const LENGTH: usize = 2000;
/// Lines of quoted source that may stand between a diagnostic and its note.
const QUOTED: u32 = 4;

impl Diagnostics {
    /// Different warnings.
    pub fn warnings(&self) -> usize {
        self.all.iter().filter(|found| found.severity == Severity::Warning).count()
    }

    /// Reads a log; `tree` and `objects` are the directories of the source and of the build, as make was told them.
    pub fn of(log: &str, tree: &Path, objects: &Path) -> Self {
        let mut reader = Reader::new(Places::new(tree, objects));
        for line in log.split(['\n', '\r']) {
            reader.read(line::clean(line, LENGTH).as_ref());
        }
        reader.finish()
    }

    /// The cause to show where a build failed: the first error that is not just the consequence of another. A full
    /// disk comes before all others, for it makes programs fail in odd ways before one of them says why.
    pub fn first_error(&self) -> Option<&Diagnostic> {
        self.first_error.and_then(|at| self.all.get(at))
    }
}

/// What sets a diagnostic apart from others.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Key {
    severity: Severity,
    file: Option<String>,
    place: (Option<u32>, Option<u32>),
    text: String,
}

/// Reads line after line.
struct Reader {
    places: Places,
    all: Vec<Diagnostic>,
    known: HashMap<Key, usize>,
    omitted: u64,
    /// What was said before the diagnostic that it belongs to.
    context: Vec<String>,
    /// The object file that the linker speaks of.
    object: Option<String>,
    /// The diagnostic that notes belong to: its place in the list, or none for one that was seen before.
    open: Option<Option<usize>>,
    quoted: u32,
    first: Option<(Weight, usize)>,
    /// What make said of the first thing that failed.
    failed: Option<Diagnostic>,
}

impl Reader {
    fn new(places: Places) -> Self {
        Self {
            places,
            all: Vec::new(),
            known: HashMap::new(),
            omitted: 0,
            context: Vec::new(),
            object: None,
            open: None,
            quoted: 0,
            first: None,
            failed: None,
        }
    }

    fn read(&mut self, text: &str) {
        match line::parse(text) {
            Line::Complaint(found) => self.complain(&found),
            Line::Note(found) => self.note(&found),
            Line::Place(found) => self.place(&found),
            Line::Context { text, object } => {
                self.open = None;
                self.object = object.map(str::to_owned);
                if self.context.len() < NOTES {
                    self.context.push(self.places.in_text(&text));
                }
            }
            Line::Quoted => {
                self.quoted += 1;
                if self.quoted > QUOTED {
                    self.step();
                }
            }
            Line::Failed(found) => {
                self.step();
                if self.failed.is_none() {
                    self.failed = Some(self.diagnostic(&found));
                }
            }
            Line::Step => self.step(),
        }
    }

    /// Something else begins.
    fn step(&mut self) {
        self.context.clear();
        self.object = None;
        self.open = None;
        self.quoted = 0;
    }

    fn complain(&mut self, found: &Found) {
        let mut new = self.diagnostic(found);
        new.notes = std::mem::take(&mut self.context);
        new.notes.extend(found.note.iter().map(|note| self.places.in_text(note)));
        self.quoted = 0;
        if found.text.starts_with("Section mismatches detected") && self.fail_for_mismatches() {
            return;
        }
        if found.weight == Weight::Consequence {
            self.failed.get_or_insert(new);
            self.open = None;
            return;
        }
        let is_error = new.severity == Severity::Error;
        let (at, is_new) = self.keep(new);
        self.open = Some(at.filter(|_| is_new));
        let is_more_urgent = self.first.is_none_or(|(weight, _)| found.weight > weight);
        if let Some(at) = at.filter(|_| is_error && is_more_urgent) {
            self.first = Some((found.weight, at));
        }
    }

    /// modpost warns of each mismatch, and says at the end that it fails for them: they are the errors then.
    fn fail_for_mismatches(&mut self) -> bool {
        let is_mismatch =
            |it: &Diagnostic| it.text.contains("section mismatch") || it.text.contains("Section mismatch in");
        let Some(first) = self.all.iter().position(is_mismatch) else { return false };
        for diagnostic in self.all.iter_mut().filter(|it| is_mismatch(it)) {
            diagnostic.severity = Severity::Error;
        }
        self.first.get_or_insert((Weight::Own, first));
        self.open = None;
        true
    }

    /// Counts a diagnostic; gives its place, if it has one, and whether it was not seen before.
    fn keep(&mut self, new: Diagnostic) -> (Option<usize>, bool) {
        let place = (new.line, new.column);
        let key = Key { severity: new.severity, file: new.file.clone(), place, text: new.text.clone() };
        if let Some(&at) = self.known.get(&key) {
            self.all[at].count = self.all[at].count.saturating_add(1);
            return (Some(at), false);
        }
        let limit = if new.severity == Severity::Error { 2 * DISTINCT } else { DISTINCT };
        if self.all.len() >= limit {
            self.omitted += 1;
            return (None, false);
        }
        let at = self.all.len();
        self.known.insert(key, at);
        self.all.push(new);
        (Some(at), true)
    }

    fn diagnostic(&self, found: &Found) -> Diagnostic {
        let object = self.object.as_deref().filter(|_| found.is_linkers);
        let file = found.file.as_deref().map(|file| self.places.file(&location::beside(object, file)));
        Diagnostic {
            severity: found.severity,
            file,
            line: found.line,
            column: found.column,
            option: found.option.clone(),
            text: self.places.in_text(&found.text),
            notes: Vec::new(),
            count: 1,
            advice: advice::of(&found.text),
        }
    }

    fn note(&mut self, found: &Found) {
        self.quoted = 0;
        let Some(Some(at)) = self.open else { return };
        let place = found.file.as_deref().map(|file| {
            let line = found.line.map_or_else(String::new, |line| format!(":{line}"));
            format!("{}{line}: ", self.places.file(file))
        });
        let note = format!("{}{}", place.unwrap_or_default(), self.places.in_text(&found.text));
        let notes = &mut self.all[at].notes;
        if notes.len() < NOTES {
            notes.push(note);
        }
    }

    /// rustc says in a second line where it was.
    fn place(&mut self, found: &Found) {
        let Some(Some(at)) = self.open else { return };
        let file = found.file.as_deref().map(|file| self.places.file(file));
        let diagnostic = &mut self.all[at];
        if diagnostic.file.is_none() {
            diagnostic.file = file;
            (diagnostic.line, diagnostic.column) = (found.line, found.column);
        }
    }

    fn finish(mut self) -> Diagnostics {
        // A build can also fail without a word about why.
        if let (None, Some(failed)) = (self.first, self.failed.take()) {
            self.first = Some((Weight::Consequence, self.all.len()));
            self.all.push(failed);
        }
        let mut all: Vec<(usize, Diagnostic)> = self.all.into_iter().enumerate().collect();
        all.sort_by(|(_, a), (_, b)| {
            let place = |it: &Diagnostic| (it.line, it.column);
            let by_place = a.file.cmp(&b.file).then_with(|| place(a).cmp(&place(b)));
            by_place.then_with(|| a.text.cmp(&b.text))
        });
        let first_error = self.first.and_then(|(_, first)| all.iter().position(|(at, _)| *at == first));
        let all = all.into_iter().map(|(_, diagnostic)| diagnostic).collect();
        Diagnostics { all, omitted: self.omitted, first_error }
    }
}

#[cfg(test)]
mod tests;

//! Questions about a QEMU whose answers are remembered as long as the program is the same: to find one out takes a tenth of a second.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::remembered::{keep, recall};

/// Whether QEMU keeps something.
#[derive(Debug)]
pub(super) struct Question {
    /// Under which the answer is remembered.
    name: &'static str,
    /// The answer, by the program.
    known: Mutex<Option<(String, bool)>>,
}

impl Question {
    /// One that was not asked yet.
    pub(super) const fn new(name: &'static str) -> Self {
        Self { name, known: Mutex::new(None) }
    }

    /// The answer for a program, which `find` finds out if nobody knows it. Where it cannot be found out, it is no.
    pub(super) fn answer(&self, program: &Path, find: impl FnOnce() -> Option<bool>) -> bool {
        let identity = identity(program);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, keeps)) = known.as_ref().filter(|(of, _)| *of == identity) {
            return *keeps;
        }
        let remembered = recall(self.name, &identity).map(|answer| answer == "keeps");
        let answer = remembered.or_else(|| {
            let word = |keeps: &bool| if *keeps { "keeps" } else { "loses" };
            find().inspect(|keeps| keep(self.name, &identity, word(keeps)))
        });
        let keeps = answer.unwrap_or(false);
        *known = Some((identity, keeps));
        keeps
    }
}

/// The program, and what changes with another version of it.
fn identity(program: &Path) -> String {
    let of = |file: &std::fs::Metadata| format!("{} {}.{}", file.size(), file.mtime(), file.mtime_nsec());
    let file = program.metadata().as_ref().map_or_else(|_| String::new(), of);
    format!("{} {file}", program.display())
}

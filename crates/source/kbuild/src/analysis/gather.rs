//! The findings of all calls.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::jobs::Done;
use super::{Analysed, Finding, Tool, Unread};
use crate::diagnostics::cut;

/// Most findings of an analysis.
const FINDINGS_MAX: usize = 20_000;

/// Largest file whose lines are shown, in bytes, and most bytes of files that are kept.
const FILE_MAX: u64 = 8 << 20;
const FILES_MAX: u64 = 64 << 20;

/// Longest line of code that is kept, in bytes.
const LINE_MAX: usize = 500;

/// Puts the findings of calls together, each once: what stands in a header is found in each object that includes it.
pub(super) fn gather(done: Vec<Done>, tree: &Path) -> Analysed {
    let mut files = Files { tree, lines: HashMap::new(), bytes: 0 };
    let (mut findings, mut unread, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    for Done { call, result } in done {
        let new = result.findings.into_iter().filter(|found| {
            let place = (found.file.clone(), found.line, found.column);
            // checkpatch finds the same more than once in a line of a patch, and each is one.
            found.tool == Tool::Checkpatch || seen.insert((found.tool, place, found.text.clone()))
        });
        let new: Vec<Finding> = new
            .map(|found| Finding { code: files.line_of(&found), about: call.about.clone(), ..found })
            .collect();
        findings.extend(new);
        findings.truncate(FINDINGS_MAX);
        unread.extend(result.failure.map(|why| Unread { tool: call.tool, about: call.about, why }));
    }
    findings.sort_by(|a, b| (&a.file, a.line, a.column, a.tool).cmp(&(&b.file, b.line, b.column, b.tool)));
    Analysed { findings, unread, ..Analysed::default() }
}

/// Files of a tree, by their lines.
struct Files<'a> {
    tree: &'a Path,
    lines: HashMap<String, Vec<String>>,
    bytes: u64,
}

impl Files<'_> {
    /// The line that a finding is about, without the blanks around it. What checkpatch reads is a patch, and the tree is
    /// without it.
    fn line_of(&mut self, finding: &Finding) -> String {
        let (Some(file), Some(line), false) = (&finding.file, finding.line, finding.tool == Tool::Checkpatch)
        else {
            return String::new();
        };
        if !self.lines.contains_key(file) {
            // Without the file its findings have no line.
            let text = host::text_beneath(self.tree, Path::new(file), FILE_MAX).unwrap_or_default();
            self.bytes += text.len() as u64;
            if self.bytes > FILES_MAX {
                self.lines.clear();
                self.bytes = text.len() as u64;
            }
            let lines = text.lines().map(|line| cut(line.trim(), LINE_MAX).to_owned());
            self.lines.insert(file.clone(), lines.collect());
        }
        let at = usize::try_from(line).unwrap_or_default().saturating_sub(1);
        self.lines.get(file).and_then(|lines| lines.get(at)).cloned().unwrap_or_default()
    }
}

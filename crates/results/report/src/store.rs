//! What `kiln store` prints.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use kernel::Usage as CacheUsage;
use ledger::{EvidenceUsage, Usage};
use serde::Serialize;

use crate::columns::Columns;
use crate::json::line;
use crate::safe::safe_line;
use crate::style::{DIM, Paint};

pub use crate::kernels::size;

const COLUMNS: Columns<5> =
    Columns { head: ["WHAT", "COUNT", "SIZE", "LIMIT", "FOLDER"], right: &[1, 2, 3], spared: &[4] };

/// A kind of what is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Part {
    /// What it is.
    name: String,
    /// How many there are.
    count: usize,
    /// What they take, in bytes.
    bytes: u64,
    /// What they may take, in bytes, where kiln keeps to a budget by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u64>,
    /// Where they are.
    folder: PathBuf,
}

impl Part {
    /// Results.
    #[must_use]
    pub fn of_results(usage: &Usage) -> Self {
        let Usage { name, root, folders, bytes, limit } = usage;
        Self {
            name: (*name).to_owned(),
            count: *folders,
            bytes: *bytes,
            limit: Some(*limit),
            folder: root.clone(),
        }
    }

    /// What shows failures whose folders are gone.
    #[must_use]
    pub fn of_evidence(evidence: &EvidenceUsage, folder: &Path) -> Self {
        let EvidenceUsage { files, bytes, limit, .. } = *evidence;
        Self {
            name: "evidence".to_owned(),
            count: files,
            bytes,
            limit: Some(limit),
            folder: folder.to_owned(),
        }
    }

    /// A cache.
    #[must_use]
    pub fn of_cache(usage: &CacheUsage, folder: &Path) -> Self {
        let CacheUsage { name, entries, bytes } = usage;
        let folder = folder.join(name);
        Self { name: format!("cache: {name}"), count: *entries, bytes: *bytes, limit: None, folder }
    }
}

/// Prints a line for each kind.
///
/// # Errors
///
/// When `out` does not take it.
pub fn table(parts: &[Part], colour: bool, mut out: impl Write) -> io::Result<()> {
    let paint = Paint { colour };
    let rows: Vec<[String; 5]> = parts.iter().map(row).collect();
    let widths = COLUMNS.widths(&rows, None);
    writeln!(out, "{}", paint.paint(DIM, &COLUMNS.line(&COLUMNS.heads(), &widths)))?;
    for row in &rows {
        writeln!(out, "{}", COLUMNS.line(row, &widths))?;
    }
    let total = parts.iter().map(|part| part.bytes).sum();
    writeln!(out, "{} in all", size(total))?;
    out.flush()
}

fn row(part: &Part) -> [String; 5] {
    [
        safe_line(&part.name),
        part.count.to_string(),
        size(part.bytes),
        part.limit.map(size).unwrap_or_default(),
        safe_line(&part.folder.display().to_string()),
    ]
}

/// Prints a JSON object a line for each kind.
///
/// # Errors
///
/// When `out` does not take it.
pub fn json(parts: &[Part], mut out: impl Write) -> io::Result<()> {
    parts.iter().try_for_each(|part| out.write_all(line(part)?.as_bytes()))?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_a_line_and_only_results_have_a_limit() {
        let usage =
            Usage { name: "sessions", root: "/s/runs".into(), folders: 12, bytes: 3 << 20, limit: 8 << 30 };
        let evidence = EvidenceUsage { sessions: 1, files: 4, bytes: 4096, limit: 1 << 30 };
        let cache = CacheUsage { name: "deb\u{1b}[2J".to_owned(), entries: 3, bytes: 700 << 20 };
        let parts = [
            Part::of_results(&usage),
            Part::of_evidence(&evidence, Path::new("/s/runs/artefacts")),
            Part::of_cache(&cache, Path::new("/c")),
        ];
        let mut out = Vec::new();
        table(&parts, false, &mut out).expect("written");
        insta::assert_snapshot!(String::from_utf8(out).expect("UTF-8"));
        let mut out = Vec::new();
        json(&parts, &mut out).expect("written");
        assert_eq!(String::from_utf8(out).expect("UTF-8").matches("\"limit\"").count(), 2);
    }
}

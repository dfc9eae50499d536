//! What `kiln kernels` prints.

use std::io::{self, Write};
use std::time::SystemTime;

use jiff::Timestamp;
use kernel::catalogue::{Entry, State};
use kernel::{Pruned, StoreEntry};
use serde::Serialize;

use crate::columns::Columns;
use crate::json;
use crate::safe::safe_line;
use crate::style::{BOLD, DIM, Paint};

/// A narrow terminal goes without the flavour first: the locator says it too.
const COLUMNS: Columns<6> = Columns {
    head: ["LOCATOR", "VERSION", "FLAVOUR", "DATE", "SIZE", "STATE"],
    right: &[4],
    spared: &[2, 3, 4, 1],
};

/// Prints kernels in columns, in the given order, and below them what else is to say; no line of the table is
/// wider than `width` columns as long as the locators are not.
///
/// # Errors
///
/// When `out` does not take it.
pub fn kernels_table(
    entries: &[Entry],
    width: Option<usize>,
    colour: bool,
    mut out: impl Write,
) -> io::Result<()> {
    if entries.is_empty() {
        return out.flush();
    }
    let paint = Paint { colour };
    let rows: Vec<[String; 6]> = entries.iter().map(row).collect();
    let widths = COLUMNS.widths(&rows, width);
    writeln!(out, "{}", paint.paint(DIM, &COLUMNS.line(&COLUMNS.heads(), &widths)))?;
    for (entry, row) in entries.iter().zip(&rows) {
        let text = COLUMNS.line(row, &widths);
        // What is here catches the eye among all that could be fetched.
        let is_here = !matches!(entry.state, State::Offered | State::Source);
        writeln!(out, "{}", if is_here { paint.paint(BOLD, &text) } else { text })?;
    }
    for entry in entries {
        if let Some(note) = &entry.note {
            writeln!(out, "{}", paint.paint(DIM, &safe_line(&format!("{}: {note}", entry.locator))))?;
        }
    }
    out.flush()
}

/// Prints one JSON object per kernel and line.
///
/// # Errors
///
/// When `out` does not take it.
pub fn kernels_json(entries: &[Entry], mut out: impl Write) -> io::Result<()> {
    for entry in entries {
        out.write_all(json::line(entry)?.as_bytes())?;
    }
    out.flush()
}

fn row(entry: &Entry) -> [String; 6] {
    let size = entry.size.map(size).unwrap_or_default();
    let date = entry.date.as_deref().unwrap_or_default();
    let texts = [&entry.locator, &entry.version, &entry.flavour, date, &size, entry.state.name()];
    texts.map(safe_line)
}

/// Bytes for people, in decimal units as apt gives them.
#[must_use]
pub fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1000, "kB")];
    match UNITS.iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) if bytes / unit < 10 => {
            let tenths = u128::from(bytes) * 10 / u128::from(*unit);
            format!("{}.{} {name}", tenths / 10, tenths % 10)
        }
        Some((unit, name)) => format!("{} {name}", bytes / unit),
        None => format!("{bytes} B"),
    }
}

/// Prints what a prune removed, what is in use, and how much was freed.
///
/// # Errors
///
/// When `out` does not take it.
pub fn pruned_text(pruned: &Pruned, dry_run: bool, mut out: impl Write) -> io::Result<()> {
    let (removed, freed) = if dry_run { ("would remove", "would free") } else { ("removed", "freed") };
    for (word, entries) in [(removed, &pruned.removed), ("in use", &pruned.in_use)] {
        for entry in entries {
            let day = time(entry.last_used)
                .map_or_else(String::new, |time| format!(", last used {}", time.strftime("%F")));
            writeln!(out, "{word} {} ({}{day})", safe_line(&entry.name), size(entry.size))?;
        }
    }
    writeln!(out, "{freed} {}, {} left", size(pruned.freed()), size(pruned.kept))?;
    out.flush()
}

/// The same as JSON lines: an object for each entry, and at the end one with the sums.
///
/// # Errors
///
/// When `out` does not take it.
pub fn pruned_json(pruned: &Pruned, dry_run: bool, mut out: impl Write) -> io::Result<()> {
    for (event, entries) in [("removed", &pruned.removed), ("in-use", &pruned.in_use)] {
        for StoreEntry { name, size, last_used, .. } in entries {
            let entry = PrunedEntry { event, name, size: *size, last_used: time(*last_used) };
            out.write_all(json::line(&entry)?.as_bytes())?;
        }
    }
    let sums = Sums { event: "pruned", freed: pruned.freed(), kept: pruned.kept, dry_run };
    out.write_all(json::line(&sums)?.as_bytes())?;
    out.flush()
}

#[derive(Serialize)]
struct PrunedEntry<'a> {
    event: &'static str,
    name: &'a str,
    size: u64,
    last_used: Option<Timestamp>,
}

#[derive(Serialize)]
struct Sums {
    event: &'static str,
    freed: u64,
    kept: u64,
    dry_run: bool,
}

/// A date that no calendar has is none.
fn time(time: SystemTime) -> Option<Timestamp> {
    Timestamp::try_from(time).ok()
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::*;

    fn entries() -> Vec<Entry> {
        let entry = |locator: &str, version: &str, flavour: &str, size, state| Entry {
            locator: locator.into(),
            version: version.into(),
            flavour: flavour.into(),
            date: None,
            size,
            state,
            note: None,
        };
        let mut entries = vec![
            entry("deb:6.1.0-56-cloud-amd64", "6.1.192-2", "cloud", Some(412_345_678), State::Cached),
            entry("deb:6.1.0-56-rt-amd64", "6.1.192-2", "rt", Some(70_550_672), State::Offered),
            entry("deb-source:6.1", "6.1.192-2", "", Some(1_390_000_000), State::Source),
        ];
        entries[0].date = Some("2026-11-16".into());
        entries[2].note = Some("source only".into());
        entries
    }

    fn table(entries: &[Entry], width: Option<usize>, colour: bool) -> String {
        let mut out = Vec::new();
        kernels_table(entries, width, colour, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn columns_line_up() {
        let wanted = "\
            LOCATOR                   VERSION    FLAVOUR  DATE          SIZE  STATE\n\
            deb:6.1.0-56-cloud-amd64  6.1.192-2  cloud    2026-11-16  412 MB  cached\n\
            deb:6.1.0-56-rt-amd64     6.1.192-2  rt                    70 MB  offered\n\
            deb-source:6.1            6.1.192-2                       1.3 GB  source\n\
            deb-source:6.1: source only\n";
        assert_eq!(table(&entries(), None, false), wanted);
    }

    #[test]
    fn a_narrow_terminal_gets_fewer_columns() {
        for width in [24 + 2 + 7, 40, 60, 70, 80] {
            let text = table(&entries(), Some(width), false);
            assert!(text.lines().all(|line| line.width() <= width), "{width}\n{text}");
            assert!(text.contains("deb:6.1.0-56-cloud-amd64") && text.contains("cached"), "{text}");
        }
        assert!(table(&entries(), Some(70), false).contains("2026-11-16"));
    }

    #[test]
    fn a_package_cannot_harm_the_terminal() {
        let mut entries = entries();
        entries[0].version = "6\x1b[2J\n\u{202e}1".into();
        entries[2].note = Some("\x1b]0;x\x07".into());
        let text = table(&entries, Some(80), false);
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()) && text.lines().count() == 5, "{text:?}");
        assert!(table(&entries, None, true).contains("\x1b[1mdeb:6.1.0-56-cloud-amd64"));
        assert_eq!(table(&[], None, true), "");
    }

    #[test]
    fn json_is_one_object_per_line() {
        let mut out = Vec::new();
        kernels_json(&entries(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.lines().count(), 3);
        let back: Vec<Entry> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(back, entries());
        assert!(text.contains("\"state\":\"cached\""));
    }

    #[test]
    fn sizes_have_two_digits_at_least() {
        let texts =
            [0, 999, 1000, 9_999, 12_345, 999_999, 9_960_000, 70_550_672, 12_000_000_000, u64::MAX].map(size);
        let wanted = [
            "0 B",
            "999 B",
            "1.0 kB",
            "9.9 kB",
            "12 kB",
            "999 kB",
            "9.9 MB",
            "70 MB",
            "12 GB",
            "18446744073 GB",
        ];
        assert_eq!(texts, wanted);
    }
}

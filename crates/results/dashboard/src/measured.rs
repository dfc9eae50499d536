//! Which kernels were measured: each folder is read once, and again only if something was made in it since.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ledger::{KeptMeasurement, folders, measurements_in, modified};

/// How long after a change another one may bear the same time.
const SETTLING: Duration = Duration::from_secs(2);

/// What is known of the folders of measurements and comparisons.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    known: HashMap<PathBuf, Known>,
}

/// What a folder had when it was read.
#[derive(Debug)]
struct Known {
    /// When something was last made in it.
    changed: SystemTime,
    /// What is made in it from now on bears another time.
    is_settled: bool,
    /// The kernels whose figures are there.
    releases: Vec<String>,
}

impl Measured {
    /// The newest figures below `root` of a kernel, by its release; nothing if it was not measured.
    pub(crate) fn newest(&mut self, root: &Path, release: &str) -> Option<KeptMeasurement> {
        let folders = folders(root);
        self.read(&folders);
        let has = |folder: &&PathBuf| {
            self.known.get(*folder).is_some_and(|known| known.releases.iter().any(|known| known == release))
        };
        let newest = folders.iter().rev().find(has)?;
        let mut kept = measurements_in(newest);
        kept.retain(|one| one.measurement.subject.release == release);
        kept.pop()
    }

    /// Reads the folders that are new or not as before.
    fn read(&mut self, folders: &[PathBuf]) {
        self.known.retain(|folder, known| known.is_settled && modified(folder) == Some(known.changed));
        let new: Vec<&PathBuf> = folders.iter().filter(|folder| !self.known.contains_key(*folder)).collect();
        let known = host::on_all_cpus(&new, |folder| Some(((*folder).clone(), Known::of(folder)?)));
        self.known.extend(known.into_iter().flatten());
    }
}

impl Known {
    fn of(folder: &Path) -> Option<Self> {
        let changed = modified(folder)?;
        let is_settled = changed.elapsed().is_ok_and(|age| age >= SETTLING);
        let releases = measurements_in(folder).into_iter().map(|one| one.measurement.subject.release);
        Some(Self { changed, is_settled, releases: releases.collect() })
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{File, write};

    use ledger::{Figures, MEASUREMENT, side};
    use serde_json::{Value, json};

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn document(release: &str) -> Value {
        let fields = ["label", "locator", "kernel", "provenance", "identity", "parameters", "machine"];
        let mut subject: Value = fields.iter().map(|field| ((*field).to_owned(), Value::from(""))).collect();
        subject["release"] = release.into();
        json!({"subject": subject, "kind": "exact", "procedure": "", "boots": [], "metrics": [], "notes": []})
    }

    /// A folder with figures, in which nothing was made for a minute.
    fn keep(root: &Path, folder: &str, name: &str, release: &str) {
        let figures = Figures::at(root.join(folder));
        figures.keep(name, &document(release)).expect("writable");
        touch(figures.directory(), SystemTime::now() - MINUTE);
    }

    fn touch(folder: &Path, time: SystemTime) {
        File::open(folder).and_then(|folder| folder.set_modified(time)).expect("our own");
    }

    fn newest(measured: &mut Measured, root: &Path, release: &str) -> Option<String> {
        measured.newest(root, release).map(|one| one.folder)
    }

    #[test]
    fn the_newest_figures_of_a_kernel_are_found_also_in_comparisons() {
        let place = tempfile::tempdir().expect("a directory");
        let root = place.path();
        let mut measured = Measured::default();
        assert_eq!(newest(&mut measured, root, "6.1"), None);
        keep(root, "2026-1", MEASUREMENT, "6.1");
        assert_eq!(newest(&mut measured, root, "6.1").as_deref(), Some("2026-1"));
        keep(root, "2026-2", &side(0), "6.1");
        keep(root, "2026-2", &side(1), "6.2");
        assert_eq!(newest(&mut measured, root, "6.1").as_deref(), Some("2026-2"));
        assert_eq!(newest(&mut measured, root, "6.2").as_deref(), Some("2026-2"));
        assert_eq!(newest(&mut measured, root, "6.3"), None);
        std::fs::remove_dir_all(root.join("2026-2")).expect("removable");
        assert_eq!(newest(&mut measured, root, "6.1").as_deref(), Some("2026-1"));
        assert_eq!(measured.known.len(), 1, "what is gone is forgotten");
    }

    #[test]
    fn a_folder_is_read_again_only_if_something_was_made_in_it() {
        let place = tempfile::tempdir().expect("a directory");
        let root = place.path();
        let mut measured = Measured::default();
        keep(root, "2026-1", MEASUREMENT, "6.1");
        newest(&mut measured, root, "6.1").expect("it was measured");
        // The file is another, and its folder is not.
        write(root.join("2026-1/measurement.json"), document("6.2").to_string()).expect("writable");
        assert_eq!(newest(&mut measured, root, "6.2"), None, "it was not read again");
        touch(&root.join("2026-1"), SystemTime::now() - 2 * MINUTE);
        assert_eq!(newest(&mut measured, root, "6.2").as_deref(), Some("2026-1"));
        // However slow this host is, that is not long ago.
        touch(&root.join("2026-1"), SystemTime::now() + MINUTE);
        newest(&mut measured, root, "6.2").expect("it was measured");
        write(root.join("2026-1/measurement.json"), document("6.3").to_string()).expect("writable");
        assert_eq!(
            newest(&mut measured, root, "6.3").as_deref(),
            Some("2026-1"),
            "it may have changed just now"
        );
    }
}

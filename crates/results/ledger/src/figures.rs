//! Figures of Kernels, kept to be looked at and compared later.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use measure::Measurement;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::document;
use crate::journal::Journal;
use crate::past::{Error as PastError, read};
use crate::recorder::{Error, make, require_room};

/// The figures of one Kernel.
pub const MEASUREMENT: &str = "measurement";

/// What a comparison of Kernels concluded.
pub const COMPARISON: &str = "comparison";

/// What a check of patches found.
pub const CHECK: &str = "check";

/// The page that comparisons, bisections and checks have in their folder.
pub const PAGE: &str = "report.html";

/// What was asked.
pub const REQUEST: &str = "request";

/// Stands for the newest measurement.
const LAST: &str = "last";

/// Where figures are kept by default: `$XDG_STATE_HOME/kiln/measurements`.
#[must_use]
pub fn figures_root() -> PathBuf {
    host::state_folder().join("measurements")
}

/// Where checks of patches are kept by default: `$XDG_STATE_HOME/kiln/checks`.
#[must_use]
pub fn checks_root() -> PathBuf {
    host::state_folder().join("checks")
}

/// Where recordings of this host are kept by default: `$XDG_STATE_HOME/kiln/traces`.
#[must_use]
pub fn traces_root() -> PathBuf {
    host::state_folder().join("traces")
}

/// A folder of documents.
#[derive(Debug, Clone)]
pub struct Figures {
    directory: PathBuf,
}

impl Figures {
    /// Checks that something can be kept below `root`, and makes nothing.
    ///
    /// # Errors
    ///
    /// When a file is in its way, or there is no room.
    pub fn check(root: &Path) -> Result<(), Error> {
        match root.ancestors().find(|path| path.exists()) {
            Some(folder) if folder.is_dir() => require_room(folder),
            Some(_) => Err(Error::Io { path: root.to_path_buf(), why: ErrorKind::NotADirectory.into() }),
            // A relative path that begins where kiln runs.
            None => Ok(()),
        }
    }

    /// Makes the folder of what was `started` then, below `root`.
    ///
    /// # Errors
    ///
    /// When it cannot be made, or there is no room.
    pub fn create(root: &Path, started: &str) -> Result<Self, Error> {
        Ok(Self { directory: make(root, started)? })
    }

    /// Makes the folder of a journal that of what ended then, below `root`.
    ///
    /// # Errors
    ///
    /// When it cannot be made, or there is no room.
    pub fn of(journal: &Journal, root: &Path, ended: &str) -> Result<Self, Error> {
        let kept = Self::create(root, ended)?;
        std::fs::rename(journal.directory(), &kept.directory)
            .map_err(|why| Error::Io { path: kept.directory.clone(), why })?;
        Ok(kept)
    }

    /// The folder itself, for what is kept of the whole host.
    #[must_use]
    pub fn at(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// Its folder.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Where a file of this name is, with its extension.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Keeps a document.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn keep(&self, name: &str, value: &impl Serialize) -> Result<(), Error> {
        let io = |why| Error::Io { path: self.directory.clone(), why };
        std::fs::create_dir_all(&self.directory).map_err(io)?;
        document::write(&self.document(name), value).map_err(io)
    }

    /// Keeps the folder from being removed to make room, as long as the file is open.
    ///
    /// # Errors
    ///
    /// When no request is kept there.
    pub fn hold(&self) -> Result<File, Error> {
        let path = self.document(REQUEST);
        let hold = File::open(&path).and_then(|file| file.lock().map(|()| file));
        hold.map_err(|why| Error::Io { path, why })
    }

    /// Reads a document that was kept.
    ///
    /// # Errors
    ///
    /// When it cannot be read or is none.
    pub fn read<T: DeserializeOwned>(&self, name: &str) -> Result<T, PastError> {
        read(&self.document(name))
    }

    fn document(&self, name: &str) -> PathBuf {
        self.path(&format!("{name}.json"))
    }
}

/// The documents of this name in the folders below `root` with the names of those, the oldest first. What is none is left out.
#[must_use]
pub fn documents<T: DeserializeOwned>(root: &Path, name: &str) -> Vec<(String, T)> {
    let document = |folder: PathBuf| {
        let found = Figures::at(folder.clone()).read(name).ok()?;
        Some((folder.file_name()?.to_string_lossy().into_owned(), found))
    };
    folders(root).into_iter().filter_map(document).collect()
}

/// What is in `root`, the oldest first: names begin with the time.
#[must_use]
pub fn folders(root: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    folders.sort();
    folders
}

/// The name of the document of a side of a comparison.
#[must_use]
pub fn side(number: usize) -> String {
    if number == 0 { "base".to_owned() } else { format!("new-{number}") }
}

/// The folder below `root` that `text` names: by its name, the beginning of that, or as the newest; what it is must be there, which
/// is called `what`.
///
/// # Errors
///
/// When there is none, or there are several.
pub fn folder_named(root: &Path, text: &str, what: (&str, &str)) -> Result<PathBuf, PastError> {
    let (noun, file) = what;
    let mut all = folders(root);
    all.retain(|path| path.join(file).exists());
    let name = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let newest = all.last().and_then(name);
    all.retain(|path| name(path).is_some_and(|name| is_named(&name, text, newest.as_deref())));
    match (all.pop(), all.len()) {
        (Some(only), 0) => Ok(only),
        (Some(_), others) => {
            Err(PastError::Wanted(format!("{text:?} names {} {noun}s: give more of the name", others + 1)))
        }
        (None, _) => Err(PastError::Wanted(format!("no {noun} {text:?} in {}", root.display()))),
    }
}

/// Whether `text` names a folder: by its name, the beginning of that, or as the newest.
pub(crate) fn is_named(folder: &str, text: &str, newest: Option<&str>) -> bool {
    if text == LAST { newest == Some(folder) } else { folder.starts_with(text) }
}

/// The measurement that `text` names: `last`, the name of its folder below `root` or the beginning of one, a folder,
/// or a document.
///
/// # Errors
///
/// When there is none, there are several, or it cannot be read.
pub fn measurement(root: &Path, text: &str) -> Result<Measurement, PastError> {
    let path = Path::new(text);
    if path.is_file() {
        return read(path);
    }
    if path.is_dir() {
        return Figures::at(path.to_owned()).read(MEASUREMENT);
    }
    let folder = folder_named(root, text, ("measurement", &format!("{MEASUREMENT}.json")))?;
    Figures::at(folder).read(MEASUREMENT)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use measure::{Kind, Metric, Subject, Unit, Value};

    pub(crate) fn some(release: &str) -> Measurement {
        let subject = Subject { release: release.to_string(), ..Subject::default() };
        let (boots, metrics, notes) = (Vec::new(), Vec::new(), Vec::new());
        let (procedure, code) = (String::new(), std::collections::BTreeMap::new());
        Measurement { subject, kind: Kind::Exact, procedure, boots, metrics, code, notes }
    }

    fn metric(name: &str, cost: f64) -> Metric {
        Metric {
            name: name.to_string(),
            about: String::new(),
            unit: Unit::Instructions,
            values: vec![Value { boot: 0, min: cost, median: cost, max: cost, repetitions: 1, left_out: 0 }],
            samples: Vec::new(),
            not_measured: None,
            detail: None,
        }
    }

    #[test]
    fn a_measurement_is_found_by_its_name_the_beginning_of_it_and_as_the_last() {
        let root = tempfile::tempdir().unwrap();
        for (name, release) in [("2026-01-01T00-00-00Z-1", "old"), ("2026-02-01T00-00-00Z-1", "new")] {
            Figures::at(root.path().join(name)).keep(MEASUREMENT, &some(release)).unwrap();
        }
        std::fs::create_dir(root.path().join("2026-03-01T00-00-00Z-1")).unwrap();
        let found = |text: &str| measurement(root.path(), text).map(|found| found.subject.release);
        assert_eq!(found("last").unwrap(), "new");
        assert_eq!(found("2026-01").unwrap(), "old");
        assert!(found("2026-").unwrap_err().to_string().contains("names 2 measurements"));
        assert!(found("2027").unwrap_err().to_string().contains("no measurement"));
        let folder = root.path().join("2026-01-01T00-00-00Z-1");
        assert_eq!(found(folder.to_str().unwrap()).unwrap(), "old");
        assert_eq!(found(folder.join("measurement.json").to_str().unwrap()).unwrap(), "old");
    }

    #[test]
    fn statistics_are_derived_from_samples_when_they_are_read() {
        let root = tempfile::tempdir().unwrap();
        let mut one = some("a");
        let samples = measure::BootSamples { boot: 0, costs: vec![10.0, 12.0, 90.0], ticked: Vec::new() };
        one.metrics = ["kept", "older"].map(|name| metric(name, 77.0)).to_vec();
        one.metrics[0].samples = vec![samples];
        Figures::at(root.path().join("1")).keep(MEASUREMENT, &one).unwrap();
        let medians =
            |one: &Measurement| one.metrics.iter().map(|it| it.values[0].median).collect::<Vec<_>>();
        assert_eq!(medians(&measurement(root.path(), "last").unwrap()), [12.0, 77.0]);
        assert_eq!(medians(&crate::measurements(root.path())[0].measurement), [12.0, 77.0]);
    }

    #[test]
    fn documents_come_with_their_folders_and_the_oldest_first() {
        let root = tempfile::tempdir().unwrap();
        for (name, value) in [("2026-02", 2), ("2026-01", 1)] {
            Figures::at(root.path().join(name)).keep("number", &value).unwrap();
        }
        Figures::at(root.path().join("2026-03")).keep("other", &3).unwrap();
        Figures::at(root.path().join("2026-04")).keep("number", &"none").unwrap();
        let expected = [("2026-01".to_owned(), 1), ("2026-02".to_owned(), 2)];
        assert_eq!(documents::<u32>(root.path(), "number"), expected);
        assert_eq!(documents::<u32>(&root.path().join("none"), "number"), []);
    }

    #[test]
    fn a_journal_that_has_ended_becomes_figures() {
        let root = tempfile::tempdir().unwrap();
        let (mut journal, _) = Journal::open::<u32>(&root.path().join(".unfinished")).unwrap();
        journal.append(&1).unwrap();
        let kept = Figures::of(&journal, root.path(), "2026-01-01T00:00:00Z").unwrap();
        assert!(kept.path("journal.jsonl").is_file() && !root.path().join(".unfinished").exists());
    }

    #[test]
    fn a_place_that_cannot_hold_figures_is_told_and_nothing_is_made() {
        let root = tempfile::tempdir().unwrap();
        let below = root.path().join("a/b");
        Figures::check(&below).unwrap();
        assert!(!root.path().join("a").exists());
        std::fs::write(root.path().join("a"), "").unwrap();
        let error = Figures::check(&below).unwrap_err().to_string();
        assert!(error.contains("not a directory") && error.contains("--results"), "{error}");
    }

    #[test]
    fn what_is_no_measurement_is_reported() {
        let root = tempfile::tempdir().unwrap();
        let place = Figures::create(root.path(), "2026-01-01T00:00:00Z").unwrap();
        std::fs::write(place.path("measurement.json"), "{}").unwrap();
        let error = measurement(root.path(), "last").unwrap_err().to_string();
        assert!(error.contains("is not a document of kiln"), "{error}");
    }
}

//! All measurements that are kept, and those that somebody asks for.

use std::path::Path;

use jiff::Timestamp;
use lab::suites::select::Pattern;
use measure::Measurement;

use crate::figures::{Figures, MEASUREMENT, folders, is_named, side};
use crate::past::Error;

/// A measurement, and where it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptMeasurement {
    /// The name of its folder, which begins with the time.
    pub folder: String,
    /// Which [`side`] of a comparison it is, if it is one.
    pub side: Option<String>,
    /// The figures.
    pub measurement: Measurement,
}

/// All measurements below `root`, also those of comparisons, the oldest first. What cannot be read is left out.
#[must_use]
pub fn measurements(root: &Path) -> Vec<KeptMeasurement> {
    host::on_all_cpus(&folders(root), |folder| measurements_in(folder)).into_iter().flatten().collect()
}

/// Those of one folder, in their order.
#[must_use]
pub fn measurements_in(folder: &Path) -> Vec<KeptMeasurement> {
    let document = |side: Option<String>| {
        let name = side.as_deref().unwrap_or(MEASUREMENT);
        let measurement = Figures::at(folder.to_owned()).read(name).ok()?;
        let folder = folder.file_name()?.to_string_lossy().into_owned();
        Some(KeptMeasurement { folder, side, measurement })
    };
    if let Some(only) = document(None) {
        return vec![only];
    }
    let new = (1..).map_while(|number| document(Some(side(number))));
    document(Some(side(0))).into_iter().chain(new).collect()
}

/// What is common to the measurements that are asked for.
#[derive(Debug, Clone, Default)]
pub struct MeasurementsQuery {
    /// Names of folders, their beginnings, or `last`; any if there are none.
    pub names: Vec<String>,
    /// A pattern for the kernel: its release, or one of its locators.
    pub kernel: Option<String>,
    /// When the earliest was kept.
    pub since: Option<Timestamp>,
}

impl MeasurementsQuery {
    /// The measurements below `root` that are asked for, the oldest first.
    ///
    /// # Errors
    ///
    /// When none has one of the names.
    pub fn find(&self, root: &Path) -> Result<Vec<KeptMeasurement>, Error> {
        let mut kept = measurements(root);
        let newest = kept.last().map(|one| one.folder.clone());
        let has_name = |one: &KeptMeasurement, name: &String| is_named(&one.folder, name, newest.as_deref());
        if let Some(name) = self.names.iter().find(|name| !kept.iter().any(|one| has_name(one, name))) {
            return Err(Error::Wanted(format!("no measurement {name:?} in {}", root.display())));
        }
        kept.retain(|one| self.names.is_empty() || self.names.iter().any(|name| has_name(one, name)));
        if let Some(kernel) = self.kernel.as_deref().map(Pattern::new) {
            kept.retain(|one| {
                let subject = &one.measurement.subject;
                [&subject.release, &subject.locator, &subject.kernel].iter().any(|name| kernel.matches(name))
            });
        }
        // The names of folders begin with the time.
        if let Some(since) = self.since.map(|since| since.to_string().replace(':', "-")) {
            kept.retain(|one| one.folder >= since);
        }
        Ok(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::some;

    #[test]
    fn measurements_are_found_by_name_kernel_and_time() {
        let root = tempfile::tempdir().expect("a directory");
        let keep = |folder: &str, document: &str, release: &str| {
            Figures::at(root.path().join(folder)).keep(document, &some(release)).expect("writable");
        };
        keep("2026-01-01T00-00-00Z-1", "measurement", "6.1.0-1-amd64");
        keep("2026-02-01T00-00-00Z-1", "base", "6.1.0-1-amd64");
        keep("2026-02-01T00-00-00Z-1", "new-1", "6.12.0-amd64");
        let query = MeasurementsQuery::default;
        let found = |query: MeasurementsQuery| -> Vec<String> {
            let found = query.find(root.path()).expect("known names");
            found.iter().map(|one| format!("{} {:?}", &one.folder[5..7], one.side.as_deref())).collect()
        };
        let of = |kernel: &str| MeasurementsQuery { kernel: Some(kernel.to_owned()), ..query() };
        let named = |name: &str| MeasurementsQuery { names: vec![name.to_owned()], ..query() };
        let since = |time: &str| MeasurementsQuery { since: Some(time.parse().expect("a time")), ..query() };
        let (alone, both) = ("01 None", ["02 Some(\"base\")", "02 Some(\"new-1\")"]);
        assert_eq!(found(query()), [alone, both[0], both[1]]);
        assert_eq!(found(of("6.1.0-*")), [alone, both[0]]);
        assert_eq!(found(named("2026-01")), [alone]);
        assert_eq!(found(named("last")), both);
        assert_eq!(found(since("2026-01-01T00:00:01Z")), both);
        assert_eq!(found(since("2026-01-01T00:00:00Z")).len(), 3);
        let error = named("2027").find(root.path()).expect_err("there is none").to_string();
        assert!(error.starts_with("no measurement \"2027\""), "{error}");
    }
}

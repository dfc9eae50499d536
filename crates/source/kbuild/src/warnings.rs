//! All warnings about what a kernel is compiled from, though a build compiles only what is not up to date.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::Path;

use kernel::files::hash;
use kernel::store::{persist_json, read_json};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::diagnostics::{Diagnostic, Diagnostics, Severity};
use crate::failure::Paths;
use crate::printed::compiled;

/// Digits of a hash over a warning: two of a million share them once in a thousand kernels.
const DIGITS: usize = 16;

/// The warnings about each object of a work directory, by their hashes. What programs say about no source, such as modpost, is not among them.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Warnings(BTreeMap<String, BTreeSet<String>>);

impl Warnings {
    /// Takes what make printed into those that are kept in `file`, and gives all.
    pub(crate) fn update(file: &Path, paths: &Paths<'_>, diagnostics: &Diagnostics) -> Result<Self, Error> {
        let mut warnings: Self = read_json(file).unwrap_or_default();
        let compiled = compiled(paths.log);
        warnings.forget(&compiled, paths.tree);
        warnings.add(&compiled, diagnostics, paths.objects);
        persist_json(file, &warnings).map_err(Error::io("write", file))?;
        Ok(warnings)
    }

    /// How many different ones there are.
    pub(crate) fn count(&self) -> usize {
        self.0.values().flatten().collect::<HashSet<_>>().len()
    }

    /// Forgets what was said about objects that have been compiled again, or whose source is gone.
    fn forget(&mut self, compiled: &[String], tree: &Path) {
        let compiled: HashSet<&str> = compiled.iter().map(String::as_str).collect();
        let has_source =
            |object: &str| ["c", "S"].iter().any(|ending| tree.join(object).with_extension(ending).is_file());
        self.0.retain(|object, _| !compiled.contains(object.as_str()) && has_source(object));
    }

    fn add(&mut self, compiled: &[String], diagnostics: &Diagnostics, objects: &Path) {
        let warnings = diagnostics.all.iter().filter(|found| found.severity == Severity::Warning);
        for (file, warning) in warnings.filter_map(|found| Some((found.file.as_deref()?, found))) {
            for object in of_file(file, compiled, objects) {
                self.0.entry(object.to_owned()).or_default().insert(name(warning));
            }
        }
    }
}

/// The objects that were compiled from a file: its own, or of a header all that include it.
fn of_file<'o>(file: &str, compiled: &'o [String], objects: &Path) -> Vec<&'o str> {
    let own = Path::new(file).with_extension("o");
    let is_own = |object: &&String| Path::new(object) == own;
    let includes = |object: &&String| dependencies(&objects.join(object)).is_some_and(|it| it.contains(file));
    match compiled.iter().find(is_own) {
        Some(own) => vec![own],
        None => compiled.iter().filter(includes).map(String::as_str).collect(),
    }
}

/// What kbuild keeps beside an object: the command, and the files that it read.
fn dependencies(object: &Path) -> Option<String> {
    let name = object.file_name()?.to_str()?;
    fs::read_to_string(object.with_file_name(format!(".{name}.cmd"))).ok()
}

/// What sets a warning apart from others.
fn name(warning: &Diagnostic) -> String {
    let Diagnostic { file, line, column, text, .. } = warning;
    let mut name = hash(format!("{file:?} {line:?} {column:?} {text}").as_bytes());
    name.truncate(DIGITS);
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Build {
        directory: tempfile::TempDir,
    }

    impl Build {
        fn new(sources: &[&str]) -> Self {
            let build = Self { directory: tempfile::tempdir().unwrap() };
            sources.iter().for_each(|source| build.write(source, ""));
            build
        }

        fn write(&self, name: &str, content: &str) {
            fixture::write(&self.directory.path().join(name), content);
        }

        /// How many warnings there are after make has printed this.
        fn prints(&self, log: &str) -> usize {
            let top = self.directory.path();
            self.write("log", log);
            let paths = Paths { tree: top, objects: top, log: &top.join("log") };
            let diagnostics = Diagnostics::of(log, top, top);
            Warnings::update(&top.join("warnings.json"), &paths, &diagnostics).unwrap().count()
        }
    }

    const FIRST: &str = "  CC      fs/a.o
fs/a.c:1:1: warning: odd [-Wodd]
fs/a.c:2:1: warning: odd [-Wodd]
  CC      fs/b.o
include/x.h:7:1: warning: odd [-Wodd]
WARNING: modpost: vmlinux: section mismatch
";

    #[test]
    fn what_is_not_compiled_again_keeps_its_warnings() {
        let build = Build::new(&["fs/a.c", "fs/b.c"]);
        build.write("fs/.a.o.cmd", "deps_fs/a.o := include/x.h");
        build.write("fs/.b.o.cmd", "deps_fs/b.o := include/x.h");
        assert_eq!(build.prints(FIRST), 3);
        assert_eq!(build.prints(""), 3, "nothing was compiled");
        assert_eq!(build.prints("  CC      fs/a.o\nfs/a.c:9:1: warning: odd [-Wodd]\n"), 2);
        assert_eq!(build.prints("  CC      fs/b.o\n"), 1, "nobody says it of the header any more");
        fs::remove_file(build.directory.path().join("fs/a.c")).unwrap();
        assert_eq!(build.prints(""), 0);
    }

    #[test]
    fn a_warning_in_a_header_counts_once() {
        let build = Build::new(&["fs/a.c", "fs/b.c"]);
        build.write("fs/.a.o.cmd", "include/x.h");
        build.write("fs/.b.o.cmd", "include/x.h");
        let said = "include/x.h:7:1: warning: odd [-Wodd]\n";
        assert_eq!(build.prints(&format!("  CC      fs/a.o\n{said}  CC      fs/b.o\n{said}")), 1);
        assert_eq!(build.prints("  CC      fs/a.o\n"), 1, "the other object has it still");
    }
}

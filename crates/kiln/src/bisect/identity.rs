//! What makes two calls one search, so that the second goes on where the first stopped.

use std::path::Path;

use anyhow::{Context, Result};
use bisect::{Axis, Question};
use kernel::PartsHash;
use lab::Suite;

use crate::cli::Bisect;

/// Digits of the name of a bisection's folder.
const NAME: usize = 16;

/// The name of its folder: what is equal here is the same search. `kernel` is what the one kernel is that is run with
/// several parameters.
pub(crate) fn name(
    said: &Bisect,
    axis: &dyn Axis,
    kernel: Option<&str>,
    question: &Question,
) -> Result<String> {
    let mut hash = PartsHash::default();
    hash.part(env!("CARGO_PKG_VERSION"));
    hash.part(axis.identity());
    hash.part(kernel.unwrap_or_default());
    let recipe = said.build.recipe();
    hash.part(format!("{recipe:?}"));
    for path in recipe.configurations.iter().map(Path::new).filter(|path| path.is_file()) {
        hash.part(read(path)?);
    }
    hash.part(format!("{question:?} {:?} {} {}", said.case, said.fixed, said.any_failure));
    hash.part(format!("{:?} {:?} {:?}", said.machine, said.case_timeout, said.arguments));
    hash.part(format!("{:?} {}", said.need, said.suite));
    if said.case.is_some()
        && let Suite::External(suite) = opened(said)?
    {
        hash.part(suite.identity()?);
    }
    if let Some(path) = &said.exec {
        hash.part(read(path)?);
    }
    Ok(hash.finish()[..NAME].to_string())
}

/// The suite with the case that is asked about.
pub(crate) fn opened(said: &Bisect) -> Result<Suite> {
    let pattern: Vec<String> = said.case.iter().cloned().collect();
    Ok(Suite::open(&said.suite, &pattern)?)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use bisect::axis::Parameters;
    use clap::Parser;
    use kbuild::Recipe;
    use kernel::Arch;

    use super::*;
    use crate::cli::{Cli, Verb};

    /// The folder of a search among commits, or what looks like one.
    fn named(kernel: Option<&str>, more: &[&str]) -> String {
        let words = [&["kiln", "bisect", "git:x@a..b"], more].concat();
        let Verb::Bisect(said) = Cli::parse_from(words).verb else { panic!("not a bisection") };
        let recipe =
            Recipe { configurations: vec![], arch: Arch::X86_64, allow_unmet: false, variables: vec![] };
        let axis = Parameters::between(&"host".parse().unwrap(), &recipe, "", "quiet").unwrap();
        name(&said, &axis, kernel, &said.question()).unwrap()
    }

    #[test]
    fn what_asks_something_else_is_another_search() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_str().unwrap();
        let configured = || named(None, &["--build", "--config", path]);
        let empty = configured();
        std::fs::write(path, "CONFIG_X=y").unwrap();
        let names = [
            named(None, &["--build"]),
            named(None, &["--build", "--make", "W=1"]),
            named(None, &["--build", "--config", "tiny"]),
            named(None, &["--build", "--arch", "um"]),
            named(None, &["--log", "WARNING"]),
            named(None, &["--log", "WARNING", "--case", "pipe/full"]),
            named(None, &["--log", "WARNING", "--case", "pipe/broken"]),
            named(Some("old"), &["--boot"]),
            named(Some("new"), &["--boot"]),
            empty,
            configured(),
        ];
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
        assert_eq!(named(None, &["--build", "--confidence", "90%", "--json"]), names[0]);
    }

    #[test]
    fn a_case_that_was_changed_is_another_question() {
        let folder = tempfile::tempdir().unwrap();
        let write = |text: &str| {
            use std::os::unix::fs::PermissionsExt;
            let path = folder.path().join("case.sh");
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        };
        let suite = format!("{}/", folder.path().display());
        let asked = || named(None, &["--suite", &suite, "--case", "case.sh"]);
        write("#!/bin/sh\nexit 0\n");
        let before = asked();
        assert_eq!(asked(), before);
        write("#!/bin/sh\nexit 1\n");
        assert_ne!(asked(), before);
    }
}

//! What makes two calls one search, so that the second goes on where the first stopped.

use std::path::Path;

use kernel::PartsHash;
use lab::suites::Suite;

use crate::axis::Axis;
use crate::error::Error;
use crate::request::BisectRequest;

/// Digits of the name of a bisection's folder.
const NAME: usize = 16;

/// The name of its folder: what is equal here is the same search. `kernel` is what the one kernel is that is run with
/// several parameters.
pub(crate) fn name(request: &BisectRequest, axis: &dyn Axis, kernel: Option<&str>) -> Result<String, Error> {
    let mut hash = PartsHash::default();
    hash.part(env!("CARGO_PKG_VERSION"));
    hash.part(axis.identity());
    hash.part(kernel.unwrap_or_default());
    let recipe = request.build.recipe();
    hash.part(format!("{recipe:?}"));
    for path in recipe.configurations.iter().map(Path::new).filter(|path| path.is_file()) {
        hash.part(read(path)?);
    }
    let search = &request.search;
    hash.part(format!("{:?} {} {}", request.question, search.fixed, search.any_failure));
    hash.part(format!("{:?} {:?} {:?}", request.cases, request.case_limit, request.machine));
    if let Some(Suite::External(suite)) = request.suite()? {
        hash.part(suite.identity()?);
    }
    if let Some(experiment) = request.question.experiment() {
        hash.part(experiment.identity()?);
    }
    if let Some(program) = request.program() {
        let content = machine::program::read(&program.path);
        hash.part(content.map_err(|error| Error::Broken(error.to_string()))?);
    }
    Ok(hash.finish()[..NAME].to_string())
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|error| Error::Broken(format!("{}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use kbuild::Recipe;
    use kernel::{Arch, Locator};
    use lab::request::{BuildOptions, ProgramRequest, Selection};

    use super::*;
    use crate::axis::Parameters;
    use crate::question::Question;
    use crate::request::AxisRequest;

    /// The folder of a search among parameters.
    fn named(kernel: Option<&str>, question: Question, more: impl FnOnce(&mut BisectRequest)) -> String {
        let ends = AxisRequest::Parameters {
            kernel: Locator::Host,
            first: String::new(),
            last: "quiet".to_string(),
        };
        let mut request = BisectRequest::new(ends, question);
        more(&mut request);
        let recipe =
            Recipe { configurations: vec![], arch: Arch::X86_64, allow_unmet: false, variables: vec![] };
        let axis = Parameters::between(&Locator::Host, &recipe, "", "quiet").unwrap();
        name(&request, &axis, kernel).unwrap()
    }

    fn built(build: BuildOptions) -> String {
        named(None, Question::Build, |request| request.build = build)
    }

    fn logged(case: Option<&str>) -> String {
        let cases =
            case.map(|case| Selection::Suite { suite: "full".to_string(), patterns: vec![case.to_string()] });
        named(None, Question::Log("WARNING".to_string()), |request| request.cases = cases)
    }

    #[test]
    fn what_asks_something_else_is_another_search() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_str().unwrap().to_string();
        let usual = BuildOptions::default;
        let configured = || built(BuildOptions { configurations: vec![path.clone()], ..usual() });
        let empty = configured();
        std::fs::write(&path, "CONFIG_X=y").unwrap();
        let names = [
            built(usual()),
            built(BuildOptions { variables: vec!["W=1".to_string()], ..usual() }),
            built(BuildOptions { configurations: vec!["tiny".to_string()], ..usual() }),
            built(BuildOptions { arch: Some(Arch::Um), ..usual() }),
            logged(None),
            logged(Some("pipe/full")),
            logged(Some("pipe/broken")),
            named(Some("old"), Question::Boot, |_| ()),
            named(Some("new"), Question::Boot, |_| ()),
            named(Some("new"), Question::Boot, |request| request.search.fixed = true),
            named(Some("new"), Question::Boot, |request| request.machine.cpus = Some(2)),
            empty,
            configured(),
        ];
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
        let surer = named(None, Question::Build, |request| request.search.confidence = 0.9);
        assert_eq!(surer, names[0]);
    }

    #[test]
    fn an_instrument_is_a_program_that_is_there() {
        let asked = |name: &str| {
            let program =
                ProgramRequest { path: name.into(), arguments: vec!["{}".to_string()], needs: Vec::new() };
            named(None, Question::Program(name.to_string()), |request| {
                request.cases = Some(Selection::Program(program));
            })
        };
        assert_ne!(asked("kiln:latency"), asked("kiln:race"));
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
        let asked = || {
            let patterns = vec!["case.sh".to_string()];
            let cases = Some(Selection::Suite { suite: suite.clone(), patterns });
            named(None, Question::Case("case.sh".to_string()), |request| request.cases = cases)
        };
        write("#!/bin/sh\nexit 0\n");
        let before = asked();
        assert_eq!(asked(), before);
        write("#!/bin/sh\nexit 1\n");
        assert_ne!(asked(), before);
    }
}

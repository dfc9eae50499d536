//! From a request to what is known in the end.

use kernel::Kernel;
use lab::request::words::call;
use lab::request::{BuildOptions, Version};
use ledger::{Hold, Progress};

use crate::Error;
use crate::analysis::Analysers;
use crate::building::Building;
use crate::costs::costs;
use crate::culprits::Culprits;
use crate::differences::between;
use crate::document::{AlsoBuilt, Commit, SeriesCheck, Tests, Verdict};
use crate::environment::{Emit, Environment};
use crate::patches::{self, Patches};
use crate::request::CheckRequest;
use crate::selftests::{installed, suggestion};
use crate::testing::{Tested, test};
use crate::verdict::verdict;

/// Builds the patches one after the other, compares the kernels before the first and after the last, and searches for the
/// patches that made something worse.
///
/// # Errors
///
/// When the patches cannot be had or do not apply, when the host cannot build or run a kernel, and when the user wants to stop.
/// A patch that does not compile, or whose kernel fails, is no error: the result says it.
pub fn check(
    request: &CheckRequest,
    environment: &Environment<'_>,
    emit: Emit<'_>,
) -> Result<SeriesCheck, Error> {
    request.check()?;
    let Patches { base, commits, notes } = patches::find(request, environment, emit)?;
    let mut commits: Vec<_> = [base].into_iter().chain(commits).collect();
    let mut also = Vec::new();
    for configurations in &request.also {
        also.push(built_with(configurations, &commits, (request, environment), emit)?);
    }
    let kernels = Building { request, environment }.all(&mut commits, emit)?;
    let base = commits.remove(0);
    let without_base = also.iter().filter(|also: &&AlsoBuilt| also.base.build.locator().is_none());
    let unchecked = without_base.map(|also| {
        format!("patches with {}: the commit before them does not build", also.configurations.join(","))
    });
    let unchecked = unchecked.collect();
    let mut found = SeriesCheck {
        version: Version,
        tree: request.patches.tree().display().to_string(),
        base,
        patches: commits,
        also,
        analysis: None,
        tests: None,
        costs: Vec::new(),
        operations: 0,
        slight: 0,
        verdict: Verdict::Undecided,
        unchecked,
        notes,
        reproduce: Vec::new(),
    };
    if let (Some(Some(before)), Some(Some(after))) = (kernels.first(), kernels.last()) {
        let compared = Compared { request, environment, sides: [before, after] };
        let analysis = Analysers { request, environment }.compare(&found, emit);
        let analysis = environment.unless_interrupted(analysis).map(|analysis| found.analysis = analysis);
        found.unless("static analysis", analysis)?;
        let cases = environment.unless_interrupted(compared.cases(&mut found, emit));
        found.unless("cases", cases)?;
        let operations = environment.unless_interrupted(compared.operations(&mut found, emit));
        found.unless("operations", operations)?;
    } else if request.wants_kernels() {
        let why = "nothing was run: the kernels before the first patch and after the last do not both build";
        found.unchecked.push(why.to_owned());
    }
    let suggested = suggestion(request, &found, environment, emit);
    // Without it nothing is missing that was asked for.
    found.notes.extend(environment.unless_interrupted(suggested).or_else(unless_interrupt)?);
    found.verdict = verdict(&found);
    Ok(found)
}

fn unless_interrupt(error: Error) -> Result<Option<String>, Error> {
    if error.is_interrupt() { Err(error) } else { Ok(None) }
}

/// Builds the commits with other configurations.
fn built_with(
    configurations: &[String],
    commits: &[Commit],
    (request, environment): (&CheckRequest, &Environment<'_>),
    emit: Emit<'_>,
) -> Result<AlsoBuilt, Error> {
    emit(Progress::Known(format!("with {}:", configurations.join(","))));
    let build = BuildOptions { configurations: configurations.to_vec(), ..request.build.clone() };
    let request = CheckRequest { build, ..request.clone() };
    let mut patches = commits.to_vec();
    Building { request: &request, environment }.all(&mut patches, emit)?;
    let base = patches.remove(0);
    Ok(AlsoBuilt { configurations: configurations.to_vec(), base, patches })
}

impl SeriesCheck {
    /// What came of a stage; if it could not be carried out, what is known of the others stays.
    fn unless(&mut self, stage: &str, done: Result<(), Error>) -> Result<(), Error> {
        match done {
            Err(error) if error.is_interrupt() => Err(error),
            Err(error) => {
                self.unchecked.push(format!("{stage}: {error}"));
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }
}

/// The kernels before the first patch and after the last.
struct Compared<'a> {
    request: &'a CheckRequest,
    environment: &'a Environment<'a>,
    sides: [&'a Kernel; 2],
}

impl Compared<'_> {
    /// What cases do on both.
    fn cases(&self, found: &mut SeriesCheck, emit: Emit<'_>) -> Result<(), Error> {
        let Some(cases) = &self.request.cases else { return Ok(()) };
        let Some(last) = found.patches.last() else { return Ok(()) };
        let cases = &installed(self.request, cases, last, self.environment, emit)?;
        let hold = Hold::new(&self.environment.sessions)?;
        let place = (self.environment, &hold);
        let [before, after] = self.sides;
        let before = test(self.request, cases, before, place, emit)?;
        let after = self.environment.unless_interrupted(test(self.request, cases, after, place, emit))?;
        let mut differences = between(&before.runs, &after.runs);
        let count = differences.changes.len();
        emit(Progress::Known(format!(
            "{} cases ran on both kernels, {count} ended in another way",
            differences.cases
        )));
        // A bisection keeps the sessions that it counts itself.
        drop(hold);
        Culprits { request: self.request, environment: self.environment }.of_cases(
            &mut differences.changes,
            cases,
            emit,
        )?;
        differences.changes.sort_by_key(|change| change.change);
        found.reproduce.extend([&before, &after].map(|tested| call(&tested.command)));
        let Tested { suite, machine, .. } = before;
        found.tests = Some(Tests {
            suite,
            machine,
            sessions: [before.session, after.session],
            cases: differences.cases,
            failed_before: differences.failed_before,
            changes: differences.changes,
        });
        Ok(())
    }

    /// What operations cost on both.
    fn operations(&self, found: &mut SeriesCheck, emit: Emit<'_>) -> Result<(), Error> {
        if self.request.operations.is_empty() {
            return Ok(());
        }
        let mut costs = costs(self.request, self.sides, self.environment, emit)?;
        let count = costs.changes.len();
        emit(Progress::Known(format!(
            "{} operations were compared, {count} cost more or less",
            costs.operations
        )));
        // Of one patch there is nothing to search for: counts are the same each time.
        if found.patches.len() > 1 {
            Culprits { request: self.request, environment: self.environment }
                .of_costs(&mut costs.changes, emit)?;
        }
        (found.operations, found.slight) = (costs.operations, costs.slight);
        found.costs = costs.changes;
        found.notes.extend(costs.notes);
        Ok(())
    }
}

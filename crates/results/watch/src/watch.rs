//! From what arrives to what changed.

use std::path::Path;
use std::sync::atomic::Ordering;

use kernel::files::hash;
use kernel::{Locator, News};
use lab::Waiting;
use lab::backend::with_store;
use lab::request::Selection;
use ledger::{Place, Progress};
use matrix::{Filled, MatrixRequest};

use crate::arrival::Arrival;
use crate::difference::{Difference, difference};
use crate::error::Error;
use crate::seen::Seen;
use crate::source::Source;

/// Changed when the same request gets another name.
const FORMAT: u32 = 1;

/// How often a kernel is tested in vain before it is told what is known: a host or kiln may break the same Run each time.
const TRIES: usize = 3;

/// What is watched, and what is tested on each kernel that comes.
#[derive(Debug, Clone, PartialEq)]
pub struct WatchRequest {
    /// Where kernels come from.
    pub sources: Vec<Source>,
    /// What is tested on each of them; their own kernels do not count.
    pub tests: Vec<MatrixRequest>,
}

impl WatchRequest {
    /// What tells it from others, wherever kiln is called; the sessions are below this folder.
    #[must_use]
    pub fn identity(&self, sessions: &Path) -> String {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let cases = |cases: &Selection| match cases {
            Selection::Suite { suite, patterns } if suite.contains('/') => {
                (absolute(Path::new(suite)).display().to_string(), patterns.clone())
            }
            Selection::Suite { suite, patterns } | Selection::Selftests { place: suite, patterns } => {
                (suite.clone(), patterns.clone())
            }
            Selection::Program(program) => (absolute(&program.path).display().to_string(), Vec::new()),
        };
        let tests = self.tests.iter().map(|tests| {
            let cases: Vec<_> = tests.cases.iter().map(cases).collect();
            serde_json::json!([tests.build, tests.parameters, cases, tests.machine])
        });
        let sources: Vec<String> = self.sources.iter().map(Source::identity).collect();
        let all = serde_json::json!([FORMAT, absolute(sessions), sources, tests.collect::<Vec<_>>()]);
        hash(all.to_string().as_bytes())
    }
}

/// Somebody who watches.
#[derive(Debug)]
pub struct Watch<'a> {
    request: &'a WatchRequest,
    place: Place<'a>,
    seen: Seen,
    /// What kept a kernel from being tested or told the last time: it is said once.
    troubles: Vec<String>,
    /// Kernels that were tested, and of which not all is known.
    incomplete: Vec<Arrival>,
}

/// A kernel that was tested.
#[derive(Debug, Clone, Copy)]
pub struct Tested<'t> {
    /// The kernel.
    pub arrival: &'t Arrival,
    /// What it does that the one before it did not.
    pub differences: &'t [Difference],
    /// It was there when somebody first looked: it is no news.
    pub was_there: bool,
}

/// Tells what a kernel came to, or says why that cannot be told now.
pub type Tell<'t> = &'t mut dyn FnMut(Tested<'_>) -> Result<(), String>;

impl<'a> Watch<'a> {
    /// Begins to watch; `folder` keeps which kernels were seen.
    ///
    /// # Errors
    ///
    /// When the folder cannot be read or written, or another kiln watches with it.
    pub fn new(request: &'a WatchRequest, place: Place<'a>, folder: &Path) -> Result<Self, Error> {
        let seen = Seen::open(folder)?;
        Ok(Self { request, place, seen, troubles: Vec::new(), incomplete: Vec::new() })
    }

    /// Looks once, and tests what is new, the oldest first. Gives how many kernels were not told, or sources could not be looked at: the
    /// next look tries them again. A kernel counts as seen once it is told: a kiln that is killed in between
    /// tells it again, and tests nothing twice.
    ///
    /// # Errors
    ///
    /// When nothing can be kept, and when the user wants to stop.
    pub fn look(&mut self, emit: &mut dyn FnMut(Progress), tell: Tell<'_>) -> Result<usize, Error> {
        let (new, mut troubles) = self.new_kernels(emit)?;
        for arrival in new {
            self.unless_interrupted()?;
            let done = self.test(&arrival, emit);
            self.unless_interrupted()?;
            let told = match done {
                Err(error) if error.is_interrupt() || error.concerns_all() => return Err(error),
                Err(error) => Err(error.to_string()),
                Ok(None) => Err("not everything could be run".to_owned()),
                Ok(Some(differences)) => {
                    let was_there = self.seen.was_there(&arrival);
                    tell(Tested { arrival: &arrival, differences: &differences, was_there })
                }
            };
            match told {
                Ok(()) => self.seen.add(arrival)?,
                Err(why) => {
                    self.unless_interrupted()?;
                    troubles.push(format!("{}: {why}", arrival.kernel));
                }
            }
        }
        let new_troubles = troubles.iter().filter(|trouble| !self.troubles.contains(trouble));
        new_troubles.for_each(|trouble| emit(Progress::Note(format!("{trouble}; kiln tries again"))));
        self.troubles = troubles;
        Ok(self.troubles.len())
    }

    fn unless_interrupted(&self) -> Result<(), Error> {
        let is_interrupted = self.place.interrupt.load(Ordering::Relaxed);
        if is_interrupted { Err(matrix::Error::Interrupted.into()) } else { Ok(()) }
    }

    /// The kernels that were not seen yet, each once, and why a source cannot be looked at.
    fn new_kernels(&mut self, emit: &mut dyn FnMut(Progress)) -> Result<(Vec<Arrival>, Vec<String>), Error> {
        let (mut all, mut failed): (Vec<Arrival>, Vec<String>) = (Vec::new(), Vec::new());
        // Looking is no news.
        let mut progress = |news: News<'_>| match news {
            News::Step(_) => {}
            news => emit(news.into()),
        };
        let mut waiting = Waiting { interrupt: self.place.interrupt, progress: &mut progress };
        for source in &self.request.sources {
            let kernels = match with_store(&mut waiting, |context| source.kernels(context)) {
                Ok(kernels) => kernels,
                Err(error) => {
                    failed.push(format!("{}: {error}", source.text()));
                    continue;
                }
            };
            // Where apt's lists are empty, nobody has seen them yet.
            if !kernels.is_empty() {
                self.seen.first_look(&source.identity(), &kernels)?;
            }
            let others = kernels.into_iter().filter(|kernel| !all.iter().any(|known| known.is(kernel)));
            let others: Vec<Arrival> = others.collect();
            all.extend(others);
        }
        self.unless_interrupted()?;
        all.retain(|arrival| !self.seen.has(arrival));
        Ok((all, failed))
    }

    /// Tests a kernel, unless the ledger has all of it, and holds it against the one before; nothing if not everything could be run.
    fn test(
        &mut self,
        arrival: &Arrival,
        emit: &mut dyn FnMut(Progress),
    ) -> Result<Option<Vec<Difference>>, Error> {
        let now: Locator = arrival.kernel.parse()?;
        let mut progress = |news: News<'_>| emit(news.into());
        let mut waiting = Waiting { interrupt: self.place.interrupt, progress: &mut progress };
        with_store(&mut waiting, |context| kernel::update(&now, context))?;
        let before = self.seen.before(arrival).map(|before| before.kernel.clone());
        let then = before.as_ref().and_then(|before| before.parse::<Locator>().ok());
        let (mut differences, mut failed, mut incomplete) = (Vec::new(), 0, 0);
        for tests in &self.request.tests {
            let request = MatrixRequest { kernels: vec![now.clone()], ..tests.clone() };
            let filled = matrix::fill(std::slice::from_ref(&request), self.place, emit)?;
            failed += filled.failed;
            incomplete += filled.incomplete;
            let grids = match &then {
                Some(then) => self.beside(then, request, emit)?.unwrap_or(filled.grids),
                None => filled.grids,
            };
            differences
                .extend(grids.iter().flat_map(|grid| difference(grid, before.as_deref(), &arrival.kernel)));
        }
        if failed > 0 || incomplete > 0 && self.is_worth_another_try(arrival) {
            return Ok(None);
        }
        Ok(Some(differences))
    }

    /// The same tests on the kernel before, with what is known of both; nothing where that kernel cannot be had any more. If the tests
    /// are others than those that it had, it has them now: what differs is then the kernel's.
    fn beside(
        &self,
        then: &Locator,
        request: MatrixRequest,
        emit: &mut dyn FnMut(Progress),
    ) -> Result<Option<Vec<matrix::Grid>>, Error> {
        let kernels = [std::slice::from_ref(then), &request.kernels].concat();
        match matrix::fill(&[MatrixRequest { kernels, ..request }], self.place, emit) {
            Ok(Filled { grids, failed: 0, .. }) => Ok(Some(grids)),
            Ok(_) => Ok(None),
            Err(error) if error.is_interrupt() => Err(error.into()),
            Err(error) => {
                emit(Progress::Note(format!("there is nothing to compare with: {then}: {error}")));
                Ok(None)
            }
        }
    }

    fn is_worth_another_try(&mut self, arrival: &Arrival) -> bool {
        self.incomplete.push(arrival.clone());
        self.incomplete.iter().filter(|tried| tried.is(arrival)).count() < TRIES
    }
}

#[cfg(test)]
mod tests {
    use lab::request::{BuildOptions, MachineRequest};

    use super::*;

    fn request(source: &str, suite: &str, jobs: Option<u16>) -> WatchRequest {
        let cases = vec![Selection::Suite { suite: suite.to_owned(), patterns: Vec::new() }];
        let tests = MatrixRequest {
            setting: String::new(),
            kernels: Vec::new(),
            build: BuildOptions::default(),
            parameters: vec![String::new()],
            cases,
            machine: MachineRequest::default(),
            jobs,
        };
        WatchRequest { sources: vec![Source::new(source, &[]).expect("a source")], tests: vec![tests] }
    }

    #[test]
    fn the_same_request_is_known_again_and_another_is_not() {
        let identity = |source: &str, suite: &str, jobs, root: &str| {
            request(source, suite, jobs).identity(Path::new(root))
        };
        let one = identity("deb:6.1.*", "smoke", None, "/runs");
        assert_eq!(identity("deb:6.1.*", "smoke", Some(2), "/runs"), one, "how many at a time is no matter");
        for other in [
            identity("deb:6.12.*", "smoke", None, "/runs"),
            identity("deb:6.1.*", "full", None, "/runs"),
            identity("deb:6.1.*", "smoke", None, "/others"),
        ] {
            assert_ne!(other, one);
        }
        let here = std::env::current_dir().expect("there is one");
        let absolute = here.join("suite").display().to_string();
        assert_eq!(identity("deb:*", "./suite", None, "/r"), identity("deb:*", &absolute, None, "/r"));
    }
}

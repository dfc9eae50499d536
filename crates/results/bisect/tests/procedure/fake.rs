//! A world of which the truth is known: an axis, whoever answers at its points, and what was asked.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use bisect::{
    Answer, Axis, Bisection, Candidate, Conclusion, Error, Evidence, Kept, Kind, Parts, Point, Progress,
    Question, Settings, Subject, Test, Tested, Tester, bisect,
};
use kbuild::Recipe;
use kernel::Locator;
use ledger::Journal;
use tempfile::TempDir;
use verdict::bisection::Order;

/// Calls of the tester after which a bisection is taken to go on for ever.
pub(crate) const CALLS_MAX: usize = 20_000;

/// What a run at a point comes to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Seen {
    /// It shows with this chance in each run.
    Rate(f64),
    /// It shows in all runs of a boot or in none: in boots with this chance.
    AtBoot(f64),
    /// It shows in runs with the second chance, in boots with the first.
    Mixed(f64, f64),
    /// The value of a metric.
    Value(f64),
    /// The value of a metric, give or take so much.
    About(f64, f64),
    /// It does not build.
    Broken,
    /// It fails in another way.
    Other,
    /// It does not show in thousands of runs.
    Thousands,
    /// Nothing at all.
    Nothing,
}

pub(crate) const NEVER: Seen = Seen::Rate(0.0);
pub(crate) const ALWAYS: Seen = Seen::Rate(1.0);

/// Whether it shows, each time or never.
pub(crate) fn shows(does: bool) -> Seen {
    if does { ALWAYS } else { NEVER }
}

#[derive(Debug, Clone)]
pub(crate) struct FakeAxis {
    pub(crate) kind: Kind,
    pub(crate) order: Order,
    pub(crate) is_separable: bool,
    pub(crate) is_built: bool,
    /// Points that it does not have.
    pub(crate) absent: Vec<Point>,
    pub(crate) candidates: Vec<Candidate>,
}

impl FakeAxis {
    fn new(kind: Kind, order: Order, is_separable: bool) -> Self {
        let count = match &order {
            Order::Line(count) => *count,
            Order::Graph(parents) => parents.len(),
        };
        let named = |number| Candidate { name: format!("c{number}"), ..Candidate::default() };
        Self {
            kind,
            order,
            is_separable,
            is_built: false,
            absent: Vec::new(),
            candidates: (0..count).map(named).collect(),
        }
    }

    pub(crate) fn line(count: usize) -> Self {
        Self::new(Kind::Commits, Order::Line(count), false)
    }

    pub(crate) fn graph(parents: &[&[usize]]) -> Self {
        let parents = parents.iter().map(|parents| parents.to_vec()).collect();
        Self::new(Kind::Commits, Order::Graph(parents), false)
    }

    pub(crate) fn options(count: usize) -> Self {
        Self::new(Kind::Options, Order::Line(count), true)
    }

    pub(crate) fn built(self) -> Self {
        Self { is_built: true, ..self }
    }

    pub(crate) fn without(mut self, absent: Point) -> Self {
        self.absent.push(absent);
        self
    }

    /// Whether a point has a candidate in it.
    pub(crate) fn has(&self, point: &Point, candidate: usize) -> bool {
        match point {
            Point::First => false,
            Point::Last => true,
            Point::Without(number) => *number != candidate,
            Point::With(numbers) => numbers.contains(&candidate),
            Point::After(number) => match &self.order {
                Order::Line(_) => candidate <= *number,
                Order::Graph(parents) => {
                    *number == candidate
                        || parents[*number].iter().any(|parent| self.has(&Point::After(*parent), candidate))
                }
            },
        }
    }
}

impl Axis for FakeAxis {
    fn kind(&self) -> Kind {
        self.kind
    }

    fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    fn order(&self) -> Order {
        self.order.clone()
    }

    fn is_separable(&self) -> bool {
        self.is_separable
    }

    fn subject(&mut self, point: &Point) -> Result<Option<Subject>, Error> {
        let is_one_of_these = match point {
            Point::First | Point::Last => true,
            Point::After(number) => !self.is_separable && *number < self.candidates.len(),
            Point::Without(_) => !self.is_separable,
            Point::With(numbers) => {
                assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
                assert!(!numbers.is_empty() && numbers.len() < self.candidates.len(), "{numbers:?}");
                self.is_separable
            }
        };
        if !is_one_of_these || self.absent.contains(point) {
            return Ok(None);
        }
        let recipe = Recipe {
            configurations: Vec::new(),
            arch: kernel::Arch::X86_64,
            allow_unmet: false,
            variables: Vec::new(),
        };
        Ok(Some(Subject {
            name: format!("{point:?}"),
            locator: Locator::Host,
            recipe,
            configuration: None,
            parameters: String::new(),
        }))
    }

    fn is_built(&self) -> bool {
        self.is_built
    }

    fn usual_effort(&self) -> Duration {
        Duration::from_secs(60)
    }

    fn identity(&self) -> String {
        "fake".to_string()
    }
}

type Truth = Box<dyn Fn(&FakeAxis, &Point) -> Seen>;

/// Answers as the truth is. The same run of the same point comes to the same, in whatever order they are made.
pub(crate) struct World {
    pub(crate) axis: FakeAxis,
    pub(crate) question: Question,
    pub(crate) settings: Settings,
    truth: Truth,
    seed: u64,
    pub(crate) jobs: usize,
    keeps_machines: bool,
    /// So many more calls are answered.
    pub(crate) calls_left: usize,
    /// What it says then.
    pub(crate) stop: fn() -> Error,
    /// The chance of each run to fail where it should not.
    pub(crate) alarms: f64,
    /// Milliseconds to get a Kernel, to boot it, and to run the case.
    pub(crate) costs: [u64; 3],
    /// Runs that were made, by point and boot.
    pub(crate) made: BTreeMap<(Point, u32), u32>,
    /// All calls: where, and how many runs.
    pub(crate) calls: Vec<Vec<(Point, u32)>>,
    pub(crate) looked_for: u32,
    pub(crate) events: Vec<Progress>,
    folder: TempDir,
}

impl World {
    pub(crate) fn new(axis: FakeAxis, truth: impl Fn(&FakeAxis, &Point) -> Seen + 'static) -> Self {
        Self {
            axis,
            question: Question::Case("fs/a".to_string()),
            settings: Settings { confidence: 0.99, fixed: false, tries: 100 },
            truth: Box::new(truth),
            seed: 1,
            jobs: 1,
            keeps_machines: true,
            calls_left: CALLS_MAX,
            stop: || Error::Interrupted,
            alarms: 0.0,
            costs: [60_000, 3_000, 1_000],
            made: BTreeMap::new(),
            calls: Vec::new(),
            looked_for: 0,
            events: Vec::new(),
            // In memory, where it can be: what is kept is forced to the disk after each test.
            folder: tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap(),
        }
    }

    /// One candidate makes it show each time.
    pub(crate) fn with_culprit(axis: FakeAxis, culprit: usize) -> Self {
        Self::with_rate(axis, culprit, 1.0)
    }

    /// One candidate makes it show now and then.
    pub(crate) fn with_rate(axis: FakeAxis, culprit: usize, rate: f64) -> Self {
        Self::new(axis, move |axis, point| if axis.has(point, culprit) { Seen::Rate(rate) } else { NEVER })
    }

    pub(crate) fn fixed(mut self) -> Self {
        self.settings.fixed = true;
        self
    }

    pub(crate) fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    pub(crate) fn jobs(mut self, jobs: usize) -> Self {
        self.jobs = jobs;
        self
    }

    /// More runs of a boot are another boot, as in jobs of a cluster.
    pub(crate) fn forgets_machines(mut self) -> Self {
        self.keeps_machines = false;
        self
    }

    pub(crate) fn asks(mut self, question: Question) -> Self {
        self.question = question;
        self
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The bisection, which goes on from what the journal has.
    pub(crate) fn bisect(&mut self) -> Result<Bisection, Error> {
        let (mut journal, kept) = Journal::open::<Kept>(self.folder.path())?;
        let mut axis = self.axis.clone();
        let (question, settings) = (self.question.clone(), self.settings.clone());
        let mut events = Vec::new();
        let parts =
            Parts { tester: self, journal: &mut journal, kept, emit: &mut |progress| events.push(progress) };
        let result = bisect(&mut axis, &question, &settings, parts);
        self.events = events;
        result
    }

    /// The culprits, where all went well: nothing that was tried says otherwise.
    pub(crate) fn culprits(&mut self) -> Vec<usize> {
        let bisection = self.bisect().unwrap();
        for check in &bisection.proof {
            assert!(check.holds || check.untried.is_some(), "{check:?}");
        }
        culprits(&bisection)
    }

    /// Points that were asked for, in order, each as often as it was.
    pub(crate) fn asked(&self) -> Vec<Point> {
        self.calls.iter().flatten().map(|(point, _)| point.clone()).collect()
    }

    /// Runs that were made at a point.
    pub(crate) fn runs(&self, point: &Point) -> u32 {
        self.made.iter().filter(|((at, _), _)| at == point).map(|(_, runs)| runs).sum()
    }

    fn chance(&self, of: impl std::hash::Hash) -> f64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        (self.seed, of).hash(&mut hasher);
        (hasher.finish() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// The boots of the runs of a test, each run with the number that it has in its boot.
    fn runs_of(&mut self, Test { point, boot, times, .. }: &Test) -> Vec<(u32, u32)> {
        let count = self.made.entry((point.clone(), *boot)).or_default();
        let made = *count;
        *count += times;
        match self.question.nests_runs() {
            true => (made..made + times).map(|run| (*boot, run)).collect(),
            false => (*boot..boot + times).map(|boot| (boot, 0)).collect(),
        }
    }

    fn one(&mut self, test: &Test) -> Tested {
        let Test { point, times, .. } = test;
        let made = self.runs(point);
        let runs = self.runs_of(test);
        let chances: Vec<f64> = runs.iter().map(|(boot, run)| self.chance((point, boot, run))).collect();
        let of_boots: Vec<f64> = runs.iter().map(|(boot, _)| self.chance((point, boot, "boot"))).collect();
        let alarms: Vec<f64> =
            runs.iter().map(|(boot, run)| self.chance((point, boot, run, "alarm"))).collect();
        let number = |count: usize| u32::try_from(count).unwrap();
        let answer = |shows: &dyn Fn(usize) -> bool| {
            let is_bad = |at: &usize| shows(*at) || alarms[*at] < self.alarms;
            let bad = number((0..runs.len()).filter(is_bad).count());
            Answer::Runs { bad, good: times - bad }
        };
        let none = Answer::Runs { bad: 0, good: 0 };
        let mut others = Vec::new();
        let answer = match (self.truth)(&self.axis, point) {
            Seen::Rate(rate) => answer(&|at| chances[at] < rate),
            Seen::AtBoot(rate) => answer(&|at| of_boots[at] < rate),
            Seen::Mixed(boots, rate) => answer(&|at| of_boots[at] < boots && chances[at] < rate),
            Seen::Value(value) => Answer::Values(vec![value; chances.len()]),
            Seen::About(value, by) => {
                Answer::Values(chances.iter().map(|chance| value + (chance * 2.0 - 1.0) * by).collect())
            }
            Seen::Broken => Answer::CannotTest("it does not build".to_string()),
            Seen::Other => {
                others = vec!["BUG: another one".to_string(); chances.len()];
                none
            }
            Seen::Thousands => Answer::Runs { bad: 0, good: 3000 },
            Seen::Nothing => none,
        };
        let evidence = Evidence { sessions: vec![format!("{point:?}/{made}")], ..Evidence::default() };
        let [preparation, boot, each] = self.costs.map(Duration::from_millis);
        Tested { answer, others, reused: 0, evidence, preparation, boot, each, unknown: Vec::new() }
    }
}

impl Tester for World {
    fn test(&mut self, tests: &[Test], _emit: &mut dyn FnMut(Progress)) -> Result<Vec<Tested>, Error> {
        if self.calls_left == 0 {
            return Err((self.stop)());
        }
        self.calls_left -= 1;
        self.calls.push(tests.iter().map(|test| (test.point.clone(), test.times)).collect());
        Ok(tests.iter().map(|test| self.one(test)).collect())
    }

    fn look_for(&mut self, _evidence: &Evidence) {
        self.looked_for += 1;
    }

    fn jobs(&self) -> usize {
        self.jobs
    }

    fn keeps_machines(&self) -> bool {
        self.keeps_machines
    }
}

pub(crate) fn culprits(bisection: &Bisection) -> Vec<usize> {
    match &bisection.conclusion {
        Conclusion::Culprits { numbers, candidates, confidence } => {
            // Each member of a set has been searched for.
            assert!(*confidence >= 0.99_f64.powf(numbers.len() as f64), "{confidence}");
            let names: Vec<String> = numbers.iter().map(|number| format!("c{number}")).collect();
            assert!(candidates.iter().map(|candidate| &candidate.name).eq(&names));
            numbers.clone()
        }
        other => panic!("{other:?}"),
    }
}

pub(crate) fn suspects(bisection: &Bisection) -> Vec<usize> {
    match &bisection.conclusion {
        Conclusion::Suspects { numbers, .. } => numbers.clone(),
        other => panic!("{other:?}"),
    }
}

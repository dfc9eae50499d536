//! The tests of a session and their names.

use std::collections::{HashMap, HashSet, VecDeque};

use super::result::{Slot, name};
use crate::words::split;

/// What is going to be printed.
#[derive(Debug)]
pub(super) struct Plan {
    /// The first level, in the order of the session.
    pub(super) tests: Vec<Test>,
    /// Test and slot of each case; a case that is planned more than once has several.
    places: HashMap<String, VecDeque<(usize, usize)>>,
}

/// A test of the first level: an area, or one program.
#[derive(Debug, Default)]
pub(super) struct Test {
    pub(super) name: String,
    pub(super) is_area: bool,
    /// One per case; none when the test has been printed.
    pub(super) slots: Vec<Slot>,
    /// Names of the cases.
    pub(super) names: Vec<String>,
    given: Names,
}

impl Plan {
    pub(super) fn new(cases: &[String]) -> Self {
        let mut plan = Self { tests: Vec::new(), places: HashMap::new() };
        let mut areas = HashMap::new();
        let mut given = Names::default();
        for case in cases {
            let (area, rest) = split(case);
            let known = area.and_then(|area| areas.get(area).copied());
            let test = known.unwrap_or_else(|| plan.add(given.unique(area.unwrap_or(rest)), area.is_some()));
            if let Some(area) = area {
                areas.insert(area, test);
            }
            let slot = plan.tests[test].add(rest);
            plan.places.entry(case.clone()).or_default().push_back((test, slot));
        }
        plan
    }

    fn add(&mut self, name: String, is_area: bool) -> usize {
        self.tests.push(Test { name, is_area, ..Test::default() });
        self.tests.len() - 1
    }

    /// Where the next result of `case` belongs, if it was planned.
    pub(super) fn place(&mut self, case: &str) -> Option<(usize, usize)> {
        self.places.get_mut(case)?.pop_front()
    }
}

impl Test {
    fn add(&mut self, case: &str) -> usize {
        // A program is its own only case.
        let name = if self.is_area { self.given.unique(case) } else { self.name.clone() };
        self.names.push(name);
        self.slots.push(Slot::Waiting);
        self.slots.len() - 1
    }

    pub(super) fn is_complete(&self) -> bool {
        self.slots.iter().all(|slot| !matches!(slot, Slot::Waiting))
    }

    /// Takes it out to be printed.
    pub(super) fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    /// Result and directive of an area: it fails with its cases, and cannot be well without all of them.
    pub(super) fn verdict(&self) -> (bool, String) {
        let done = || {
            self.slots.iter().filter_map(|slot| match slot {
                Slot::Done(done) => Some(done),
                Slot::Waiting | Slot::Silent(_) => None,
            })
        };
        let missing = self.slots.len() - done().count();
        match () {
            () if done().any(|done| !done.ok) => (false, String::new()),
            () if missing > 0 => {
                (false, format!("ERROR {missing} of {} cases have no result", self.slots.len()))
            }
            () if done().all(|done| done.skip) => (true, "SKIP all cases were skipped".to_string()),
            () => (true, String::new()),
        }
    }
}

/// Names that were given at one level.
#[derive(Debug, Default)]
struct Names(HashSet<String>);

impl Names {
    /// `text` as a name that no other test of this level has.
    fn unique(&mut self, text: &str) -> String {
        let name = name(text);
        let copies = (2_u32..).map(|copy| format!("{name}.{copy}"));
        let free = std::iter::once(name.clone()).chain(copies).find(|name| !self.0.contains(name));
        let free = free.unwrap_or(name);
        self.0.insert(free.clone());
        free
    }
}

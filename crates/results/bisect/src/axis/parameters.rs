//! Kernel parameters.

use std::time::Duration;

use kbuild::Recipe;
use kernel::Locator;

use super::{Axis, Subject};
use crate::candidate::{Candidate, Kind};
use crate::error::Error;
use crate::point::Point;

/// A boot.
const EFFORT: Duration = Duration::from_secs(3);

/// A parameter that differs: what it is at one end and at the other.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Change {
    good: Option<String>,
    bad: Option<String>,
}

/// The difference of two command lines, on one Kernel.
#[derive(Debug)]
pub struct Parameters {
    locator: Locator,
    recipe: Recipe,
    good: Vec<String>,
    changes: Vec<Change>,
    candidates: Vec<Candidate>,
}

impl Parameters {
    /// What differs between the parameters at the first and those at the last end.
    ///
    /// # Errors
    ///
    /// When nothing does.
    pub fn between(locator: &Locator, recipe: &Recipe, good: &str, bad: &str) -> Result<Self, Error> {
        let (good, bad) = (words(good), words(bad));
        let changes = changes(&good, &bad);
        if changes.is_empty() {
            let text = "both ends have the same kernel parameters: there is nothing between them";
            return Err(Error::Usage(text.to_string()));
        }
        let candidates = changes.iter().map(Change::candidate).collect();
        Ok(Self { locator: locator.clone(), recipe: recipe.clone(), good, changes, candidates })
    }

    /// The parameters with these of the changes.
    fn with(&self, included: &[usize]) -> String {
        let mut words: Vec<String> = self.good.clone();
        for number in included {
            let Change { good, bad } = &self.changes[*number];
            let place = good.as_ref().and_then(|good| words.iter().position(|word| word == good));
            match (place, bad) {
                (Some(place), Some(bad)) => words[place].clone_from(bad),
                (Some(place), None) => drop(words.remove(place)),
                (None, Some(bad)) => words.push(bad.clone()),
                (None, None) => {}
            }
        }
        words.join(" ")
    }
}

impl Change {
    fn candidate(&self) -> Candidate {
        let name = match (&self.good, &self.bad) {
            (Some(good), Some(bad)) => format!("{bad} instead of {good}"),
            (Some(good), None) => format!("no {good}"),
            (None, bad) => bad.clone().unwrap_or_default(),
        };
        let removes = self.good.clone().filter(|_| self.bad.is_none());
        Candidate { name, removes, ..Candidate::default() }
    }
}

impl Axis for Parameters {
    fn kind(&self) -> Kind {
        Kind::Parameters
    }

    fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    fn is_separable(&self) -> bool {
        true
    }

    fn subject(&mut self, point: &Point) -> Result<Option<Subject>, Error> {
        let Some(included) = point.included(self.candidates.len()) else { return Ok(None) };
        let parameters = self.with(&included);
        let name = match parameters.as_str() {
            "" => format!("{} without parameters", self.locator),
            parameters => format!("{} with {parameters}", self.locator),
        };
        let (locator, recipe) = (self.locator.clone(), self.recipe.clone());
        Ok(Some(Subject { name, locator, recipe, configuration: None, parameters }))
    }

    fn usual_effort(&self) -> Duration {
        EFFORT
    }

    fn identity(&self) -> String {
        format!("{}\n{:?}\n{:?}\n{:?}", self.locator, self.recipe, self.good, self.changes)
    }
}

/// The words of a command line: a value may stand in double quotes and then hold spaces, as the kernel reads it
/// (`next_arg` of lib/cmdline.c).
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for c in text.chars() {
        is_quoted ^= c == '"';
        match words.last_mut() {
            Some(word) if is_quoted || !c.is_whitespace() => word.push(c),
            _ => words.push(String::new()),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// What differs, in the order of the words; a parameter that has another value is one change.
fn changes(good: &[String], bad: &[String]) -> Vec<Change> {
    let mut gone = without(good, bad);
    let added = without(bad, good);
    let mut changes: Vec<Change> = Vec::new();
    for bad in added {
        let is_alone = |all: &[String]| all.iter().filter(|word| key(word) == key(&bad)).count() == 1;
        let place = gone.iter().position(|good| key(good) == key(&bad)).filter(|_| is_alone(good));
        let good = place.map(|place| gone.remove(place));
        changes.push(Change { good, bad: Some(bad) });
    }
    changes.extend(gone.into_iter().map(|good| Change { good: Some(good), bad: None }));
    changes
}

/// The words of `all` that are not among `others`, each as often as it is missing there.
fn without(all: &[String], others: &[String]) -> Vec<String> {
    let mut others = others.to_vec();
    let mut missing = Vec::new();
    for word in all {
        match others.iter().position(|other| other == word) {
            Some(place) => drop(others.remove(place)),
            None => missing.push(word.clone()),
        }
    }
    missing
}

/// The name of a parameter.
fn key(word: &str) -> &str {
    word.split('=').next().unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(good: &str, bad: &str) -> Parameters {
        let recipe = Recipe {
            configurations: Vec::new(),
            arch: kernel::Arch::X86_64,
            allow_unmet: false,
            variables: Vec::new(),
        };
        Parameters::between(&"host".parse().unwrap(), &recipe, good, bad).unwrap()
    }

    fn names(axis: &Parameters) -> Vec<&str> {
        axis.candidates.iter().map(|candidate| candidate.name.as_str()).collect()
    }

    #[test]
    fn what_is_added_removed_or_has_another_value_is_a_candidate() {
        let axis = axis("quiet preempt=none a b", "preempt=full b nohz=off threadirqs");
        assert_eq!(
            names(&axis),
            ["preempt=full instead of preempt=none", "nohz=off", "threadirqs", "no quiet", "no a"]
        );
        assert_eq!(axis.with(&[]), "quiet preempt=none a b");
        assert_eq!(axis.with(&[0, 1, 2, 3, 4]), "preempt=full b nohz=off threadirqs");
        assert_eq!(axis.with(&[3]), "preempt=none a b");
    }

    #[test]
    fn quotes_hold_a_value_together() {
        assert_eq!(words(" dyndbg=\"file a.c +p\"  quiet\t"), ["dyndbg=\"file a.c +p\"", "quiet"]);
    }

    #[test]
    fn a_parameter_that_is_given_twice_is_two() {
        assert_eq!(names(&axis("console=a console=b", "console=a console=c")), ["console=c", "no console=b"]);
    }

    #[test]
    fn equal_ends_are_reported() {
        let recipe = axis("", "a").recipe;
        let error = Parameters::between(&"host".parse().unwrap(), &recipe, "a  b", "b a").unwrap_err();
        assert!(error.is_usage() && error.to_string().contains("same kernel parameters"), "{error}");
    }
}

//! Configuration options.

use std::time::Duration;

use kbuild::{Difference, Recipe, Setting, difference};
use kernel::{Context, Locator};

use super::{Axis, Subject};
use crate::candidate::{Candidate, Kind};
use crate::error::Error;
use crate::point::Point;

/// A build that goes on from one with other options.
const EFFORT: Duration = Duration::from_secs(180);

/// The difference of two configurations of one source.
#[derive(Debug)]
pub struct Options {
    locator: Locator,
    recipe: Recipe,
    difference: Difference,
    candidates: Vec<Candidate>,
}

impl Options {
    /// What differs between the configuration of `good` and that of `bad`.
    ///
    /// # Errors
    ///
    /// When nothing does, or Kconfig refuses.
    pub fn between(
        locator: &Locator,
        good: &Recipe,
        bad: &Recipe,
        context: &mut Context<'_>,
    ) -> Result<Self, Error> {
        let difference = difference(locator, good, bad, context)?;
        let candidates = difference.options.iter().map(candidate).collect();
        Ok(Self { locator: locator.clone(), recipe: good.clone(), difference, candidates })
    }
}

fn candidate(setting: &Setting) -> Candidate {
    Candidate { name: name(&setting.names, &setting.good, &setting.bad), ..Candidate::default() }
}

/// `CONFIG_A=y instead of n`; the values of a choice say already which options are on.
fn name(names: &[String], good: &str, bad: &str) -> String {
    match names {
        [one] if !bad.contains(&format!("{one}=")) => format!("CONFIG_{one}={bad} instead of {good}"),
        _ => format!("CONFIG_{bad} instead of CONFIG_{good}"),
    }
}

impl Axis for Options {
    fn kind(&self) -> Kind {
        Kind::Options
    }

    fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    fn is_separable(&self) -> bool {
        true
    }

    fn subject(&mut self, point: &Point) -> Result<Option<Subject>, Error> {
        let all = self.candidates.len();
        let Some(included) = point.included(all) else { return Ok(None) };
        let name = match included.as_slice() {
            [] => "the first configuration".to_string(),
            all_of_them if all_of_them.len() == all => "the last configuration".to_string(),
            [one] => format!("the first configuration with {}", self.candidates[*one].name),
            some => format!("the first configuration with {} of {all} options of the last", some.len()),
        };
        let (locator, recipe) = (self.locator.clone(), self.recipe.clone());
        let configuration = Some(self.difference.with(&included));
        Ok(Some(Subject { name, locator, recipe, configuration, parameters: String::new() }))
    }

    fn is_built(&self) -> bool {
        true
    }

    fn usual_effort(&self) -> Duration {
        EFFORT
    }

    fn identity(&self) -> String {
        let all: Vec<usize> = (0..self.candidates.len()).collect();
        format!(
            "{}\n{:?}\n{}\n{}",
            self.difference.source,
            self.recipe,
            self.difference.with(&[]),
            self.difference.with(&all)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_named_with_both_values() {
        assert_eq!(name(&["SMP".to_string()], "n", "y"), "CONFIG_SMP=y instead of n");
        let choice = ["HZ_250".to_string(), "HZ_1000".to_string()];
        assert_eq!(name(&choice, "HZ_250=y", "HZ_1000=y"), "CONFIG_HZ_1000=y instead of CONFIG_HZ_250=y");
    }
}

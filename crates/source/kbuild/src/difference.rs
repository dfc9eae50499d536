//! What two configurations of one source differ in, and every configuration between them.

mod comparison;

use std::collections::HashSet;

use kernel::{Context, Locator};

use crate::Error;
use crate::configure::{completed, replaced, symbols};
use crate::recipe::{Base, Configuration, Recipe};
use crate::request::Request;
use crate::work::Work;
use comparison::Comparison;

/// What a user would have to set to come from one configuration to the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What is built: another one where the tree differs.
    pub source: String,
    /// The first configuration, whole.
    good: String,
    /// In such an order that each takes effect once those before it are set: what is switched off stands before
    /// what it depends on, everything else behind it.
    pub options: Vec<Setting>,
}

/// One thing that a user would set: an option, or a choice with those of its options that change together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The options, without `CONFIG_`.
    pub names: Vec<String>,
    /// As people read it: `n`, `m`, `"text"`, `0x7b`; of a choice the options that are on, such as `HZ_250=y`;
    /// `unset` for what the configuration has no place for, so that it takes its default where it appears.
    pub good: String,
    /// The same at the other end.
    pub bad: String,
    /// Lines of a `.config` for all of the names.
    lines: Vec<String>,
}

/// What `good` and `bad` differ in after `olddefconfig`, with this source and these tools.
///
/// Of `bad` only the configurations count; architecture and variables are those of `good`.
///
/// # Errors
///
/// As [`crate::build`] as far as the configuration, and when both are the same.
pub fn difference(
    locator: &Locator,
    good: &Recipe,
    bad: &Recipe,
    context: &mut Context<'_>,
) -> Result<Difference, Error> {
    let bad = Recipe { configurations: bad.configurations.clone(), ..good.clone() };
    let (good, bad) = (Request::new(locator, good, context)?, Request::new(locator, &bad, context)?);
    let work = Work::enter(&good.work_key(), context)?;
    work.leave(compare(&good, &bad, &work, context))
}

fn compare(
    good: &Request,
    bad: &Request,
    work: &Work,
    context: &mut Context<'_>,
) -> Result<Difference, Error> {
    let tree = good.source.place(work, context)?;
    let (objects, log) = (work.objects(), work.log());
    let make = good.begin(&tree, &objects, &log)?;
    let texts = [good.configure(&make, context)?.text, bad.configure(&make, context)?.text];
    let symbols = symbols(make.tree, make.arch)?;
    let comparison = Comparison::new(&symbols, &texts);
    let mut found = comparison.difference(None);
    if comparison.has_unset() {
        // What its default gives anyway need not be set.
        let all: Vec<usize> = (0..found.options.len()).collect();
        let given = completed(&make, &found.with(&all), context)?;
        found = comparison.difference(Some(&given));
    }
    if found.options.is_empty() {
        let names = |request: &Request| request.recipe.configurations.join(",");
        let did_differ = content(&good.configuration) != content(&bad.configuration);
        return Err(Error::SameConfiguration { good: names(good), bad: names(bad), did_differ });
    }
    Ok(Difference { source: good.source.identity.clone(), ..found })
}

/// What a configuration says, wherever it was read.
fn content(configuration: &Configuration) -> (&Base, Vec<&str>) {
    (&configuration.base, configuration.parts.iter().map(|part| part.text.as_str()).collect())
}

impl Difference {
    /// A whole configuration: the first one with these of the [`Self::options`] as in the second, by their
    /// positions; a position that there is none for is passed over.
    ///
    /// With none of them `olddefconfig` makes the first configuration of it, with all of them the second.
    pub fn with(&self, included: &[usize]) -> String {
        let chosen: Vec<&Setting> = included.iter().filter_map(|at| self.options.get(*at)).collect();
        let names: HashSet<&str> = chosen.iter().flat_map(|one| &one.names).map(String::as_str).collect();
        replaced(&self.good, &names, chosen.iter().flat_map(|one| &one.lines).cloned())
    }
}

#[cfg(test)]
mod tests;

//! What two configurations of one source differ in, and every configuration between them.

mod comparison;
mod setting;

use kernel::{Context, Locator};

use crate::Error;
use crate::configure::{completed, symbols};
use crate::recipe::{Base, Configuration, Recipe};
use crate::request::Request;
use crate::work::Work;
use comparison::Comparison;
pub use setting::{Difference, Setting};

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
    let work = good.enter(context)?;
    work.leave(compare(&good, &bad, &work, context))
}

fn compare(
    good: &Request,
    bad: &Request,
    work: &Work,
    context: &mut Context<'_>,
) -> Result<Difference, Error> {
    let tree = good.source.place(context)?;
    let (objects, log) = (work.objects()?, work.log());
    let make = good.begin(&tree.path, &objects, &log)?;
    let texts = [good.configure(&make, work, context)?.text, bad.configure(&make, work, context)?.text];
    let symbols = symbols(make.paths.tree, make.arch)?;
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

#[cfg(test)]
mod tests;

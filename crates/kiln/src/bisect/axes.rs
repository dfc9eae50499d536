//! From what was said to the axis that is walked.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use bisect::Axis;
use bisect::axis::{History, Options, Packages, Parameters};
use history::{self, Limits};
use kbuild::Recipe;
use kernel::{Context, Locator};

use super::range::Range;
use crate::cli::Bisect;
use crate::failure::WrongUsage;
use crate::find::{find, in_context};

/// An axis, and what is worth knowing about it.
pub(crate) struct Said<'a> {
    pub(crate) axis: Box<dyn Axis + 'a>,
    /// What the one kernel is that is run with several parameters: another may have its name tomorrow.
    pub(crate) kernel: Option<String>,
    pub(crate) notes: Vec<String>,
}

/// The axis that the user named.
pub(crate) fn axis<'a>(said: &Bisect, interrupt: &'a AtomicBool) -> anyhow::Result<Said<'a>> {
    let recipe = said.build.recipe();
    if let Some(mail) = &said.series {
        return series(said, mail, &recipe, interrupt);
    }
    let range = Range::read(said.range.as_deref().unwrap_or_default())?;
    said.fits(&range)?;
    let (mut kernel, mut notes) = (None, Vec::new());
    let axis: Box<dyn Axis> = match range {
        Range::Packages(first, last) => Box::new(in_context(interrupt, |context| {
            Packages::between(&first, &last, &recipe, (interrupt, context))
        })?),
        Range::Commits { tree, first, last } => {
            let limits = Limits { paths: said.path.clone(), first_parent: said.first_parent };
            notes.extend(in_context(interrupt, |context| changes(&tree, context)));
            let history = in_context(interrupt, |context| {
                let ends = (first.as_str(), last.as_str());
                History::commits(&tree, ends, &limits, &recipe, (interrupt, context))
            })?;
            notes.extend(history.note().map(str::to_string));
            Box::new(history)
        }
        Range::One(mut locator) => {
            if !said.params.is_empty() {
                let found = find(&locator, &said.build, interrupt)?;
                kernel = Some(found.identity(""));
                // In a report, `latest` would be another one tomorrow.
                if matches!(locator, Locator::Deb(_)) {
                    locator = found.exact_locator().parse()?;
                }
            }
            one(said, &locator, &recipe, interrupt)?
        }
    };
    Ok(Said { axis, kernel, notes })
}

fn one<'a>(
    said: &Bisect,
    locator: &Locator,
    recipe: &Recipe,
    interrupt: &'a AtomicBool,
) -> anyhow::Result<Box<dyn Axis + 'a>> {
    if let [first, second] = said.params.as_slice() {
        let (good, bad) = ends(first, second, said.fixed)?;
        return Ok(Box::new(Parameters::between(locator, recipe, good, bad)?));
    }
    if said.config_good.is_empty() {
        let text = format!(
            "{locator} is one kernel: name two ends (deb:FIRST..deb:LAST, git:TREE@FIRST..LAST), or what differs \
             (--params, --config-good and --config-bad, --series)"
        );
        return Err(WrongUsage(text).into());
    }
    let with =
        |configurations: &[String]| Recipe { configurations: configurations.to_vec(), ..recipe.clone() };
    let (good, bad) = (with(&said.config_good), with(&said.config_bad));
    let (first, last) = if said.fixed { (bad, good) } else { (good, bad) };
    let options = in_context(interrupt, |context| Options::between(locator, &first, &last, context))?;
    Ok(Box::new(options))
}

fn series<'a>(
    said: &Bisect,
    mail: &std::path::Path,
    recipe: &Recipe,
    interrupt: &'a AtomicBool,
) -> anyhow::Result<Said<'a>> {
    let Some(Locator::Git { tree, revision }) = &said.base else {
        let text = "--base: name the commit that the patches apply to: git:TREE@REVISION";
        return Err(WrongUsage(text.to_string()).into());
    };
    if !mail.exists() {
        let text = format!("--series {}: no such file or folder", mail.display());
        return Err(WrongUsage(text).into());
    }
    let axis =
        in_context(interrupt, |context| History::series(tree, revision, mail, recipe, (interrupt, context)))?;
    Ok(Said { axis: Box::new(axis), kernel: None, notes: Vec::new() })
}

impl Bisect {
    /// Whether what was said about the axis fits to the ends.
    fn fits(&self, range: &Range) -> anyhow::Result<()> {
        let needs_one = !self.params.is_empty() || !self.config_good.is_empty();
        let is_one = matches!(range, Range::One(_));
        let wrong = match (range, needs_one) {
            (Range::Packages(..) | Range::Commits { .. }, true) => {
                Some("--params and --config-good want one kernel, and here are two ends")
            }
            _ if (!self.path.is_empty() || self.first_parent) && !matches!(range, Range::Commits { .. }) => {
                Some("--path and --first-parent are about commits: git:TREE@FIRST..LAST")
            }
            _ => None,
        };
        let packages = matches!(range, Range::Packages(..));
        if packages && !self.build.config.is_empty()
            || is_one && !self.config_good.is_empty() && !self.build.config.is_empty()
        {
            return Err(WrongUsage("--config: nothing is built with it here".to_string()).into());
        }
        wrong.map_or(Ok(()), |text| Err(WrongUsage(text.to_string()).into()))
    }
}

/// The parameters of the first end and of the last: they may be called by name, else the good ones come first.
fn ends<'t>(first: &'t str, second: &'t str, fixed: bool) -> anyhow::Result<(&'t str, &'t str)> {
    let good = |text: &'t str| text.trim_start().strip_prefix("good:");
    let bad = |text: &'t str| text.trim_start().strip_prefix("bad:");
    let (good, bad) = match (good(first), bad(first), good(second), bad(second)) {
        (_, Some(bad), Some(good), _) => (good, bad),
        (_, Some(_), _, _) | (_, _, Some(_), _) => {
            let text = format!("--params {first:?} {second:?}: name a good end and a bad one");
            return Err(WrongUsage(text).into());
        }
        (good, _, _, bad) => (good.unwrap_or(first), bad.unwrap_or(second)),
    };
    Ok(if fixed { (bad, good) } else { (good, bad) })
}

/// What lies in a checkout beside its commits is not searched.
fn changes(tree: &std::path::Path, context: &mut Context<'_>) -> Option<String> {
    let place: PathBuf = Locator::Path(tree.to_owned()).path()?;
    let changes = history::changes_in_checkout(&place, context).ok().filter(|changes| changes.count > 0)?;
    let number =
        if changes.count == 1 { "1 change".to_string() } else { format!("{} changes", changes.count) };
    let verb = if changes.count == 1 { "is" } else { "are" };
    Some(format!(
        "{number} in {} {verb} in no commit, and so in none of the kernels: {}",
        tree.display(),
        changes.paths.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_may_be_called_by_name() {
        let named = |first, second, fixed| ends(first, second, fixed).unwrap();
        assert_eq!(named("good: a", "bad: b", false), (" a", " b"));
        assert_eq!(named("bad: b", "good: a", false), (" a", " b"));
        assert_eq!(named("a", "b", false), ("a", "b"));
        assert_eq!(named("good: a", "b", false), (" a", "b"));
        assert_eq!(named("good: a", "bad: b", true), (" b", " a"));
        for (first, second) in
            [("bad: a", "bad: b"), ("good: a", "good: b"), ("bad: a", "b"), ("a", "good: b")]
        {
            assert!(ends(first, second, false).is_err(), "{first} {second}");
        }
    }
}

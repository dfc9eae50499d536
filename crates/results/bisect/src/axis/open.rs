//! From a request to the axis that is walked.

use history::{self, Limits};
use kbuild::Recipe;
use kernel::{Context, Locator};
use lab::Waiting;
use lab::backend::with_store;
use lab::request::KernelRequest;

use super::history::{STRANGERS, uncommitted};
use super::{Axis, Build, History, Options, Packages, Parameters, Range};
use crate::environment::Environment;
use crate::error::Error;
use crate::request::{AxisRequest, BisectRequest};

/// An axis, and what is worth knowing about it.
pub(crate) struct Walked<'a> {
    pub(crate) axis: Box<dyn Axis + 'a>,
    /// What the one kernel is that is run with several parameters: another may have its name tomorrow.
    pub(crate) kernel: Option<String>,
    pub(crate) notes: Vec<String>,
}

impl<'a> Walked<'a> {
    fn along(axis: impl Axis + 'a) -> Self {
        Self { axis: Box::new(axis), kernel: None, notes: Vec::new() }
    }
}

/// The axis that is asked for.
pub(crate) fn open<'a>(
    request: &BisectRequest,
    environment: &'a Environment<'a>,
    waiting: &mut Waiting<'_>,
) -> Result<Walked<'a>, Error> {
    let recipe = request.build.recipe();
    let build = || Build { recipe: recipe.clone(), interrupt: environment.interrupt };
    Ok(match &request.axis {
        AxisRequest::Packages { first, last } => {
            let axis = |context: &mut Context<'_>| Packages::between(first, last, build(), context);
            Walked::along(with_store(waiting, axis)?)
        }
        AxisRequest::Commits { tree, first, last, paths, first_parent } => {
            let limits = Limits { paths: paths.clone(), first_parent: *first_parent };
            let changes = with_store(waiting, |context| uncommitted(tree, context));
            let range = Range { first, last, limits: &limits };
            let axis = with_store(waiting, |context| History::commits(tree, &range, build(), context))?;
            let notes = changes.into_iter().chain(axis.note().map(str::to_string)).collect();
            Walked { notes, ..Walked::along(axis) }
        }
        AxisRequest::Series { mail, tree, revision } => {
            if !mail.exists() {
                let text = format!("--series {}: no such file or folder", mail.display());
                return Err(Error::Usage(text));
            }
            let axis =
                with_store(waiting, |context| History::series(tree, revision, mail, build(), context))?;
            Walked { notes: vec![STRANGERS.to_string()], ..Walked::along(axis) }
        }
        AxisRequest::Parameters { kernel, first, last } => {
            let wanted = KernelRequest { locator: kernel.clone(), build: request.build.clone() };
            let found = environment.backend.kernel(&wanted, waiting)?;
            // In a report, `latest` would be another one tomorrow.
            let locator = match kernel {
                Locator::Deb(_) => found.exact_locator().parse()?,
                other => other.clone(),
            };
            let axis = Parameters::between(&locator, &recipe, first, last)?;
            Walked { kernel: Some(found.identity("")), ..Walked::along(axis) }
        }
        AxisRequest::Options { kernel, first, last } => {
            let with = |configurations: &[String]| Recipe {
                configurations: configurations.to_vec(),
                ..recipe.clone()
            };
            let axis =
                |context: &mut Context<'_>| Options::between(kernel, &with(first), &with(last), context);
            Walked::along(with_store(waiting, axis)?)
        }
    })
}

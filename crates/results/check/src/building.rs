//! Each commit becomes a kernel, with the warnings that are new in it.

use kbuild::diagnostics::Diagnostics;
use kbuild::{Printed, printed, recompile};
use kernel::{Context, Kernel};
use ledger::Progress;

use crate::Error;
use crate::document::{Built, Commit};
use crate::environment::{Emit, Environment};
use crate::request::CheckRequest;
use crate::warnings::{new_in, objects};

/// The commit before, and what its own build complained about.
struct Before {
    commit: String,
    diagnostics: Diagnostics,
}

/// Builds commits, one after the other.
pub(crate) struct Building<'a> {
    pub(crate) request: &'a CheckRequest,
    pub(crate) environment: &'a Environment<'a>,
}

impl Building<'_> {
    /// Builds the base and every patch on it; gives the kernels that there are, the base first.
    pub(crate) fn all(&self, commits: &mut [Commit], emit: Emit<'_>) -> Result<Vec<Option<Kernel>>, Error> {
        let mut kernels = Vec::new();
        // The last one that compiles: what is new is new since then.
        let mut before: Option<Before> = None;
        for (number, commit) in commits.iter_mut().enumerate() {
            let built = self.build(commit, before.is_some(), emit)?;
            if let Some(kernel) = &built {
                let printed = self.printed(kernel, emit);
                let new_warnings = self.new_warnings(&printed, before.as_ref(), emit)?;
                commit.build = Built::Kernel { locator: kernel.exact_locator(), new_warnings };
                before = Some(Before { commit: commit.hash.clone(), diagnostics: printed.diagnostics });
            }
            emit(Progress::Known(words(number, commit)));
            kernels.push(built);
        }
        Ok(kernels)
    }

    /// Builds a commit. Where one before it `did_build`, what is wrong with the source or its configuration is new in this one.
    fn build(&self, commit: &mut Commit, did_build: bool, emit: Emit<'_>) -> Result<Option<Kernel>, Error> {
        emit(Progress::Working(format!("building {} (\"{}\")", commit.short(), commit.subject)));
        let wanted = self.request.kernel(&commit.hash);
        match self.environment.waiting(emit, |waiting| self.environment.backend.kernel(&wanted, waiting)) {
            Ok(kernel) => Ok(Some(kernel)),
            Err(kbuild::Error::Failed { cause, .. }) => {
                commit.build = Built::Failed { cause };
                Ok(None)
            }
            Err(error) if did_build && error.is_usage() && !error.is_interrupt() => {
                commit.build = Built::Failed { cause: error.to_string() };
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn printed(&self, kernel: &Kernel, emit: Emit<'_>) -> Printed {
        self.environment.with_store(emit, |context| printed(kernel, context)).unwrap_or_default()
    }

    /// Warnings that the commit before does not have.
    fn new_warnings(
        &self,
        after: &Printed,
        before: Option<&Before>,
        emit: Emit<'_>,
    ) -> Result<Vec<String>, Error> {
        let Some(before) = before else { return Ok(Vec::new()) };
        let objects = objects(&after.diagnostics, &after.compiled);
        let wanted = self.request.kernel(&before.commit);
        let recipe = self.request.build.recipe();
        let again = match objects.is_empty() {
            true => Diagnostics::default(),
            false => {
                let again =
                    |context: &mut Context<'_>| recompile(&wanted.locator, &recipe, &objects, context);
                self.environment.with_store(emit, again)?
            }
        };
        Ok(new_in(&after.diagnostics, &[&before.diagnostics, &again]))
    }
}

/// What came of a build, in a line.
fn words(number: usize, commit: &Commit) -> String {
    let which = if number == 0 { "base".to_owned() } else { format!("patch {number}") };
    let result = match &commit.build {
        Built::Kernel { new_warnings, .. } => match new_warnings.len() {
            0 => "builds".to_owned(),
            1 => "builds with 1 new warning".to_owned(),
            count => format!("builds with {count} new warnings"),
        },
        Built::Failed { cause } => format!("does not build: {cause}"),
        Built::NotTried => "was not built".to_owned(),
    };
    format!("{which}: {} (\"{}\") {result}", commit.short(), commit.subject)
}

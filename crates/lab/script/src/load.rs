//! The files of a script become modules, and register its steps.

use std::cell::RefCell;
use std::collections::HashMap;

use judge::{Blame, Outcome};
use starlark::environment::{FrozenModule, Module};
use starlark::values::FrozenValue;

use crate::context::{Context, Phase, Registered, Session};
use crate::execute::evaluate;
use crate::experiment::Experiment;
use crate::failure::Failure;
use crate::folder::SCRIPT;
use crate::globals::globals;
use crate::problem::Problem;
use crate::steps::functions;

/// A script that was loaded.
pub(crate) struct Script {
    /// It keeps the values of the functions.
    module: FrozenModule,
    registered: Vec<Registered>,
}

impl Script {
    /// Its steps, with their functions.
    pub(crate) fn steps(&self) -> impl Iterator<Item = (&Registered, FrozenValue)> {
        self.registered.iter().zip(functions(self.module.extra_value()))
    }
}

/// Evaluates the files of a script, each after those that it loads.
pub(crate) fn load(session: &Session<'_>, experiment: &Experiment) -> Result<Script, Failure> {
    let mut modules: HashMap<&str, FrozenModule> = HashMap::new();
    let mut script = None;
    for name in &experiment.order {
        let is_script = name == SCRIPT;
        let phase = if is_script { Phase::Script(RefCell::default()) } else { Phase::Helper };
        let context = Context::new(session, phase);
        let module = file(&context, name, &modules)?;
        if let Phase::Script(registered) = context.phase {
            script = Some((module, registered.into_inner()));
        } else {
            modules.insert(name, module);
        }
    }
    match script {
        Some((module, registered)) if !registered.is_empty() => Ok(Script { module, registered }),
        _ => Err(wrong(Problem::new("the script has no step").help("end it with step(function)"))),
    }
}

fn file(
    context: &Context<'_>,
    name: &str,
    modules: &HashMap<&str, FrozenModule>,
) -> Result<FrozenModule, Failure> {
    let file =
        context.session.files.get(name).ok_or_else(|| wrong(Problem::new(format!("there is no {name}"))))?;
    let tree = file.counted().map_err(wrong)?;
    let module = Module::new();
    let loaded = modules.iter().map(|(name, module)| (*name, module)).collect();
    evaluate(context, &module, &loaded, |eval| eval.eval_module(tree, globals()).map(|_| ()))?;
    module.freeze().map_err(|error| wrong(Problem::new(format!("{name}: {}", error.err_msg))))
}

fn wrong(problem: Problem) -> Failure {
    Failure { outcome: Outcome::Broken, blame: Some(Blame::Case), problem }
}

//! The functions of the language.

use std::sync::LazyLock;

use starlark::environment::{Globals, GlobalsBuilder, LibraryExtension};
use starlark::eval::Evaluator;
use starlark::values::Value;

use crate::comparison;
use crate::context::{Context, Passed, Phase};
use crate::counting;
use crate::data::{Data, Described};
use crate::json;
use crate::local::RECORDS;
use crate::metadata::{EXPERIMENT, METRIC_INFO};
use crate::native::{arguments, misfit};
use crate::recorded::recorded;
use crate::signature::Signature;
use crate::steps::{BRANCH, STEP, branch, step};
use crate::stop::Stop;
use crate::value::{Act, FunctionValue, alloc};

/// All functions that a script has.
static GLOBALS: LazyLock<Globals> = LazyLock::new(|| {
    let mut builder = GlobalsBuilder::extended_by(&[LibraryExtension::StructType]);
    builder.namespace("json", |builder| {
        for (name, act) in json::FUNCTIONS {
            builder.set(name, FunctionValue::new(name, act));
        }
    });
    for (name, act) in functions() {
        builder.set(name, FunctionValue::new(name, act));
    }
    builder.build()
});

/// All functions that a script has.
pub(crate) fn globals() -> &'static Globals {
    &GLOBALS
}

/// The functions of kiln that take the arguments of a signature.
pub(crate) fn signatures() -> impl Iterator<Item = &'static Signature> + Clone {
    RECORDS.iter().chain([&METRIC_INFO, &EXPERIMENT])
}

fn functions() -> Vec<(&'static str, Act)> {
    let mut functions: Vec<(&'static str, Act)> =
        vec![(EXPERIMENT.name, experiment), (METRIC_INFO.name, described), (STEP, step), (BRANCH, branch)];
    functions.extend(RECORDS.iter().map(|signature| (signature.name, recorded as Act)));
    functions.extend(counting::FUNCTIONS);
    functions.push(comparison::FUNCTION);
    functions
}

/// A description is checked where it is made.
fn described<'v>(
    name: &'static str,
    passed: &Passed<'v>,
    eval: &mut Evaluator<'v, '_, '_>,
) -> Result<Value<'v>, Stop> {
    let signature = signature(name)?;
    let arguments = arguments(signature, passed)?;
    let owner = arguments.positional.iter().chain(arguments.named.iter().map(|(_, value)| value)).flatten();
    let step = owner.flat_map(Data::owned).map(|(_, step)| step).next();
    let fields = signature.bind(&arguments).map_err(misfit)?;
    Ok(alloc(&Data::Described(Described { kind: name, fields, step }), eval.heap()))
}

/// What an experiment says about itself was read before.
fn experiment<'v>(
    _name: &'static str,
    _passed: &Passed<'v>,
    eval: &mut Evaluator<'v, '_, '_>,
) -> Result<Value<'v>, Stop> {
    match Context::of(eval)?.phase {
        Phase::Script(_) => Ok(Value::new_none()),
        _ => Err(Stop::usage("experiment(...) stands only at the beginning of the script")),
    }
}

/// The signature of a function.
pub(crate) fn signature(name: &str) -> Result<&'static Signature, Stop> {
    let found = signatures().find(|signature| signature.name == name);
    found.ok_or_else(|| Stop::broken(judge::Blame::Kiln, format!("{name} has no signature")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_function_has_two_meanings() {
        let mut names: Vec<&str> = functions().into_iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
        for signature in signatures() {
            assert!(names.contains(&signature.name), "{}", signature.name);
        }
    }
}

//! `step` and `branch`: functions that are called later, with data.

use starlark::eval::Evaluator;
use starlark::values::list::{AllocList, ListRef};
use starlark::values::{FrozenValue, Value};

use crate::context::{Context, Passed, Phase, Registered};
use crate::data::{Data, Object, ObjectKind};
use crate::stop::Stop;
use crate::value::{BranchValue, alloc, data};

/// The function that registers a step.
pub(crate) const STEP: &str = "step";

/// The function that makes a branch.
pub(crate) const BRANCH: &str = "branch";

/// Registers a step: its function is kept with the module, to be there when the module is frozen.
pub(crate) fn step<'v>(
    _name: &'static str,
    passed: &Passed<'v>,
    eval: &mut Evaluator<'v, '_, '_>,
) -> Result<Value<'v>, Stop> {
    let context = Context::of(eval)?;
    let Phase::Script(steps) = &context.phase else {
        return Err(Stop::usage(
            "steps are named at the end of experiment.star, not in a function or helper",
        ));
    };
    let Called { function, arguments, name } = called(STEP, passed)?;
    let limit = context.session.limits.steps;
    let count = steps.borrow().len();
    if count >= limit {
        return Err(Stop::limit(format!("a script has at most {limit} steps")));
    }
    let name = name.unwrap_or_else(|| name_of(function));
    if steps.borrow().iter().any(|step| step.name == name) {
        let help = format!("give it another: step({}, ..., name = \"...\")", name_of(function));
        return Err(Stop::usage(format!("there is a step {name} already")).help(help));
    }
    steps.borrow_mut().push(Registered { name, arguments, at: context.here(eval)? });
    let module = eval.module();
    let before = module.extra_value().and_then(ListRef::from_value).map(|list| list.content().to_vec());
    let functions = before.unwrap_or_default().into_iter().chain([function]);
    module.set_extra_value(eval.heap().alloc(AllocList(functions)));
    let id = u32::try_from(count).unwrap_or(u32::MAX);
    Ok(alloc(&Data::Object(Object::new(ObjectKind::Returned, id, 0)), eval.heap()))
}

/// The functions of the steps, in the order in which they were registered.
pub(crate) fn functions(extra: Option<FrozenValue>) -> Vec<FrozenValue> {
    let list = extra.and_then(ListRef::from_frozen_value);
    list.map(|list| list.iter().filter_map(Value::unpack_frozen).collect()).unwrap_or_default()
}

/// Makes a branch: its function runs in another thread, so it must be one of a file that was loaded.
pub(crate) fn branch<'v>(
    _name: &'static str,
    passed: &Passed<'v>,
    eval: &mut Evaluator<'v, '_, '_>,
) -> Result<Value<'v>, Stop> {
    let context = Context::of(eval)?;
    context.scene(BRANCH)?;
    let Called { function, arguments, name } = called(BRANCH, passed)?;
    let Some(frozen) = function.unpack_frozen() else {
        let text = format!(
            "{} is made in a function; a branch takes one that stands at the top of a file",
            name_of(function)
        );
        return Err(Stop::usage(text).help("pass what it needs as arguments: branch(function, a, b)"));
    };
    let name = name.unwrap_or_else(|| name_of(function));
    let at = context.here(eval)?;
    Ok(eval.heap().alloc_simple(BranchValue { function: frozen, name, arguments, at }))
}

/// The name of a function without that of its file.
fn name_of(function: Value<'_>) -> String {
    let name = function.to_str();
    name.rsplit('.').next().unwrap_or(&name).to_owned()
}

/// A function, and what it is to be called with.
struct Called<'v> {
    function: Value<'v>,
    arguments: Vec<Data>,
    name: Option<String>,
}

fn called<'v>(what: &str, passed: &Passed<'v>) -> Result<Called<'v>, Stop> {
    let usage = || format!("{what}(function, arguments ..., name =)");
    let Some((function, arguments)) = passed.positional.split_first() else {
        return Err(Stop::usage(format!("{what} needs a function")).help(usage()));
    };
    if function.get_type() != "function" {
        let text = format!(
            "{what} takes a function, not its result: {} is a {}",
            crate::show::shown(&function.to_repr(), 60),
            function.get_type()
        );
        return Err(Stop::usage(text).help(usage()));
    }
    let mut name = None;
    for (key, value) in &passed.named {
        match (key.as_str(), value.unpack_str()) {
            ("name", Some(text)) => name = Some(text.to_owned()),
            _ => {
                return Err(Stop::usage(format!("{what} takes only a name beside the arguments in order"))
                    .help(usage()));
            }
        }
    }
    let read =
        |value: &Value<'_>| data(*value).map_err(|it| Stop::usage(format!("{what} does not take {it}")));
    let arguments = arguments.iter().map(read).collect::<Result<_, _>>()?;
    Ok(Called { function: *function, arguments, name })
}

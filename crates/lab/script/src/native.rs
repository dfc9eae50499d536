//! The methods of kiln's objects.

use std::sync::atomic::Ordering;

use serde_json::{Map, Value as Json};
use starlark::eval::Evaluator;
use starlark::values::Value;

use crate::ask::ask;
use crate::context::{Context, Passed, Scene};
use crate::data::{Data, Described, Object, ObjectKind};
use crate::event::Event;
use crate::parallel::parallel;
use crate::signature::{Arguments, Misfit, Signature};
use crate::stop::Stop;
use crate::value::{BranchValue, alloc, data};

/// Does a method.
pub(crate) fn method<'v>(
    object: &Object,
    signature: &'static Signature,
    passed: &Passed<'v>,
    eval: &mut Evaluator<'v, '_, '_>,
) -> Result<Value<'v>, Stop> {
    let context = Context::of(eval)?;
    context.spend(1, eval.heap().allocated_bytes())?;
    if (object.kind, signature.name) == (ObjectKind::Lab, "parallel") {
        return branches(context, signature, passed, eval);
    }
    let arguments = arguments(signature, passed)?;
    let scene = context.scene(signature.name)?;
    check_owner(scene, object, &arguments)?;
    let fields = signature.bind(&arguments).map_err(misfit)?;
    let done = match (object.kind, signature.name) {
        (ObjectKind::Lab, "barrier") => barrier(scene, &fields)?,
        (ObjectKind::Lab, "random") => Data::from(&random(scene, &fields)),
        (ObjectKind::Lab, "file") => file(context, fields)?,
        (ObjectKind::Segment, "nic") => nic(object, fields),
        _ => ask(context, object, signature, fields, context.here(eval)?)?,
    };
    Ok(alloc(&done, eval.heap()))
}

/// The arguments of a call as data.
pub(crate) fn arguments(signature: &Signature, passed: &Passed<'_>) -> Result<Arguments, Stop> {
    let read = |value: &Value<'_>| {
        data(*value).map(Some).map_err(|what| Stop::usage(format!("{} does not take {what}", signature.name)))
    };
    let named = passed.named.iter().map(|(name, value)| Ok((name.clone(), read(value)?)));
    Ok(Arguments {
        positional: passed.positional.iter().map(read).collect::<Result<_, _>>()?,
        named: named.collect::<Result<_, Stop>>()?,
        open: false,
    })
}

/// An argument that does not fit stops the script.
pub(crate) fn misfit(misfit: Misfit) -> Stop {
    Stop { help: misfit.help, ..Stop::usage(misfit.text) }
}

/// What a step makes ends with it.
fn check_owner(scene: &Scene<'_>, object: &Object, arguments: &Arguments) -> Result<(), Stop> {
    let values = arguments.positional.iter().chain(arguments.named.iter().map(|(_, value)| value)).flatten();
    let me = Data::Object(object.clone());
    let stranger =
        me.owned().into_iter().chain(values.flat_map(Data::owned)).find(|(_, step)| *step != scene.step);
    match stranger {
        Some((kind, _)) => {
            Err(Stop::usage(format!("this {kind} ended with the step that made it"))
                .help("make it in this step"))
        }
        None => Ok(()),
    }
}

fn barrier(scene: &Scene<'_>, fields: &Map<String, Json>) -> Result<Data, Stop> {
    let Some(group) = scene.group else {
        return Err(Stop::usage("a barrier waits for other branches, and this is none: see lab.parallel"));
    };
    let name = fields.get("name").and_then(Json::as_str).unwrap_or_default();
    let wanted = match fields.get("branches").and_then(Json::as_u64) {
        None => group.size(),
        Some(wanted) => u32::try_from(wanted).unwrap_or(u32::MAX),
    };
    if wanted == 0 || wanted > group.size() {
        return Err(Stop::usage(format!(
            "there are {} branches, so {wanted} cannot meet here",
            group.size()
        )));
    }
    if group.wait(name, wanted) {
        Ok(Data::None)
    } else {
        Err(Stop::usage(format!("the barrier {name:?} waits for {wanted} branches, and no more can come")))
    }
}

fn random(scene: &Scene<'_>, fields: &Map<String, Json>) -> Json {
    let number = scene.random.borrow_mut().next();
    match fields.get("below").and_then(Json::as_u64).and_then(|below| u32::try_from(below).ok()) {
        Some(below) => Json::from(below_of(number, below)),
        None => Json::from(number),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is from 0 to less than below"
)]
fn below_of(number: f64, below: u32) -> u32 {
    (number * f64::from(below)) as u32
}

fn file(context: &Context<'_>, fields: Map<String, Json>) -> Result<Data, Stop> {
    let path = fields.get("path").and_then(Json::as_str).unwrap_or_default();
    context.session.folder.file(path).map_err(|error| Stop::usage(error.to_string()))?;
    Ok(Data::Described(Described { kind: "file", fields, step: None }))
}

fn nic(segment: &Object, mut fields: Map<String, Json>) -> Data {
    fields.insert("segment".to_owned(), Json::from(segment.id));
    Data::Described(Described { kind: "nic", fields, step: Some(segment.step) })
}

/// Runs branches; what went wrong beside the first error is noted.
fn branches<'v>(
    context: &Context<'_>,
    signature: &Signature,
    passed: &Passed<'v>,
    eval: &mut Evaluator<'v, '_, '_>,
) -> Result<Value<'v>, Stop> {
    let scene = context.scene(signature.name)?;
    let wrong = || {
        Stop::usage("parallel takes one list of branch(function, ...)")
            .help("lab.parallel([branch(f, a), branch(g, b)])")
    };
    let [list] = passed.positional.as_slice() else { return Err(wrong()) };
    if !passed.named.is_empty() {
        return Err(wrong());
    }
    let items = starlark::values::list::ListRef::from_value(*list).ok_or_else(wrong)?;
    let plans: Option<Vec<BranchValue>> =
        items.iter().map(|item| BranchValue::from_value(item).cloned()).collect();
    let plans = plans.ok_or_else(wrong)?;
    let (count, limit) = (&scene.counts.branches, context.session.limits.branches);
    let before = count.fetch_add(plans.len(), Ordering::Relaxed);
    let ended = if before + plans.len() > limit {
        Err(Stop::limit(format!("at most {limit} branches run at the same time")))
    } else {
        parallel(context, scene, &plans)
    };
    count.fetch_sub(plans.len(), Ordering::Relaxed);
    let ended = ended?;
    for event in ended.events {
        scene.keep(event, context.session.limits)?;
    }
    let mut failures = ended.failures.into_iter();
    let first = failures.next();
    for (name, failure) in failures {
        let text = format!("the branch {name} ended too: {}", failure.problem.text);
        scene.keep(Event::Note { text }, context.session.limits)?;
    }
    match first {
        Some((_, failure)) => Err(Stop::elsewhere(failure.outcome, failure.blame, failure.problem)),
        None => Ok(alloc(&Data::List(ended.values), eval.heap())),
    }
}

//! The functions that record, and those that conclude.

use serde_json::{Map, Value as Json};
use starlark::eval::Evaluator;
use starlark::values::Value;

use crate::comparison::Unequal;
use crate::condition::{Condition, condition};
use crate::context::{Context, Passed};
use crate::event::{Event, Figure};
use crate::local::RECORDS;
use crate::native::{arguments, misfit};
use crate::nearest::suggestion;
use crate::signature::{Arguments, Signature};
use crate::stop::Stop;
use crate::value::data;

/// Does one of the functions that record.
pub(crate) fn recorded<'v>(
    name: &'static str,
    passed: &Passed<'v>,
    eval: &mut Evaluator<'v, '_, '_>,
) -> Result<Value<'v>, Stop> {
    let context = Context::of(eval)?;
    context.spend(1, eval.heap().allocated_bytes())?;
    let scene = context.scene(name)?;
    let signature = RECORDS.iter().find(|signature| signature.name == name);
    let signature =
        signature.ok_or_else(|| Stop::broken(judge::Blame::Kiln, format!("{name} has no signature")))?;
    if name == "expect" {
        return expect(context, signature, passed, eval);
    }
    let fields = signature.bind(&arguments(signature, passed)?).map_err(misfit)?;
    let event = match name {
        "metric" => metric(context, &fields)?,
        "finding" => finding(fields),
        "table" => table(&fields)?,
        "skip" => return Err(Stop::skip(text(&fields, "reason"))),
        _ => Event::Note { text: text(&fields, "text") },
    };
    scene.keep(event, context.session.limits)?;
    Ok(Value::new_none())
}

fn text(fields: &Map<String, Json>, name: &str) -> String {
    fields.get(name).and_then(Json::as_str).unwrap_or_default().to_owned()
}

/// A figure has a name that the experiment declares, so that it is known with unit and direction before.
fn metric(context: &Context<'_>, fields: &Map<String, Json>) -> Result<Event, Stop> {
    let (name, metadata) = (text(fields, "name"), context.session.metadata);
    if metadata.metric(&name).is_none() {
        let names = metadata.measures.iter().map(|metric| metric.name.as_str());
        let help =
            format!("{}; metrics are declared in measures of experiment(...)", suggestion(&name, names));
        return Err(Stop::usage(format!("the experiment declares no metric {name:?}")).help(help));
    }
    let value = fields.get("value").and_then(Json::as_f64).filter(|value| value.is_finite());
    let value = value.ok_or_else(|| Stop::usage(format!("{name} is not a finite number")))?;
    Ok(Event::Metric(Figure { name, value }))
}

fn finding(mut fields: Map<String, Json>) -> Event {
    let text = text(&fields, "text");
    let values = fields.remove("values").and_then(|values| values.as_object().cloned());
    Event::Finding { text, values: values.unwrap_or_default() }
}

fn table(fields: &Map<String, Json>) -> Result<Event, Stop> {
    let read = |name: &str| fields.get(name).cloned().unwrap_or_default();
    let malformed = |error: serde_json::Error| Stop::usage(format!("table: {error}"));
    let columns: Vec<String> = serde_json::from_value(read("columns")).map_err(malformed)?;
    let rows: Vec<Vec<Json>> = serde_json::from_value(read("rows")).map_err(malformed)?;
    let uneven = rows.iter().position(|row| row.len() != columns.len());
    if let Some((index, row)) = uneven.and_then(|index| Some((index, rows.get(index)?))) {
        let (number, have, want) = (index + 1, row.len(), columns.len());
        return Err(Stop::usage(format!("row {number} of the table has {have} values for {want} columns")));
    }
    Ok(Event::Table { name: text(fields, "name"), columns, rows })
}

/// The condition may be anything that is true or false.
fn expect<'v>(
    context: &Context<'_>,
    signature: &Signature,
    passed: &Passed<'v>,
    eval: &Evaluator<'v, '_, '_>,
) -> Result<Value<'v>, Stop> {
    let truth = |value: &Value<'_>| Some(data(*value).unwrap_or(crate::data::Data::None));
    let shape = Arguments {
        positional: passed.positional.iter().map(truth).collect(),
        named: passed.named.iter().map(|(name, value)| (name.clone(), truth(value))).collect(),
        open: false,
    };
    let fields = signature.bind(&shape).map_err(misfit)?;
    let named = passed.named.iter().find(|(name, _)| name == "condition").map(|(_, value)| value);
    let value = passed.positional.first().or(named).copied();
    if value.is_some_and(Value::to_bool) {
        return Ok(Value::new_none());
    }
    let place = eval.call_stack_top_location();
    let said = text(&fields, "text");
    let Some(condition) = place.and_then(|span| condition(context.session.files, &span)) else {
        return Err(Stop::unexpected(format!("expected: {said}")));
    };
    let text = format!("expected: {said}; this does not hold: {}", condition.text);
    let values =
        value.and_then(Unequal::from_value).map(|unequal| sides(condition, unequal)).unwrap_or_default();
    Err(Stop { values, ..Stop::unexpected(text) })
}

/// The sides of the comparison that does not hold. A literal already shows its value.
fn sides(condition: Condition, unequal: &Unequal) -> Vec<(String, String)> {
    let written = condition.sides.into_iter().nth(unequal.number).into_iter().flatten();
    written.zip(unequal.sides.iter().cloned()).filter(|(side, found)| side != found).collect()
}

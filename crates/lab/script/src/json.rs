//! JSON in scripts: the interpreter's own encoder follows what is nested without a limit.

use serde_json::Value as Json;
use starlark::eval::Evaluator;
use starlark::values::Value;

use crate::context::Passed;
use crate::data::Data;
use crate::show::shown;
use crate::stop::Stop;
use crate::value::{Act, alloc, data};

/// The functions of `json`.
pub(crate) const FUNCTIONS: [(&str, Act); 2] = [("encode", encode), ("decode", decode)];

/// Characters of a text that is no JSON.
const WIDTH: usize = 60;

fn encode<'v>(
    _name: &'static str,
    passed: &Passed<'v>,
    eval: &mut Evaluator<'v, '_, '_>,
) -> Result<Value<'v>, Stop> {
    let plain = data(only("encode", passed)?).and_then(|data| data.plain());
    let plain = plain.map_err(|what| Stop::usage(format!("json.encode does not take {what}")))?;
    Ok(eval.heap().alloc(plain.to_string()))
}

fn decode<'v>(
    _name: &'static str,
    passed: &Passed<'v>,
    eval: &mut Evaluator<'v, '_, '_>,
) -> Result<Value<'v>, Stop> {
    let wrong = || Stop::usage("json.decode takes a text");
    let text = only("decode", passed)?.unpack_str().ok_or_else(wrong)?;
    let json: Json = serde_json::from_str(text)
        .map_err(|error| Stop::usage(format!("this is no JSON: {error}: {:?}", shown(text.trim(), WIDTH))))?;
    Ok(alloc(&Data::from(&json), eval.heap()))
}

fn only<'v>(name: &str, passed: &Passed<'v>) -> Result<Value<'v>, Stop> {
    match (passed.positional.as_slice(), passed.named.as_slice()) {
        ([value], []) => Ok(*value),
        _ => Err(Stop::usage(format!("json.{name} takes one value"))),
    }
}

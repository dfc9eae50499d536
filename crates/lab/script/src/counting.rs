//! Functions through which a script goes where it could use up time or memory at once.

use std::sync::LazyLock;

use starlark::environment::Globals;
use starlark::eval::Evaluator;
use starlark::values::list::ListRef;
use starlark::values::tuple::TupleRef;
use starlark::values::{UnpackValue, Value};

use crate::context::{Context, Passed};
use crate::rewrite::{ELEMENT, FACTOR, OVER, SHIFT, SHIFT_BY, TIMES};
use crate::stop::Stop;
use crate::value::Act;

/// Elements of a range, and bytes or elements of a product.
const LENGTH: i64 = 16 * 1024 * 1024;

/// The functions.
pub(crate) const FUNCTIONS: [(&str, Act); 7] = [
    ("range", range),
    (OVER, over),
    (ELEMENT, element),
    (TIMES, times),
    (FACTOR, factor),
    (SHIFT, shift),
    (SHIFT_BY, shift_by),
];

/// Where Starlark's own range is.
static STANDARD: LazyLock<Globals> = LazyLock::new(Globals::standard);

/// A range can be turned into a list at once, so its length counts.
fn range<'v>(
    _name: &'static str,
    passed: &Passed<'v>,
    eval: &mut Evaluator<'v, '_, '_>,
) -> Result<Value<'v>, Stop> {
    let own = STANDARD.iter().find(|(name, _)| *name == "range");
    let (_, own) = own.ok_or_else(|| Stop::broken(judge::Blame::Kiln, "there is no range"))?;
    let named: Vec<(&str, Value<'v>)> =
        passed.named.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let range = eval.eval_function(own.to_value(), &passed.positional, &named);
    let range = range.map_err(|error| Stop::usage(error.without_diagnostic().to_string()))?;
    let length = range.length().map_or(i64::MAX, i64::from);
    if length > LENGTH {
        return Err(Stop::limit(format!("a range has at most {LENGTH} elements, not {length}")));
    }
    spend(length, eval)?;
    Ok(range)
}

/// Counts what a comprehension iterates over.
fn over<'v>(
    _name: &'static str,
    passed: &Passed<'v>,
    eval: &mut Evaluator<'v, '_, '_>,
) -> Result<Value<'v>, Stop> {
    let value = only(passed)?;
    // What has no length is no list: the interpreter says so.
    spend(value.length().map_or(0, i64::from), eval)?;
    Ok(value)
}

/// Looks at the memory after an element of a comprehension.
fn element<'v>(
    _name: &'static str,
    passed: &Passed<'v>,
    eval: &mut Evaluator<'v, '_, '_>,
) -> Result<Value<'v>, Stop> {
    spend(0, eval)?;
    only(passed)
}

fn times<'v>(
    _name: &'static str,
    passed: &Passed<'v>,
    eval: &mut Evaluator<'v, '_, '_>,
) -> Result<Value<'v>, Stop> {
    let (left, right) = both(passed)?;
    check_product(left, right)?;
    left.mul(right, eval.heap()).map_err(|error| Stop::usage(error.without_diagnostic().to_string()))
}

fn factor<'v>(
    _name: &'static str,
    passed: &Passed<'v>,
    _eval: &mut Evaluator<'v, '_, '_>,
) -> Result<Value<'v>, Stop> {
    let (left, right) = both(passed)?;
    check_product(left, right)?;
    Ok(right)
}

fn shift<'v>(
    _name: &'static str,
    passed: &Passed<'v>,
    eval: &mut Evaluator<'v, '_, '_>,
) -> Result<Value<'v>, Stop> {
    let (left, right) = both(passed)?;
    check_shift(left, right)?;
    left.left_shift(right, eval.heap()).map_err(|error| Stop::usage(error.without_diagnostic().to_string()))
}

fn shift_by<'v>(
    _name: &'static str,
    passed: &Passed<'v>,
    _eval: &mut Evaluator<'v, '_, '_>,
) -> Result<Value<'v>, Stop> {
    let (left, right) = both(passed)?;
    check_shift(left, right)?;
    Ok(right)
}

/// Long numbers are not among the values whose bytes are counted.
fn check_shift(left: Value<'_>, right: Value<'_>) -> Result<(), Stop> {
    let is_number = left.get_type() == "int" && right.get_type() == "int";
    // What is below 0 the interpreter refuses itself.
    let is_short = whole(left).is_some() && whole(right).is_some_and(|by| by < 64);
    if is_number && !is_short {
        return Err(Stop::limit("numbers of up to 64 bits are shifted by less than 64"));
    }
    Ok(())
}

fn whole(value: Value<'_>) -> Option<i64> {
    i64::unpack_value(value).ok().flatten()
}

/// The length of a product is known before it is made.
fn check_product(left: Value<'_>, right: Value<'_>) -> Result<(), Stop> {
    match (whole(left), whole(right)) {
        (None, Some(count)) => check_copies(left, count),
        (Some(count), None) => check_copies(right, count),
        (None, None) if left.get_type() == "int" && right.get_type() == "int" => {
            Err(Stop::limit("numbers of more than 64 bits are not multiplied"))
        }
        _ => Ok(()),
    }
}

fn check_copies(value: Value<'_>, count: i64) -> Result<(), Stop> {
    let length = match (value.unpack_str(), ListRef::from_value(value), TupleRef::from_value(value)) {
        (Some(text), _, _) => text.len(),
        (_, Some(list), _) => list.len(),
        (_, _, Some(tuple)) => tuple.len(),
        _ if value.get_type() == "int" => {
            return Err(Stop::limit("numbers of more than 64 bits are not multiplied"));
        }
        _ => return Ok(()),
    };
    let product = i64::try_from(length).unwrap_or(i64::MAX).saturating_mul(count);
    if product > LENGTH {
        return Err(Stop::limit(format!(
            "{length} times {count} is more than a {} may have",
            value.get_type()
        )));
    }
    Ok(())
}

fn spend(count: i64, eval: &Evaluator<'_, '_, '_>) -> Result<(), Stop> {
    Context::of(eval)?.spend(u64::try_from(count).unwrap_or(0), eval.heap().allocated_bytes())
}

fn only<'v>(passed: &Passed<'v>) -> Result<Value<'v>, Stop> {
    passed.positional.first().copied().ok_or_else(misused)
}

fn both<'v>(passed: &Passed<'v>) -> Result<(Value<'v>, Value<'v>), Stop> {
    match passed.positional.as_slice() {
        [left, right] => Ok((*left, *right)),
        _ => Err(misused()),
    }
}

fn misused() -> Stop {
    Stop::broken(judge::Blame::Kiln, "kiln misread an expression")
}

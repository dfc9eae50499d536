//! The function that compares in place of an operator, and keeps both sides if the comparison does not hold.

use std::cmp::Ordering;
use std::fmt;

use allocative::Allocative;
use starlark::any::ProvidesStaticType;
use starlark::eval::Evaluator;
use starlark::starlark_simple_value;
use starlark::values::{NoSerialize, StarlarkValue, Value, starlark_value};

use crate::context::Passed;
use crate::rewrite::COMPARED;
use crate::stop::Stop;
use crate::value::{Act, seen};

/// The function.
pub(crate) const FUNCTION: (&str, Act) = (COMPARED, compared);

/// What stands for the value of a comparison that does not hold.
#[derive(Debug, ProvidesStaticType, NoSerialize, Allocative)]
pub(crate) struct Unequal {
    /// Its number in the condition, from 0 and from left to right.
    pub(crate) number: usize,
    /// Its sides, for people.
    pub(crate) sides: [String; 2],
}

starlark_simple_value!(Unequal);

#[starlark_value(type = "bool")]
impl<'v> StarlarkValue<'v> for Unequal {
    type Canonical = Self;

    fn to_bool(&self) -> bool {
        false
    }
}

impl fmt::Display for Unequal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("False")
    }
}

fn compared<'v>(
    _name: &'static str,
    passed: &Passed<'v>,
    eval: &mut Evaluator<'v, '_, '_>,
) -> Result<Value<'v>, Stop> {
    let [number, operator, left, right] = passed.positional[..] else {
        return Err(Stop::broken(judge::Blame::Kiln, "kiln misread a comparison"));
    };
    let number = number.unpack_i32().and_then(|number| usize::try_from(number).ok()).unwrap_or_default();
    let holds = holds(operator.unpack_str().unwrap_or_default(), left, right);
    match holds.map_err(|error| Stop::usage(error.without_diagnostic().to_string()))? {
        true => Ok(Value::new_bool(true)),
        false => Ok(eval.heap().alloc_simple(Unequal { number, sides: [left, right].map(seen) })),
    }
}

fn holds<'v>(operator: &str, left: Value<'v>, right: Value<'v>) -> starlark::Result<bool> {
    let order = |fits: fn(Ordering) -> bool| Ok(fits(left.compare(right)?));
    match operator {
        "==" => left.equals(right),
        "!=" => Ok(!left.equals(right)?),
        "<" => order(Ordering::is_lt),
        "<=" => order(Ordering::is_le),
        ">" => order(Ordering::is_gt),
        "in" => right.is_in(left),
        "not in" => Ok(!right.is_in(left)?),
        _ => order(Ordering::is_ge),
    }
}

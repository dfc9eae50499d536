//! What is said of settings alone: kernel parameters and configuration options, which are taken one by one.

use bisect::axis::Kind;
use bisect::{Bisection, Conclusion, Point};

use super::statement::name_and_title;

/// Whether candidates are set one by one, not one upon the other.
pub(super) fn is_setting(kind: Kind) -> bool {
    matches!(kind, Kind::Parameters | Kind::Options)
}

/// What it means that a culprit suffices and is not needed: something else suffices as well.
pub(super) fn caution(bisection: &Bisection) -> Option<String> {
    let Conclusion::Culprits { numbers, candidates, .. } = &bisection.conclusion else { return None };
    let all = bisection.candidates.len();
    let came_out = |holds: bool, wanted: &dyn Fn(&Point) -> bool| {
        let made = bisection.proof.iter().filter(|check| check.untried.is_none() && check.holds == holds);
        made.filter_map(|check| check.state.as_ref()).any(|state| wanted(&state.point))
    };
    let is_alone = |point: &Point| match point {
        Point::With(these) => these == numbers,
        point => *point == Point::Last && numbers.len() == all,
    };
    if !is_setting(bisection.kind) || !came_out(true, &is_alone) {
        return None;
    }
    let spared = |number: &usize| {
        let are_others = |these: &[usize]| these.len() + 1 == all && !these.contains(number);
        came_out(false, &|point| matches!(point, Point::With(these) if are_others(these)))
    };
    let (_, culprit) = numbers.iter().zip(candidates).find(|(number, _)| spared(number))?;
    let (name, _) = name_and_title(culprit);
    let state = if bisection.mended { "mended" } else { "broken" };
    Some(format!(
        "it is {state} without {name}, too: something else among the {}s is enough as well; leave {name} out of \
         both ends and search again",
        bisection.kind.noun()
    ))
}

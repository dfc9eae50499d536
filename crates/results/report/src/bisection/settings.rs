//! Statements about settings only: kernel parameters and configuration options, which are taken one by one.

use bisect::{Bisection, Check, Checked, Conclusion, Point};

use super::candidate::{absent, is_setting, name_and_title};

/// What a check of a culprit that takes a parameter away is about: to be without `no quiet` is to be with `quiet`.
pub(super) fn what(bisection: &Bisection, check: &Check) -> String {
    let Conclusion::Culprits { numbers, candidates, .. } = &bisection.conclusion else {
        return check.what.clone();
    };
    let absent_at = |number: usize| {
        let culprits = numbers.iter().zip(candidates);
        culprits.filter(|(other, _)| **other == number).find_map(|(_, candidate)| candidate.removes.clone())
    };
    let reworded = match (check.tested, candidates.as_slice()) {
        (Some(Checked::LastWithout(number)), _) => {
            absent_at(number).map(|parameter| format!("the last end with {parameter}"))
        }
        (Some(Checked::SetWithout(number)), _) => {
            absent_at(number).map(|parameter| format!("them with {parameter}"))
        }
        (Some(Checked::Alone), [one]) => {
            one.removes.as_ref().map(|parameter| format!("the first end without {parameter}"))
        }
        _ => None,
    };
    reworded.unwrap_or_else(|| check.what.clone())
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
    let (without, advice) = match absent(culprit) {
        Some(parameter) => (format!("with {parameter}"), format!("keep {parameter} at both ends")),
        None => (format!("without {name}"), format!("leave {name} out of both ends")),
    };
    Some(format!(
        "it is {} {without} as well: another {} is sufficient too; {advice} and bisect again",
        if bisection.fixed { "fixed" } else { "broken" },
        bisection.kind.noun()
    ))
}

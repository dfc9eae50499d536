//! Statements about settings only: kernel parameters and configuration options, which are taken one by one.

use bisect::axis::Kind;
use bisect::{Bisection, Conclusion, Point};

use super::statement::name_and_title;

/// What a parameter begins with in the name of a candidate that takes it away; its own blanks stand in quotes.
const ABSENT: &str = "no ";

/// Whether candidates are set one by one, not one upon the other.
pub(super) fn is_setting(kind: Kind) -> bool {
    matches!(kind, Kind::Parameters | Kind::Options)
}

/// The parameter that a candidate of this name takes away, if that is what it does.
pub(super) fn absent(kind: Kind, name: &str) -> Option<&str> {
    name.strip_prefix(ABSENT).filter(|_| kind == Kind::Parameters)
}

/// What a check of a culprit that takes a parameter away is about: to be without `no quiet` is to be with `quiet`.
pub(super) fn what(bisection: &Bisection, what: &str) -> String {
    let Conclusion::Culprits { candidates, .. } = &bisection.conclusion else { return what.to_owned() };
    let is_alone = candidates.len() == 1 && what == format!("the {} alone", bisection.kind.noun());
    let reworded = candidates.iter().find_map(|candidate| {
        let parameter = absent(bisection.kind, &candidate.name)?;
        let place = what.strip_suffix(&format!("without {}", candidate.name));
        let with = place.map(|place| format!("{place}with {parameter}"));
        with.or_else(|| is_alone.then(|| format!("the first end without {parameter}")))
    });
    reworded.unwrap_or_else(|| what.to_owned())
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
    let (without, advice) = match absent(bisection.kind, &name) {
        Some(parameter) => (format!("with {parameter}"), format!("keep {parameter} at both ends")),
        None => (format!("without {name}"), format!("leave {name} out of both ends")),
    };
    Some(format!(
        "it is {} {without} as well: another {} is sufficient too; {advice} and bisect again",
        if bisection.mended { "fixed" } else { "broken" },
        bisection.kind.noun()
    ))
}

//! What is done to be sure of a culprit.

use verdict::nested::agreement;

use crate::asking::Asking;
use crate::bisection::{Check, Checked, StateReport};
use crate::error::Error;
use crate::event::Purpose;
use crate::missing::missing;
use crate::point::Point;
use crate::settings::Settings;
use crate::track::{Track, state_with, states_before, with};

/// The Bayes factor below which the runs of two states are not those of one failure.
const DISAGREEMENT: f64 = 0.01;

/// Something to be checked: where, what it is, in which words, and whether the change is there.
struct Wanted {
    point: Point,
    tested: Checked,
    what: String,
    has_it: bool,
    /// Why there may be no such point.
    otherwise: &'static str,
}

/// Just before it, with it, the last end without it; and where candidates can be taken one by one, it alone.
pub(crate) fn checks(
    asking: &mut Asking<'_>,
    culprits: &[usize],
    settings: &Settings,
) -> Result<Vec<Check>, Error> {
    let wanted = match asking.axis.is_separable() {
        true => of_set(asking, culprits),
        false => culprits.first().map(|culprit| of_one(asking, *culprit)).unwrap_or_default(),
    };
    wanted.into_iter().map(|wanted| check(asking, wanted, settings)).collect()
}

fn of_one(asking: &Asking<'_>, culprit: usize) -> Vec<Wanted> {
    let order = asking.axis.order();
    let point = |state| Track::Whole.point(state, asking.axis.candidates().len());
    let with = point(state_with(&order, culprit));
    let noun = asking.axis.kind().noun();
    let otherwise = "it is not available";
    let before = states_before(&order, culprit).into_iter().map(point);
    let what = format!("just before the {noun}");
    let mut all: Vec<Wanted> = before
        .map(|point| Wanted { point, tested: Checked::Before, what: what.clone(), has_it: false, otherwise })
        .collect();
    let what = format!("with the {noun}");
    all.push(Wanted { point: with, tested: Checked::With, what, has_it: true, otherwise });
    all.push(Wanted {
        point: Point::Without(culprit),
        tested: Checked::LastWithout(culprit),
        what: format!("the last end without the {noun}"),
        has_it: false,
        otherwise: "it cannot be undone by itself",
    });
    all
}

fn of_set(asking: &Asking<'_>, culprits: &[usize]) -> Vec<Wanted> {
    let all = asking.axis.candidates().len();
    let noun = asking.axis.kind().noun();
    let otherwise = "it is not available";
    let it = match culprits {
        [_] => format!("the {noun} alone"),
        _ => format!("these {noun}s alone"),
    };
    let point = with(culprits.to_vec(), all);
    let mut checks = vec![Wanted { point, tested: Checked::Alone, what: it, has_it: true, otherwise }];
    for culprit in culprits {
        let others = culprits.iter().copied().filter(|other| other != culprit).collect();
        let name = &asking.axis.candidates()[*culprit].name;
        if culprits.len() > 1 {
            let what = format!("them without {name}");
            let (point, tested) = (with(others, all), Checked::SetWithout(*culprit));
            checks.push(Wanted { point, tested, what, has_it: false, otherwise });
        }
        let rest = (0..all).filter(|other| other != culprit).collect();
        let what = format!("the last end without {name}");
        let (point, tested) = (with(rest, all), Checked::LastWithout(*culprit));
        checks.push(Wanted { point, tested, what, has_it: false, otherwise });
    }
    checks
}

/// Runs what is to be checked as often as it takes to be sure.
fn check(asking: &mut Asking<'_>, wanted: Wanted, settings: &Settings) -> Result<Check, Error> {
    let Wanted { point, tested, what, has_it, otherwise } = wanted;
    let expected = has_it != settings.fixed;
    let bare = Check {
        what,
        tested: Some(tested),
        expected,
        state: None,
        untried: None,
        objection: None,
        holds: false,
    };
    let untried = |why: String| Check { untried: Some(why), ..bare.clone() };
    let mut before = None;
    // What fails in another way answers nothing: without an answer there is no next round.
    while before != Some(asking.counts(&point)) {
        before = Some(asking.counts(&point));
        let missing = missing(asking, &point, settings);
        if missing.is_empty() || asking.is_untestable(&point) {
            break;
        }
        if !asking.ask(&missing, Purpose::Proof)? {
            return Ok(untried(otherwise.to_string()));
        }
    }
    let Some(state) = asking.state(&point) else { return Ok(untried(otherwise.to_string())) };
    if let Some(why) = &state.untestable {
        return Ok(untried(why.clone()));
    }
    let objection = if expected { another_failure(asking, &state, settings) } else { None };
    let shows = asking.shows(&point, settings) >= 0.5;
    let holds = state.bad + state.good > 0 && shows == expected && objection.is_none();
    Ok(Check { state: Some(state), objection, holds, ..bare })
}

/// Why what fails at a state is not what fails at the bad end: it does so far more often, or far more seldom.
fn another_failure(asking: &Asking<'_>, state: &StateReport, settings: &Settings) -> Option<String> {
    let (end, _) = Asking::ends(settings);
    if asking.question.is_measured() || state.point == end || state.bad == 0 {
        return None;
    }
    let there = asking.boots(&end);
    if agreement(&asking.boots(&state.point), &there) >= DISAGREEMENT {
        return None;
    }
    let (bad, good) = asking.counts(&end);
    let here = format!("{} of {}", state.bad, state.bad + state.good);
    Some(format!(
        "it fails in {here} runs here and in {bad} of {} at the bad end: another failure?",
        bad + good
    ))
}

//! What is done to be sure of a culprit.

use crate::asking::Asking;
use crate::bisection::{Check, Checked};
use crate::error::Error;
use crate::event::Purpose;
use crate::needed::needed;
use crate::point::Point;
use crate::settings::Settings;
use crate::track::{Track, state_with, states_before, with};

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
    let otherwise = "it cannot be had";
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
        otherwise: "it cannot be undone there alone",
    });
    all
}

fn of_set(asking: &Asking<'_>, culprits: &[usize]) -> Vec<Wanted> {
    let all = asking.axis.candidates().len();
    let noun = asking.axis.kind().noun();
    let otherwise = "it cannot be had";
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
    let bare = Check { what, tested: Some(tested), expected, state: None, untried: None, holds: false };
    let untried = |why: String| Check { untried: Some(why), ..bare.clone() };
    let needed = needed(asking, settings);
    let (bad, good) = asking.counts(&point);
    let enough = (bad + good >= needed) || (expected && bad > 0);
    if !enough && !asking.is_untestable(&point) {
        let more = needed - (bad + good);
        if !asking.ask(&[(point.clone(), more)], Purpose::Proof)? {
            return Ok(untried(otherwise.to_string()));
        }
    }
    let Some(state) = asking.state(&point) else { return Ok(untried(otherwise.to_string())) };
    if let Some(why) = &state.untestable {
        return Ok(untried(why.clone()));
    }
    let holds = state.bad + state.good > 0 && asking.shows(&point) == expected;
    Ok(Check { state: Some(state), holds, ..bare })
}

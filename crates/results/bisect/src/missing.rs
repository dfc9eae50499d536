//! Runs that are missing before a state is known not to have the failure.

use verdict::BootRuns;

use crate::asking::{Asking, Wanted};
use crate::point::Point;
use crate::settings::Settings;

/// Boots of a state whose figures are counted.
pub(crate) const COUNTED: u32 = 3;

/// Fewest runs of a state that is shown as proof.
pub(crate) const RUNS_MIN: u32 = 3;

/// Most runs of a state that is neither clearly bad nor clearly good.
const DOUBTFUL_MAX: u32 = 300;

/// The next of the runs that are missing at a point before it is clear whether it has the failure, to be made side by side;
/// none if it is. What comes after them depends on what they give and cost.
pub(crate) fn missing(asking: &Asking<'_>, point: &Point, settings: &Settings) -> Vec<Wanted> {
    let made = count(&asking.boots(point));
    if asking.is_certain() {
        let wanted = if asking.question.is_measured() { COUNTED } else { 1 };
        return asking.new_boots(point, wanted.saturating_sub(made), 1);
    }
    let (bad, _) = asking.counts(point);
    if bad == 0 || asking.question.is_measured() {
        return unseen(asking, point, settings);
    }
    let shows = asking.shows(point, settings);
    let is_clear = shows >= settings.confidence || shows <= 1.0 - settings.confidence;
    let doubtful = if is_clear { RUNS_MIN } else { DOUBTFUL_MAX };
    asking.new_boots(point, 2.min(doubtful.saturating_sub(made)), 2)
}

/// Runs that are missing where none was bad: in so many of them, in so many boots, the failure would have shown, were it
/// there.
///
/// How often it shows where it is, is not known, and neither is how much of that is decided at boot. So the chance to miss
/// it is the mean over both, weighed by the runs of states that have it.
fn unseen(asking: &Asking<'_>, point: &Point, settings: &Settings) -> Vec<Wanted> {
    let (failure, allowed) = (asking.failure(settings), 1.0 - settings.confidence);
    let missing = failure.missing(&asking.boots(point), allowed, asking.price());
    let wanted = |(boot, times)| {
        let boot = u32::try_from(boot).unwrap_or(u32::MAX);
        Wanted { point: point.clone(), boot, times }
    };
    missing.into_iter().take(asking.jobs()).map(wanted).collect()
}

/// All runs of some boots.
pub(crate) fn count(boots: &[BootRuns]) -> u32 {
    u32::try_from(boots.iter().copied().sum::<BootRuns>().total()).unwrap_or(u32::MAX)
}

//! Which candidates are needed together: a minimal set, where they can be taken one by one.
//!
//! A search finds the last candidate that is needed, in the order of the axis. It is then held, and what else is needed
//! is searched among those before it, until what is held suffices. For a failure that more changes do not take away
//! again, this gives a set of which none can be left out, in as many searches as it has members.

use verdict::bisection::Standing;

use crate::asking::Asking;
use crate::ends::needed;
use crate::error::Error;
use crate::event::Purpose;
use crate::find::find;
use crate::procedure::Settings;
use crate::track::{Track, with};

/// Most candidates of a set.
const SET_MAX: usize = 16;

/// The set that `first`, the last candidate that is needed, belongs to; and the states that were tested for it.
pub(crate) fn minimal(
    asking: &mut Asking<'_>,
    first: usize,
    settings: &Settings,
) -> Result<(Vec<usize>, u32), Error> {
    let mut held = vec![first];
    let mut steps = 0;
    while held.len() < SET_MAX && !suffices(asking, &held, settings)? {
        let least = held.iter().copied().min().unwrap_or_default();
        let track = Track::Some { held: held.clone(), open: (0..least).collect() };
        let found = find(asking, &track, settings)?;
        steps += found.steps;
        let Standing::Found { candidate, .. } = found.standing else { break };
        held.push(track.candidate(candidate));
        held.sort_unstable();
    }
    Ok((held, steps))
}

/// Whether these candidates alone make the difference.
fn suffices(asking: &mut Asking<'_>, held: &[usize], settings: &Settings) -> Result<bool, Error> {
    // Nothing stands before the first.
    if held.first() == Some(&0) {
        return Ok(true);
    }
    let point = with(held.to_vec(), asking.axis.candidates().len());
    let needed = needed(asking, settings);
    // One run tells it most of the time.
    for wanted in [1, needed] {
        let (shown, hidden) = asking.counts(&point);
        let made = shown + hidden;
        if made < wanted && shown == 0 {
            asking.ask(&[(point.clone(), wanted - made)], Purpose::Reduction)?;
        }
    }
    Ok(asking.shows(&point) != settings.mended)
}

//! Which candidates are needed together: a minimal set, where they can be taken one by one.
//!
//! A search finds the last candidate that is needed, in the order of the axis. It is then held, and what else is needed
//! is searched among those before it, until what is held suffices. For a failure that more changes do not take away
//! again, this gives a set of which none can be left out, in as many searches as it has members.

use verdict::bisection::Standing;

use crate::asking::Asking;
use crate::error::Error;
use crate::event::Purpose;
use crate::find::find;
use crate::missing::missing;
use crate::settings::Settings;
use crate::track::{Track, with};

/// Most candidates of a set.
const SET_MAX: usize = 16;

/// A candidate that is needed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Culprit {
    pub(crate) number: usize,
    /// How sure that is, from 0 to 1.
    pub(crate) confidence: f64,
}

/// Candidates that make the difference together.
#[derive(Debug)]
pub(crate) struct Set {
    /// In ascending order.
    pub(crate) numbers: Vec<usize>,
    /// How sure it is that each is needed, from 0 to 1.
    pub(crate) confidence: f64,
    /// States that were tested to find it, after those of the first search.
    pub(crate) steps: u32,
}

/// The set that the last candidate that is needed belongs to.
pub(crate) fn minimal(asking: &mut Asking<'_>, last: Culprit, settings: &Settings) -> Result<Set, Error> {
    let mut held = vec![last.number];
    let mut sure = last.confidence;
    let mut steps = 0;
    while held.len() < SET_MAX && !suffices(asking, &held, settings)? {
        let least = held.iter().copied().min().unwrap_or_default();
        let track = Track::Some { held: held.clone(), open: (0..least).collect() };
        let found = find(asking, &track, settings)?;
        steps += found.steps;
        let Standing::Found { candidate, confidence } = found.standing else { break };
        sure *= confidence;
        held.push(track.candidate(candidate));
        held.sort_unstable();
    }
    Ok(Set { numbers: held, confidence: sure, steps })
}

/// Whether these candidates alone make the difference.
fn suffices(asking: &mut Asking<'_>, held: &[usize], settings: &Settings) -> Result<bool, Error> {
    // Nothing stands before the first.
    if held.first() == Some(&0) {
        return Ok(true);
    }
    let point = with(held.to_vec(), asking.axis.candidates().len());
    // One run tells it most of the time.
    if asking.state(&point).is_none() {
        asking.ask(&asking.new_boots(&point, 1, 1), Purpose::Reduction)?;
    }
    let mut before = None;
    while before != Some(asking.counts(&point)) && !asking.is_untestable(&point) {
        before = Some(asking.counts(&point));
        let is_clear = asking.shows(&point, settings) >= settings.confidence;
        if before != Some((0, 0)) && is_clear {
            break;
        }
        asking.ask(&missing(asking, &point, settings), Purpose::Reduction)?;
    }
    // If it is not known, nothing says that more are needed.
    let is_known = asking.counts(&point) != (0, 0);
    Ok(!is_known || (asking.shows(&point, settings) >= 0.5) != settings.fixed)
}

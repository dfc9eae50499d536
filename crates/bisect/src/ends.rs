//! Both ends must be what they should be, before anything is searched between them.

use crate::asking::Asking;
use crate::axis::Point;
use crate::bisection::StateReport;
use crate::error::Error;
use crate::event::Purpose;
use crate::procedure::Settings;
use crate::question::{Question, Threshold};

/// Runs at the end where it shows before it is taken to show always.
const ALWAYS: u32 = 5;

/// Boots at each end whose figures are counted.
const COUNTED: u32 = 3;

/// Boots at each end whose figures are sampled.
const SAMPLED: u32 = 8;

/// Failures that are wanted of an intermittent one, to know how often it shows.
const FAILURES: u32 = 3;

/// Rounds in which the runs that are wanted should have been made: what fails in another way answers nothing.
const ROUNDS_MAX: u32 = 10;

/// Most runs at the end where it should not show.
const RUNS_MAX: u32 = 300;

/// The end where it shows and the one where it does not.
struct Ends {
    shows: Point,
    hides: Point,
}

/// Tests both ends.
///
/// # Errors
///
/// When one of them is not what it should be.
pub(crate) fn verify(asking: &mut Asking<'_>, settings: &Settings) -> Result<(), Error> {
    let ends = match settings.mended {
        false => Ends { shows: Point::Last, hides: Point::First },
        true => Ends { shows: Point::First, hides: Point::Last },
    };
    if asking.question.is_measured() {
        return measure(asking, &ends);
    }
    let first = if asking.question.is_certain() { 1 } else { ALWAYS };
    let shows = runs(asking, &ends.shows, first)?;
    if shows.shown == 0 {
        does_not_show(asking, &ends, first, settings)?;
    }
    asking.look_for(&ends.shows);
    learn_rate(asking, &ends.shows, settings)?;
    does_not_show_where_it_should_not(asking, &ends, settings)
}

/// At least so many runs at an end.
fn runs(asking: &mut Asking<'_>, end: &Point, wanted: u32) -> Result<StateReport, Error> {
    for _ in 0..ROUNDS_MAX {
        let (shown, hidden) = asking.counts(end);
        let made = shown + hidden;
        if made < wanted {
            asking.ask(&[(end.clone(), wanted - made)], Purpose::Ends)?;
        }
        let Some(state) = asking.state(end) else { return Err(no_end(asking, end)) };
        if let Some(why) = state.untestable {
            return Err(Error::End { end: state.name, why });
        }
        if state.shown + state.hidden >= wanted {
            return Ok(state);
        }
    }
    let end = asking.state(end).map(|state| state.name).unwrap_or_default();
    Err(Error::End { end, why: "too many of its runs say nothing about the kernel".to_string() })
}

fn no_end(asking: &Asking<'_>, end: &Point) -> Error {
    let end = if *end == Point::First { "the first end" } else { "the last end" };
    Error::End {
        end: end.to_string(),
        why: format!("the axis of {}s has no such point", asking.axis.kind().noun()),
    }
}

/// It did not show at once where it should: it may be rare, or the ends may be swapped.
fn does_not_show(asking: &mut Asking<'_>, ends: &Ends, first: u32, settings: &Settings) -> Result<(), Error> {
    let what = asking.question.to_string();
    let good = runs(asking, &ends.hides, first)?;
    let bad = runs(asking, &ends.shows, first)?;
    if good.shown > 0 {
        let (good_rate, bad_rate) = (rate(&good), rate(&bad));
        return Err(Error::Swapped { what, good: good.name, good_rate, bad: bad.name, bad_rate });
    }
    let mut bad = bad;
    while bad.shown == 0 && !asking.question.is_certain() && bad.hidden < settings.tries {
        let more = bad.hidden + ALWAYS.min(settings.tries - bad.hidden);
        bad = runs(asking, &ends.shows, more)?;
    }
    match bad.shown {
        0 => Err(Error::NotBad { what, rate: rate(&bad), bad: bad.name }),
        _ => Ok(()),
    }
}

/// Of a failure that does not always show, enough are wanted to know how often it does.
fn learn_rate(asking: &mut Asking<'_>, end: &Point, settings: &Settings) -> Result<(), Error> {
    loop {
        let (shown, hidden) = asking.counts(end);
        if hidden == 0 || shown >= FAILURES || shown + hidden >= settings.tries {
            return Ok(());
        }
        runs(asking, end, shown + hidden + ALWAYS)?;
    }
}

/// So many runs that the failure would have shown, were it there.
fn does_not_show_where_it_should_not(
    asking: &mut Asking<'_>,
    ends: &Ends,
    settings: &Settings,
) -> Result<(), Error> {
    let needed = needed(asking, settings);
    let good = runs(asking, &ends.hides, needed).map_err(|error| match error {
        Error::End { end, why } if asking.state(&ends.hides).is_some_and(|good| has_others(&good)) => {
            Error::OtherFailure { good: end, how: why }
        }
        error => error,
    })?;
    if good.shown == 0 {
        return Ok(());
    }
    let what = asking.question.to_string();
    Err(Error::NotGood { what, rate: rate(&good), good: good.name })
}

fn has_others(state: &StateReport) -> bool {
    state.evidence.run.as_ref().is_some_and(|run| run.outcome.accuses_kernel())
}

/// Runs, or boots, in which the failure would have shown at a point, were it there.
pub(crate) fn needed(asking: &Asking<'_>, settings: &Settings) -> u32 {
    if matches!(asking.question, Question::Metric { .. }) {
        return COUNTED;
    }
    if asking.question.is_certain() {
        return 1;
    }
    let end = if settings.mended { Point::First } else { Point::Last };
    let (shown, hidden) = asking.counts(&end);
    misses(shown, hidden, settings.confidence)
}

/// Runs after which a failure that showed in so many of others would have been missed with a chance below that of an
/// error; at least three.
fn misses(shown: u32, hidden: u32, confidence: f64) -> u32 {
    const LEAST: f64 = 3.0;
    let rate = (f64::from(shown) + 1.0) / (f64::from(shown + hidden) + 2.0);
    let runs = ((1.0 - confidence).ln() / (1.0 - rate).ln()).ceil().clamp(LEAST, f64::from(RUNS_MAX));
    // Bounded above.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is small and positive")]
    {
        runs as u32
    }
}

/// Measures both ends and says where worse begins.
fn measure(asking: &mut Asking<'_>, ends: &Ends) -> Result<(), Error> {
    let wanted = match asking.question {
        Question::Metric { timed: true, .. } => SAMPLED,
        _ => COUNTED,
    };
    let hides = values(asking, &ends.hides, wanted)?;
    let shows = values(asking, &ends.shows, wanted)?;
    let worse_by = match asking.question {
        Question::Metric { worse_by, .. } => *worse_by,
        _ => None,
    };
    let (good, bad) = (middle(&hides.values), middle(&shows.values));
    let threshold = Threshold::between(good, bad, worse_by);
    let is_step = threshold.above && threshold.is_bad(bad) && !threshold.is_bad(good);
    if is_step {
        asking.threshold = Some(threshold);
        return Ok(());
    }
    let what = asking.question.to_string();
    if bad < good {
        let (good_rate, bad_rate) = (span(&hides.values), span(&shows.values));
        return Err(Error::Swapped { what, good: hides.name, good_rate, bad: shows.name, bad_rate });
    }
    let allowed =
        worse_by.map_or_else(String::new, |part| format!(", which is not worse by {} %", part * 100.0));
    let (good_value, bad_value) = (span(&hides.values), span(&shows.values));
    Err(Error::NoStep { metric: what, good: hides.name, good_value, bad: shows.name, bad_value, allowed })
}

fn values(asking: &mut Asking<'_>, end: &Point, wanted: u32) -> Result<StateReport, Error> {
    let made = asking.state(end).map_or(0, |state| u32::try_from(state.values.len()).unwrap_or(u32::MAX));
    if made < wanted {
        asking.ask(&[(end.clone(), wanted - made)], Purpose::Ends)?;
    }
    let Some(state) = asking.state(end) else { return Err(no_end(asking, end)) };
    let why = state.untestable.clone();
    match why.or_else(|| state.values.is_empty().then(|| "it could not be measured".to_string())) {
        Some(why) => Err(Error::End { end: state.name, why }),
        None => Ok(state),
    }
}

/// `0 of 20 runs`.
fn rate(state: &StateReport) -> String {
    format!("{} of {} runs", state.shown, state.shown + state.hidden)
}

/// The values in a few words.
fn span(values: &[f64]) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if least == most { format!("{least}") } else { format!("{least} to {most}") }
}

/// The median; 0 of nothing.
fn middle(values: &[f64]) -> f64 {
    verdict::statistics::median(values).unwrap_or_default()
}

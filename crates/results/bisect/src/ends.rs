//! Both ends must be what they should be, before anything is searched between them.

use measure::quantile::median;
use verdict::statistics::mann_whitney;
use verdict::{Alarms, nested};

use crate::asking::{Asking, Wanted};
use crate::bisection::StateReport;
use crate::error::Error;
use crate::event::Purpose;
use crate::missing::{COUNTED, RUNS_MIN, count, missing};
use crate::point::Point;
use crate::question::{Question, Threshold};
use crate::settings::Settings;

/// Runs at the end where it shows before it is taken to show always.
const ALWAYS: u32 = 5;

/// Boots at each end whose figures are sampled: more if the ends cannot be told apart.
const SAMPLED: [u32; 2] = [8, 24];

/// Failures that are wanted of an intermittent one, to know how often it shows; and boots that show it, to know what of
/// that is decided at boot.
const FAILURES: u32 = 3;
const FAILING_BOOTS: usize = 2;

/// Runs of each boot of an end: a failure may be decided at boot.
const RUNS_OF_BOOT: u32 = 2;

/// The probability from which on ends are called swapped.
const SWAPPED: f64 = 0.9;

/// Rounds in which the runs that are wanted should have been made: what fails in another way answers nothing.
const ROUNDS_MAX: u32 = 10;

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
    let (shows, hides) = Asking::ends(settings);
    let ends = Ends { shows, hides };
    if asking.question.is_measured() {
        return measure(asking, &ends, settings);
    }
    let first = if asking.is_certain() { 1 } else { ALWAYS };
    let bad = runs(asking, &ends.shows, first)?;
    if bad.bad == 0 {
        does_not_show(asking, &ends, first, settings)?;
    }
    asking.look_for(&ends.shows);
    // What the search learnt since then changes nothing of this.
    if asking.has_searched() {
        return Ok(());
    }
    learn_rate(asking, &ends.shows, settings)?;
    does_not_show_where_it_should_not(asking, &ends, settings)
}

/// At least so many runs at an end.
fn runs(asking: &mut Asking<'_>, end: &Point, wanted: u32) -> Result<StateReport, Error> {
    for _ in 0..ROUNDS_MAX {
        let (bad, good) = asking.counts(end);
        if bad + good < wanted {
            let more = in_boots(asking, end, wanted);
            asking.ask(&more, Purpose::Ends)?;
        }
        let Some(state) = asking.state(end) else { return Err(no_end(asking, end)) };
        if let Some(why) = state.untestable {
            return Err(Error::End { end: state.name, why });
        }
        if state.bad + state.good >= wanted {
            return Ok(state);
        }
    }
    let end = asking.state(end).map(|state| state.name).unwrap_or_default();
    Err(Error::End { end, why: "too many of its runs say nothing about the kernel".to_string() })
}

/// The runs that an end lacks until it has so many, two in each boot.
fn in_boots(asking: &Asking<'_>, end: &Point, wanted: u32) -> Vec<Wanted> {
    let boots = asking.boots(end);
    let made: u32 = count(&boots);
    if !asking.question.nests_runs() {
        return asking.new_boots(end, wanted.saturating_sub(made), 1);
    }
    let (mut planned, mut more) = (0, Vec::new());
    for boot in 0.. {
        let there = boots.get(boot as usize).map_or(0, |boot| count(&[*boot]));
        let times = RUNS_OF_BOOT.saturating_sub(there).min(wanted.saturating_sub(planned + there));
        if times > 0 {
            more.push(Wanted { point: end.clone(), boot, times });
        }
        planned += there + times;
        if planned >= wanted {
            break;
        }
    }
    more
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
    if good.bad > 0 && of(asking, ends).swapped >= SWAPPED {
        let (good_rate, bad_rate) = (rate(&good).into(), rate(&bad).into());
        let (what, how) = (what.into(), turned(settings.fixed));
        return Err(Error::Swapped { what, good: good.name, good_rate, bad: bad.name, bad_rate, how });
    }
    let mut bad = bad;
    while bad.bad == 0 && !asking.is_certain() && bad.good < settings.tries {
        let more = bad.good + ALWAYS.min(settings.tries - bad.good);
        bad = runs(asking, &ends.shows, more)?;
    }
    if bad.bad > 0 {
        return Ok(());
    }
    let hint = if asking.is_certain() { "" } else { "; if it is rare, raise --tries" };
    Err(Error::NotBad { what, rate: rate(&bad), bad: bad.name, hint })
}

/// Of a failure that does not always show, enough are wanted to know how often it does.
fn learn_rate(asking: &mut Asking<'_>, end: &Point, settings: &Settings) -> Result<(), Error> {
    loop {
        let (bad, good) = asking.counts(end);
        let boots = asking.boots(end).iter().filter(|boot| boot.failures > 0).count();
        let is_known = bad >= FAILURES && boots >= FAILING_BOOTS;
        if good == 0 || is_known || bad + good >= settings.tries {
            return Ok(());
        }
        runs(asking, end, bad + good + ALWAYS)?;
    }
}

/// So many runs that the failure would have shown, were it there. A few failures among many runs are false alarms, if it
/// shows far more often at the other end.
fn does_not_show_where_it_should_not(
    asking: &mut Asking<'_>,
    ends: &Ends,
    settings: &Settings,
) -> Result<(), Error> {
    let mut before = None;
    // What fails in another way answers nothing: without an answer there is no next round.
    while before != Some((asking.counts(&ends.hides), asking.counts(&ends.shows))) {
        before = Some((asking.counts(&ends.hides), asking.counts(&ends.shows)));
        if asking.is_untestable(&ends.hides) {
            break;
        }
        let wanted = next(asking, ends, settings);
        asking.ask(&wanted, Purpose::Ends)?;
    }
    let least = if asking.is_certain() { 1 } else { RUNS_MIN };
    let good = runs(asking, &ends.hides, least).map_err(|error| match error {
        Error::End { end, why } if asking.fails_otherwise(&ends.hides) => {
            Error::OtherFailure { good: end, how: why }
        }
        error => error,
    })?;
    if good.bad == 0 || of(asking, ends).as_stated >= settings.confidence {
        return Ok(());
    }
    let what = asking.question.to_string();
    let how = good.evidence.how().map_or_else(String::new, |how| format!("; {how}"));
    Err(Error::NotGood { what, rate: rate(&good).into(), how: how.into(), good: good.name })
}

/// The runs that come next at the end where it should not show. If it did, they are made where there are fewer.
fn next(asking: &Asking<'_>, ends: &Ends, settings: &Settings) -> Vec<Wanted> {
    let runs = |end: &Point| count(&asking.boots(end));
    let (hides, shows) = (runs(&ends.hides), runs(&ends.shows));
    let (bad, _) = asking.counts(&ends.hides);
    let as_stated = of(asking, ends).as_stated;
    let is_decided = as_stated >= settings.confidence || as_stated <= 1.0 - settings.confidence;
    match bad {
        0 => missing(asking, &ends.hides, settings),
        _ if asking.is_certain() => Vec::new(),
        _ if hides < RUNS_MIN => in_boots(asking, &ends.hides, RUNS_MIN),
        _ if is_decided || hides >= settings.tries => Vec::new(),
        _ if shows < hides => in_boots(asking, &ends.shows, shows + ALWAYS),
        _ => in_boots(asking, &ends.hides, hides + ALWAYS),
    }
}

/// What the runs of both ends say of them.
fn of(asking: &Asking<'_>, ends: &Ends) -> nested::Ends {
    nested::ends(&asking.boots(&ends.shows), &asking.boots(&ends.hides), asking.alarms)
}

/// Measures both ends and says where worse begins.
fn measure(asking: &mut Asking<'_>, ends: &Ends, settings: &Settings) -> Result<(), Error> {
    let Some(metric) = asking.question.measured() else { return Ok(()) };
    let boots: &[u32] = if metric.is_timed { &SAMPLED } else { &[COUNTED, SAMPLED[0], SAMPLED[1]] };
    for (round, wanted) in boots.iter().enumerate() {
        let [hides, shows] = values(asking, [&ends.hides, &ends.shows], *wanted)?;
        // Later ones do not move the threshold, so that it is the same when the same command goes on.
        let first = |state: &StateReport| state.values[..state.values.len().min(*wanted as usize)].to_vec();
        let (good, bad) = (first(&hides), first(&shows));
        if asking.is_certain() && !(is_constant(&good) && is_constant(&bad)) {
            // It is counted exactly, but the kernel does not always do the same: its boots are samples, too.
            asking.alarms = Alarms::Noise;
            continue;
        }
        let is_noise = !asking.is_certain() && mann_whitney(&good, &bad) > 1.0 - settings.confidence;
        if is_noise && round + 1 < boots.len() {
            continue;
        }
        let (good, bad) = (middle(&good), middle(&bad));
        let threshold = Threshold::between(good, bad, &metric);
        let is_worse = bad != good && threshold.above != metric.more_is_better;
        if !is_noise && is_worse && threshold.is_bad(bad) && !threshold.is_bad(good) {
            asking.threshold = Some(threshold);
            asking.emit_states(&[Point::First, Point::Last]);
            return Ok(());
        }
        let swapped = (bad != good && !is_worse && !is_noise).then(|| turned(settings.fixed));
        return Err(no_step(asking.question, hides, shows, swapped));
    }
    Ok(())
}

/// What to say instead where the ends are swapped.
fn turned(fixed: bool) -> &'static str {
    if fixed { "remove --fixed" } else { "add --fixed to search for the fix, or swap them" }
}

/// Why the ends are none of a metric.
fn no_step(
    question: &Question,
    hides: StateReport,
    shows: StateReport,
    swapped: Option<&'static str>,
) -> Error {
    let what = question.to_string();
    let (good_value, bad_value) = (span(&hides.values), span(&shows.values));
    let (good, bad) = (hides.name, shows.name);
    if let Some(how) = swapped {
        let (what, good_rate, bad_rate) = (what.into(), good_value.into(), bad_value.into());
        return Error::Swapped { what, good, good_rate, bad, bad_rate, how };
    }
    let measured = question.measured();
    let (metric, worse_by) =
        measured.map_or((what, None), |metric| (metric.name.to_string(), metric.worse_by));
    let allowed =
        worse_by.map_or_else(String::new, |part| format!(", which is not worse by {} %", part * 100.0));
    let (good_value, bad_value) = (good_value.into(), bad_value.into());
    Error::NoStep { metric, good, good_value, bad, bad_value, allowed: allowed.into() }
}

/// At least so many values at both ends, which are measured side by side where that is possible.
fn values(
    asking: &mut Asking<'_>,
    [hides, shows]: [&Point; 2],
    wanted: u32,
) -> Result<[StateReport; 2], Error> {
    let made = |end: &Point| asking.state(end).map_or(0, |state| state.values.len());
    let missing = |end: &Point| wanted.saturating_sub(u32::try_from(made(end)).unwrap_or(u32::MAX));
    let tests = [hides, shows].map(|end| asking.new_boots(end, missing(end), 1));
    asking.ask(&tests.concat(), Purpose::Ends)?;
    Ok([measured(asking, hides)?, measured(asking, shows)?])
}

/// What is known of an end that has been measured.
fn measured(asking: &Asking<'_>, end: &Point) -> Result<StateReport, Error> {
    let Some(state) = asking.state(end) else { return Err(no_end(asking, end)) };
    let why = state.untestable.clone();
    match why.or_else(|| state.values.is_empty().then(|| "it could not be measured".to_string())) {
        Some(why) => Err(Error::End { end: state.name, why }),
        None => Ok(state),
    }
}

/// `0 of 20 runs`.
fn rate(state: &StateReport) -> String {
    let runs = state.bad + state.good;
    format!("{} of {runs} {}", state.bad, if runs == 1 { "run" } else { "runs" })
}

/// The values in a few words.
fn span(values: &[f64]) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if least == most { format!("{least}") } else { format!("{least} to {most}") }
}

/// Whether all boots count the same.
fn is_constant(values: &[f64]) -> bool {
    values.iter().all(|value| Some(value) == values.first())
}

/// The median; 0 of nothing.
fn middle(values: &[f64]) -> f64 {
    median(values).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_in_a_few_words() {
        assert_eq!(span(&[3.0, 3.0]), "3");
        assert_eq!(span(&[3.5, 1.0, 2.0]), "1 to 3.5");
    }
}

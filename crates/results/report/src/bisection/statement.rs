//! Statements about a bisection, for terminals, pages and mails.

use bisect::{Bisection, Check, Checked, Conclusion, Kind, Question, RecordedMetric, StateReport};
use lab::experiment::ExperimentChoice;
use measure::Unit;
use measure::quantile::median;
use verdict::Alarms;

use super::candidate::{NAME_MAX, NAMED, absent, candidates, is_setting, name_and_title, names};
use super::settings::{self, caution};
use super::sides::Sides;
use super::walk::{Walk, unit, value_text};
use crate::axis::Mark;
use crate::columns::fit;
use crate::figures::{difference, figure, percent};
use crate::repeats::{decided, percent as share, probability};
use crate::safe::safe_line;
use crate::words::{brief, is_hash, many};

/// What it comes to, in one sentence without a full stop.
pub(super) fn verdict(bisection: &Bisection) -> String {
    let culprits = candidates(bisection);
    let is_enough =
        !bisection.proof.iter().any(|check| check.tested == Some(Checked::Alone) && check.fails());
    if !culprits.is_empty() && !is_enough {
        let (noun, which) = (bisection.kind.noun(), names(culprits));
        let verb = if bisection.fixed { "fixes" } else { "breaks" };
        return format!(
            "no {noun} or set of them {verb} it each time; the most probable does not suffice: {which}"
        );
    }
    let doubt = if !culprits.is_empty() && bisection.is_in_doubt() { "in doubt: " } else { "" };
    format!("{doubt}{}", conclusion(bisection))
}

fn conclusion(bisection: &Bisection) -> String {
    let which = if bisection.fixed { "good" } else { "bad" };
    let verb = if bisection.fixed { "fixes" } else { "breaks" };
    let noun = bisection.kind.noun();
    match &bisection.conclusion {
        Conclusion::Culprits { candidates, .. } if candidates.len() == 1 && is_setting(bisection.kind) => {
            let (name, _) = name_and_title(&candidates[0]);
            match absent(&candidates[0]) {
                Some(parameter) => format!("removing the {noun} {parameter} {verb} it"),
                None => format!("the {noun} that {verb} it is {name}"),
            }
        }
        Conclusion::Culprits { candidates, .. } if candidates.len() == 1 => {
            format!("the first {which} {noun} is {}", names(candidates))
        }
        Conclusion::Culprits { candidates, .. } => {
            let verb = if bisection.fixed { "fix" } else { "break" };
            format!(
                "{} {verb} it only together: {}",
                many(bisection.kind, candidates.len()),
                names(candidates)
            )
        }
        Conclusion::Suspects { candidates, .. } => format!(
            "the first {which} {noun} is one of these {}, which could not be tested separately: {}",
            candidates.len(),
            names(candidates)
        ),
        Conclusion::Contradiction { why } => {
            format!("no {noun} explains the results: {}", fit(&safe_line(why), 400))
        }
    }
}

/// Why suspects remain: the states that could not be tested, the first few.
pub(super) fn untestable(bisection: &Bisection) -> Vec<String> {
    if !matches!(bisection.conclusion, Conclusion::Suspects { .. }) {
        return Vec::new();
    }
    let walk = Walk::from(bisection);
    let states = bisection.states.iter().filter(|state| walk.mark(state) == Mark::Untestable);
    states.take(NAMED).map(|state| format!("{}: {}", place(state), walk.seen(state))).collect()
}

/// How both sides differ: `without it` and `with it`, the other way round where it is removed.
pub(super) fn roles(bisection: &Bisection) -> [&'static str; 2] {
    match candidates(bisection) {
        [] => ["at the first end", "at the last end"],
        [one] if one.removes.is_some() => ["with it", "without it"],
        [_] => ["without it", "with it"],
        _ => ["without them", "with them"],
    }
}

/// A text at the beginning of a sentence.
pub(super) fn capital(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map(|first| first.to_uppercase().collect::<String>() + rest.as_str()).unwrap_or_default()
}

/// How sure it is, in sentences without full stops: what the checks say, and what was seen.
pub(super) fn sureness(bisection: &Bisection) -> Vec<String> {
    let rest = [caution(bisection), confidence(bisection), rate(bisection)];
    std::iter::once(proof(bisection)).chain(rest.into_iter().flatten()).collect()
}

/// How probable it is; nothing of a contradiction.
fn confidence(bisection: &Bisection) -> Option<String> {
    let (confidence, what) = match &bisection.conclusion {
        Conclusion::Culprits { candidates, confidence, .. } if candidates.len() == 1 => {
            (*confidence, "it is")
        }
        Conclusion::Culprits { confidence, .. } => (*confidence, "they are"),
        Conclusion::Suspects { confidence, .. } => (*confidence, "one of them is"),
        Conclusion::Contradiction { .. } => return None,
    };
    // It is that of a model which a check that fails contradicts.
    if !confidence.is_finite() || bisection.is_in_doubt() {
        return None;
    }
    let sure = probability(confidence, "more than");
    Some(format!("probability that {what} the cause: {sure}"))
}

/// What the checks say together.
fn proof(bisection: &Bisection) -> String {
    let checks = &bisection.proof;
    let untried = checks.iter().filter(|check| is_untried(check)).count();
    let tried = checks.len() - untried;
    let held = tried - checks.iter().filter(|check| check.fails()).count();
    let doubt = if held < tried { "in doubt: " } else { "" };
    let rest = if untried > 0 { format!("; {untried} could not be run") } else { String::new() };
    match tried {
        0 => format!("not proven: no check was run{rest}"),
        _ => format!("{doubt}{held} of {tried} checks hold{rest}"),
    }
}

/// Whether a check could not be run.
fn is_untried(check: &Check) -> bool {
    check.state.is_none() || check.untried.is_some()
}

/// A check in a few words: what, what was expected, what was seen, and what that comes to.
pub(super) fn check(bisection: &Bisection, check: &Check) -> [String; 4] {
    let expected = if check.expected { "bad" } else { "good" };
    let state = check.state.as_ref().filter(|_| check.untried.is_none());
    let result = match (&check.untried, state) {
        (Some(why), _) => format!("could not be run: {}", fit(&safe_line(why), 2 * NAME_MAX)),
        (None, None) => "could not be run".to_owned(),
        _ if check.holds => "holds".to_owned(),
        _ => match &check.objection {
            Some(why) => format!("does not hold: {}", safe_line(why)),
            None => "does not hold".to_owned(),
        },
    };
    let seen = state.map(|state| Walk::from(bisection).seen(state)).unwrap_or_default();
    let what = settings::what(bisection, check);
    [fit(&safe_line(&what), NAME_MAX), expected.to_owned(), seen, result]
}

/// [`check()`] as a sentence without a full stop.
pub(super) fn check_in_words(bisection: &Bisection, check: &Check) -> String {
    let [what, expected, seen, result] = self::check(bisection, check);
    let seen = if seen.is_empty() { seen } else { format!(", {seen}") };
    format!("{what}: expected {expected}{seen}: {result}")
}

/// The names of a state and of its kernel.
pub(super) fn place(state: &StateReport) -> String {
    let name = fit(&brief(&state.name), NAME_MAX);
    let release = state.evidence.release.as_deref().map(safe_line).unwrap_or_default();
    if release.is_empty() || name.contains(&release) {
        name
    } else {
        format!("{name} ({})", fit(&release, NAME_MAX))
    }
}

/// How the metric differs between both sides, where there is one.
pub(super) fn metric(bisection: &Bisection, sides: Sides<'_>) -> Option<String> {
    let unit = unit(&bisection.question);
    let (old, new) = (median(&sides.without.values)?, median(&sides.with.values)?);
    let part =
        if old == 0.0 { String::new() } else { format!(" ({} %)", percent(100.0 * (new - old) / old)) };
    Some(format!("{}{part}", difference(new - old, &unit)))
}

/// From where on the metric counts as bad.
pub(super) fn threshold(bisection: &Bisection) -> Option<String> {
    let threshold = bisection.threshold?;
    let side = if threshold.above { "above" } else { "below" };
    Some(format!("{side} {} counts as bad", value_text(threshold.at, &unit(&bisection.question))))
}

/// How often it shows where it is, if that is not each time.
fn rate(bisection: &Bisection) -> Option<String> {
    let rate = bisection.rate;
    let (low, high) = rate.interval;
    let is_known = [rate.mean, low, high].iter().all(|part| (0.0..=1.0).contains(part)) && rate.mean > 0.0;
    let where_decided = rate.decided_at_boot.and_then(decided);
    (is_known && !rate.always && bisection.question.alarms() != Alarms::None).then(|| {
        format!(
            "intermittent: {} % of runs of bad states are bad (95 % interval {} to {} %{})",
            share(rate.mean),
            share(low),
            share(high),
            where_decided.map_or_else(String::new, |decided| format!("; {decided}"))
        )
    })
}

/// How many tests it took: states, and what plain halving would have taken; runs.
pub(super) fn steps(bisection: &Bisection) -> [String; 2] {
    let steps = bisection.steps;
    let expected = figure((steps.expected * 10.0).round() / 10.0, &Unit::Count);
    let states = if steps.taken == 1 { "1 state".to_owned() } else { format!("{} states", steps.taken) };
    let rounds = match steps.rounds {
        rounds if rounds == 0 || rounds >= steps.taken => String::new(),
        1 => " side by side".to_owned(),
        rounds => format!(" in {rounds} rounds"),
    };
    let reused = if steps.reused > 0 {
        format!(", {} of them from earlier sessions", steps.reused)
    } else {
        String::new()
    };
    [
        format!(
            "{states} tested between the ends{rounds}; halving {} needs {expected} on average, {} at worst",
            { many(bisection.kind, bisection.candidates.len()) },
            steps.worst
        ),
        format!("{} in total, including ends and proof{reused}", {
            if steps.runs == 1 { "1 run".to_owned() } else { format!("{} runs", steps.runs) }
        }),
    ]
}

/// What went wrong, as a headline: `fs/overlay-rename fails`.
pub(super) fn symptom(question: &Question) -> String {
    let text = match question {
        Question::Case(name)
        | Question::Program(name)
        | Question::Experiment(ExperimentChoice { name, .. }) => format!("{name} fails"),
        Question::Boot => "the kernel does not boot".to_owned(),
        Question::Log(text) => format!("the log has \"{text}\""),
        Question::Build => "the kernel does not build".to_owned(),
        Question::Metric { name, .. } | Question::Recorded(RecordedMetric { name, .. }) => {
            format!("{name} is worse")
        }
    };
    fit(&safe_line(&text), NAME_MAX)
}

/// The whole hash of the one commit that broke it, for those who track regressions.
pub(super) fn introduced(bisection: &Bisection) -> Option<&str> {
    match &bisection.conclusion {
        Conclusion::Culprits { candidates, .. }
            if bisection.kind == Kind::Commits && !bisection.fixed && candidates.len() == 1 =>
        {
            candidates.first().map(|candidate| candidate.name.as_str()).filter(|name| is_hash(name))
        }
        _ => None,
    }
}

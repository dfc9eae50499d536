//! What a check found, in sentences.

use check::{
    AlsoBuilt, Built, CaseChange, Change, Commit, CostChange, Culprit, Seen, SeriesCheck, Tests, Verdict,
};

use super::analysis;
use crate::safe::safe_line;
use crate::words::cases;

/// Findings that the first sentence names.
const NAMED: usize = 3;

/// The verdict with what speaks for it, the worst first.
#[must_use]
pub fn verdict(check: &SeriesCheck) -> String {
    let mut findings = findings(check);
    let more = findings.len().saturating_sub(NAMED);
    findings.truncate(NAMED);
    if more > 0 {
        findings.push(format!("{more} more"));
    }
    let because = match (check.verdict, findings.is_empty()) {
        (_, false) => findings.join("; "),
        (Verdict::Same, true) => same(check),
        (_, true) => {
            check.unchecked.first().map_or_else(|| "nothing changed".to_owned(), |why| safe_line(why))
        }
    };
    format!("{}: {because}", check.verdict.name())
}

/// What was checked where nothing changed.
fn same(check: &SeriesCheck) -> String {
    let count = check.patches.len();
    let built = if count == 1 { "the patch builds".to_owned() } else { format!("all {count} patches build") };
    let cases = check.tests.as_ref().map(|tests| format!("{} cases end as before", tests.cases));
    let costs = (check.operations > 0).then(|| operations(check));
    let is_analysed = check.analysis.as_ref().is_some_and(|analysis| !analysis.tools.is_empty());
    let analysis = is_analysed.then(|| "static analysis finds nothing new".to_owned());
    [Some(built), analysis, cases, costs].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// What speaks for the verdict.
fn findings(check: &SeriesCheck) -> Vec<String> {
    let total = check.patches.len();
    let builds = check.patches.iter().enumerate().filter_map(|(index, patch)| build(index + 1, total, patch));
    let also = check.also.iter().flat_map(|also| {
        let with = safe_line(&also.configurations.join(","));
        let patches = also.patches.iter().enumerate();
        patches.filter_map(move |(index, patch)| {
            Some(format!("{} with {with}", build(index + 1, total, patch)?))
        })
    });
    let wanted = |change: Change| match check.verdict {
        Verdict::Worse => change == Change::Worse,
        Verdict::Better => change == Change::Better,
        Verdict::Different => change == Change::Different,
        Verdict::Undecided => change == Change::Undecided,
        Verdict::Same => false,
    };
    let cases = check.tests.iter().flat_map(|tests| &tests.changes).filter(|change| wanted(change.change));
    let costs = check.costs.iter().filter(|change| wanted(change.change));
    let analysis = if check.verdict == Verdict::Different { analysis::sentences(check) } else { Vec::new() };
    builds
        .chain(cases.map(|change| case(change, total)))
        .chain(costs.map(|change| cost(change, total)))
        .chain(also)
        .chain(analysis)
        .collect()
}

fn build(number: usize, total: usize, patch: &Commit) -> Option<String> {
    match &patch.build {
        Built::Failed { .. } => Some(format!("patch {number} of {total} does not build")),
        Built::Kernel { new_warnings, .. } if !new_warnings.is_empty() => {
            Some(format!("patch {number} of {total} adds {}", warnings(new_warnings.len())))
        }
        Built::Kernel { .. } | Built::NotTried => None,
    }
}

/// `1 new warning`, `2 new warnings`.
fn warnings(count: usize) -> String {
    if count == 1 { "1 new warning".to_owned() } else { format!("{count} new warnings") }
}

fn case(change: &CaseChange, total: usize) -> String {
    let name = safe_line(&change.case);
    let what = match change.change {
        Change::Worse => format!("{name} {}", verb(&change.after)),
        Change::Better => format!("{name} passes"),
        Change::Different => format!("{name} ends in another way"),
        Change::Undecided => format!("{name} says nothing for certain"),
    };
    with_culprit(&what, change.culprit.as_ref(), total)
}

fn verb(seen: &Seen) -> &'static str {
    match seen.outcome {
        Some(judge::Outcome::Crash) => "crashes",
        Some(judge::Outcome::Hang) => "hangs",
        _ => "fails",
    }
}

fn cost(change: &CostChange, total: usize) -> String {
    let what = format!("{} {}", safe_line(&change.operation), difference(change));
    with_culprit(&what, change.culprit.as_ref(), total)
}

/// `costs 12 instructions more (+0.8 %)`
pub(super) fn difference(change: &CostChange) -> String {
    let more = change.after - change.before;
    let percent = if change.before > 0.0 {
        format!(" ({:+.2} %)", more / change.before * 100.0)
    } else {
        String::new()
    };
    let word = if more < 0.0 { "less" } else { "more" };
    format!("costs {:.0} instructions {word}{percent}", more.abs())
}

fn with_culprit(what: &str, culprit: Option<&Culprit>, total: usize) -> String {
    match culprit.and_then(|culprit| by(culprit, total)) {
        Some(by) => format!("{what} with {by}"),
        None => what.to_owned(),
    }
}

/// `patch 2 of 3`, if a patch was found.
fn by(culprit: &Culprit, total: usize) -> Option<String> {
    match culprit {
        Culprit::Patches { numbers, .. } => match &numbers[..] {
            [number] => Some(format!("patch {number} of {total}")),
            several => Some(format!("patches {} of {total} together", list(several))),
        },
        Culprit::OneOf { numbers, .. } => Some(format!("one of the patches {} of {total}", list(numbers))),
        Culprit::NotRepeated { .. } | Culprit::Unknown { .. } => None,
    }
}

/// Who did it and how sure that is, or why that is not known.
pub(super) fn culprit(culprit: &Culprit, total: usize) -> String {
    let sure = |confidence: &f64| format!("{:.1} % sure", (confidence * 1000.0).floor() / 10.0);
    match culprit {
        Culprit::Patches { confidence, .. } | Culprit::OneOf { confidence, .. } => {
            format!("by {}, {}", by(culprit, total).unwrap_or_default(), sure(confidence))
        }
        Culprit::NotRepeated { why } => format!("not repeated: {}", safe_line(why)),
        Culprit::Unknown { why } => format!("no patch was found: {}", safe_line(why)),
    }
}

fn list(numbers: &[usize]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// How many operations were compared, and how many changed.
pub(super) fn operations(check: &SeriesCheck) -> String {
    let total = check.operations;
    match (check.costs.len(), check.slight) {
        (0, 0) => format!("{total} operations cost what they did"),
        (0, slight) => format!("{total} operations cost what they did, but for {slight} slight differences"),
        (count, slight) => {
            let costs = if count == 1 { "costs" } else { "cost" };
            let slightly = if slight > 0 { format!(", {slight} slightly") } else { String::new() };
            format!("{count} of {total} operations {costs} more or less{slightly}")
        }
    }
}

/// How a case ended: `crash: BUG in f`.
pub(super) fn seen(seen: &Seen) -> String {
    let Some(outcome) = seen.outcome else { return "well".to_owned() };
    let reason = safe_line(&seen.reason);
    if reason.is_empty() { outcome.name().to_owned() } else { format!("{}: {reason}", outcome.name()) }
}

/// What a change is called in output.
pub(super) fn name(change: Change) -> &'static str {
    match change {
        Change::Worse => "worse",
        Change::Different => "different",
        Change::Undecided => "undecided",
        Change::Better => "better",
    }
}

/// What came of a build, in a word or two.
pub(super) fn built(commit: &Commit) -> String {
    match &commit.build {
        Built::NotTried => "not built".to_owned(),
        Built::Failed { .. } => "does not build".to_owned(),
        Built::Kernel { new_warnings, .. } if new_warnings.is_empty() => "builds".to_owned(),
        Built::Kernel { new_warnings, .. } => format!("builds, {}", warnings(new_warnings.len())),
    }
}

/// What came of builds with other configurations: `with allmodconfig: 2/3 does not build`.
pub(super) fn also(also: &AlsoBuilt) -> String {
    let total = also.patches.len();
    let bad = also.patches.iter().enumerate().filter(|(_, patch)| !complaints(patch).is_empty());
    let bad: Vec<String> =
        bad.map(|(index, patch)| format!("{}/{total} {}", index + 1, built(patch))).collect();
    let base = also.base.build.locator().is_none().then(|| format!("base {}", built(&also.base)));
    let said: Vec<String> = base.into_iter().chain(bad).collect();
    let said = if said.is_empty() { "all build".to_owned() } else { said.join("; ") };
    format!("with {}: {said}", safe_line(&also.configurations.join(",")))
}

/// What compilers say about a commit.
pub(super) fn complaints(commit: &Commit) -> Vec<String> {
    match &commit.build {
        Built::Failed { cause } => vec![safe_line(cause)],
        Built::Kernel { new_warnings, .. } => new_warnings.iter().map(|warning| safe_line(warning)).collect(),
        Built::NotTried => Vec::new(),
    }
}

/// The functions that made a difference, with their instructions before and now: `__x64_sys_getppid: 120 -> 1121`.
pub(super) fn functions(change: &CostChange) -> Vec<String> {
    let count =
        |instructions: &Option<u64>| instructions.map_or_else(|| "-".to_owned(), |count| count.to_string());
    change
        .functions
        .iter()
        .map(|(name, before, after)| format!("{}: {} -> {}", safe_line(name), count(before), count(after)))
        .collect()
}

/// `smoke: 60 cases on both kernels, 1 worse, 2 failed before`
pub(super) fn counted(tests: &Tests) -> String {
    let count = |wanted: Change| tests.changes.iter().filter(|change| change.change == wanted).count();
    let changes = [Change::Worse, Change::Different, Change::Undecided, Change::Better]
        .map(|change| (count(change), name(change)));
    let failed = [(tests.failed_before, "failed before and fail now")];
    let counted = changes.iter().chain(&failed).filter(|(count, _)| *count > 0);
    let counted: String = counted.map(|(count, name)| format!(", {count} {name}")).collect();
    let (suite, machine) = (safe_line(&tests.suite), safe_line(&tests.machine));
    format!("{suite} on {machine}: {} on both kernels{counted}", cases(tests.cases))
}

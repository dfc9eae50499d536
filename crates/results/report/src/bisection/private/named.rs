//! The paths of the host that a request names.

use bisect::{AxisRequest, BisectRequest};
use lab::request::Selection;
use serde_json::Value;

/// Folders that are alike on all hosts.
const COMMON: [&str; 10] = [
    "/dev/",
    "/proc/",
    "/sys/",
    "/boot/",
    "/bin/",
    "/sbin/",
    "/lib/",
    "/usr/bin/",
    "/usr/sbin/",
    "/usr/lib/",
];

/// What separates a path from what is before and behind it in an option or a parameter.
const SEPARATORS: &str = "=,:'\"";

/// All of them, as they were typed.
pub(super) fn paths(request: &BisectRequest) -> Vec<String> {
    let mut paths = places(request);
    let mut texts = Vec::new();
    // What cannot be written as a document was not read from a command line.
    collect(&serde_json::to_value(request).unwrap_or_default(), &mut texts);
    paths.extend(texts.iter().flat_map(|text| in_text(text)));
    paths.retain(|path| path.contains('/') && !COMMON.iter().any(|folder| path.starts_with(folder)));
    paths
}

/// What is a path wherever it leads.
fn places(request: &BisectRequest) -> Vec<String> {
    let text = |path: &std::path::Path| path.display().to_string();
    let mut places = request.build.configurations.clone();
    match &request.axis {
        AxisRequest::Commits { tree, .. } => places.push(text(tree)),
        AxisRequest::Series { mail, tree, .. } => places.extend([text(mail), text(tree)]),
        AxisRequest::Parameters { kernel, .. } => places.extend(in_locator(&kernel.to_string())),
        AxisRequest::Options { kernel, first, last } => {
            places.extend(in_locator(&kernel.to_string()));
            places.extend(first.iter().chain(last).cloned());
        }
        AxisRequest::Packages { .. } => {}
    }
    if let Some(experiment) = request.question.experiment() {
        places.push(text(&experiment.folder));
    }
    match &request.cases {
        Some(Selection::Program(program)) => places.push(text(&program.path)),
        Some(Selection::Suite { suite: place, .. } | Selection::Selftests { place, .. }) => {
            places.push(place.clone());
        }
        None => {}
    }
    places
}

fn in_locator(locator: &str) -> Option<String> {
    match locator.strip_prefix("git:") {
        Some(rest) => rest.rsplit_once('@').map(|(tree, _)| tree.to_owned()),
        None => Some(locator.to_owned()),
    }
}

fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| collect(value, texts)),
        Value::Object(values) => values.values().for_each(|value| collect(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The paths in a text: each to its next separator, and, as it may hold some, to the end.
fn in_text(text: &str) -> impl Iterator<Item = String> {
    let is_separator = |c: char| c.is_whitespace() || SEPARATORS.contains(c);
    let behind = text.match_indices(is_separator).map(|(at, separator)| at + separator.len());
    let rests = std::iter::once(0).chain(behind).map(|at| &text[at..]);
    let is_path = |rest: &&str| ["/", "~/", "./", "../"].iter().any(|start| rest.starts_with(start));
    let words = move |rest: &str| [rest, rest.split(is_separator).next().unwrap_or(rest)].map(str::to_owned);
    rests.filter(is_path).flat_map(words)
}

//! What could not be compared.

use measure::NotMeasured;
use verdict::Missing;

use crate::safe::safe_line;

/// Metrics that are missing for the same reason.
pub(super) struct Group<'a> {
    /// Where, and why.
    pub(super) reason: String,
    /// Their names.
    pub(super) metrics: Vec<&'a str>,
}

/// In the order of their first metric.
pub(super) fn groups(missing: &[Missing]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for one in missing {
        let reason = reason(one);
        match groups.iter_mut().find(|group| group.reason == reason) {
            Some(group) => group.metrics.push(&one.metric),
            None => groups.push(Group { reason, metrics: vec![&one.metric] }),
        }
    }
    groups
}

fn reason(missing: &Missing) -> String {
    let text = |side: &NotMeasured| format!("{}: {}", side.outcome.name(), safe_line(&side.reason));
    match (&missing.base, &missing.new) {
        (Some(base), Some(new)) if base == new => format!("on both, {}", text(base)),
        (Some(base), Some(new)) => format!("on base, {}; on new, {}", text(base), text(new)),
        (Some(base), None) => format!("on base, {}", text(base)),
        (None, Some(new)) => format!("on new, {}", text(new)),
        (None, None) => "for no known reason".to_owned(),
    }
}

/// Names in one line, the first ones if there are more than `most`.
pub(super) fn names(metrics: &[&str], most: usize) -> String {
    let shown: Vec<String> = metrics.iter().take(most).map(|name| safe_line(name)).collect();
    let more = metrics.len().saturating_sub(most);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", shown.join(", "))
}

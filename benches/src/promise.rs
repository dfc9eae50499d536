//! What is promised, and whether it is kept.

use std::fmt::Write;

use crate::race::Racer;

/// A figure with its limit.
pub(crate) struct Promise {
    what: String,
    value: f64,
    unit: &'static str,
    limit: Option<f64>,
}

impl Promise {
    /// The best of `racer` against the best of `floor`.
    pub(crate) fn ratio(racer: &Racer<'_>, floor: &Racer<'_>, limit: Option<f64>) -> Self {
        let floor_name = floor.name.split(':').next().unwrap_or(floor.name);
        let what = format!("{} / {floor_name}", racer.name);
        Self { what, value: racer.best() / floor.best(), unit: "", limit }
    }

    /// A figure without a unit.
    pub(crate) fn plain(what: &str, value: f64, limit: Option<f64>) -> Self {
        Self { what: what.to_string(), value, unit: "", limit }
    }

    /// A time in seconds.
    pub(crate) fn seconds(racer: &Racer<'_>, limit: f64) -> Self {
        Self { what: racer.name.to_string(), value: racer.best(), unit: " s", limit: Some(limit) }
    }

    /// A size in MiB.
    pub(crate) fn size(what: &str, mib: f64, limit: Option<f64>) -> Self {
        Self { what: what.to_string(), value: mib, unit: " MiB", limit }
    }

    /// Whether the figure is within its limit.
    pub(crate) fn is_kept(&self) -> bool {
        self.limit.is_none_or(|limit| self.value <= limit)
    }
}

/// The figures, as Markdown.
pub(crate) fn table(promises: &[Promise]) -> String {
    let mut text = String::from("| promise | measured | at most | |\n|---|---|---|---|\n");
    for promise in promises {
        let Promise { what, value, unit, limit } = promise;
        let limit_text = limit.map(|limit| format!("{limit}{unit}")).unwrap_or_default();
        let word = match (limit, promise.is_kept()) {
            (None, _) => "",
            (Some(_), true) => "kept",
            (Some(_), false) => "BROKEN",
        };
        // Writing to a String does not fail.
        let _ = writeln!(text, "| {what} | {value:.2}{unit} | {limit_text} | {word} |");
    }
    text
}

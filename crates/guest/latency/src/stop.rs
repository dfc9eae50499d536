//! Why nothing is measured.

use protocol::{Report, ReportKind};

/// The machine or the user lacks something.
pub(crate) fn skip(text: impl Into<String>) -> Report {
    Report { kind: ReportKind::Skip, text: text.into() }
}

/// The instrument's own part failed.
pub(crate) fn broken(text: impl Into<String>) -> Report {
    Report { kind: ReportKind::Broken, text: text.into() }
}

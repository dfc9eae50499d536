//! What a script records.

use judge::Outcome;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A value of a metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The name of a metric that the experiment declares.
    pub name: String,
    /// The value, in the unit of the metric.
    pub value: f64,
}

/// Something that a script records or that happens to it.
///
/// Texts are as the script has them, often from a guest: whoever shows them escapes them, as [`crate::show`] does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A step begins.
    Started {
        /// Its name.
        step: String,
        /// It was completed by an earlier run: what follows up to its end was recorded then.
        resumed: bool,
    },
    /// A figure.
    Metric(Figure),
    /// Something that was found.
    Finding {
        /// In words.
        text: String,
        /// With values.
        #[serde(default)]
        values: Map<String, Value>,
    },
    /// A table.
    Table {
        /// Its name.
        name: String,
        /// The names of its columns.
        columns: Vec<String>,
        /// Its rows, each as long as the columns.
        rows: Vec<Vec<Value>>,
    },
    /// A remark.
    Note {
        /// In words.
        text: String,
    },
    /// A step has ended.
    Ended {
        /// Its name.
        step: String,
        /// How.
        outcome: Outcome,
        /// Why, if not well.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

/// Somebody who is told of events.
pub trait Listener {
    /// Something was recorded.
    fn event(&self, event: &Event);
}

//! What tells the Kernels apart.

use lab::measure::Subject;
use verdict::Comparison;

use crate::html::{Markup, short};

/// A property of a Kernel: its name, and where it is.
type Property = (&'static str, fn(&Subject) -> &str);

const PROPERTIES: [Property; 7] = [
    ("release", |subject| &subject.release),
    ("locator", |subject| &subject.locator),
    ("exactly", |subject| &subject.kernel),
    ("from", |subject| &subject.provenance),
    ("identity", |subject| &subject.identity),
    ("machine", |subject| &subject.machine),
    ("parameters", |subject| &subject.parameters),
];

/// A table with a column for each Kernel; what all have in common stands there once.
pub(super) fn subjects(markup: &mut Markup, comparison: &Comparison) {
    let others = comparison.others.iter().map(|against| &against.subject);
    let subjects: Vec<&Subject> = std::iter::once(&comparison.base).chain(others).collect();
    markup.element("div", &[("class", &"wide")], |markup| {
        markup.element("table", &[("class", &"subjects")], |markup| {
            markup.element("thead", &[], |markup| {
                markup.element("tr", &[], |markup| {
                    markup.plain("td", "");
                    for (index, subject) in subjects.iter().enumerate() {
                        let role = if index == 0 { "base" } else { "new" };
                        markup.leaf("th", &[("scope", &"col")], format!("{role}: {}", short(&subject.label)));
                    }
                });
            });
            markup.element("tbody", &[], |markup| {
                for property in PROPERTIES {
                    row(markup, &subjects, property);
                }
            });
        });
    });
    markup.line();
}

fn row(markup: &mut Markup, subjects: &[&Subject], (name, of): Property) {
    let values: Vec<&str> = subjects.iter().map(|subject| of(subject)).collect();
    let is_common = values.iter().all(|value| *value == values[0]);
    if is_common && values[0].is_empty() {
        return;
    }
    markup.element("tr", &[], |markup| {
        markup.leaf("th", &[("scope", &"row")], name);
        if is_common {
            markup.leaf("td", &[("colspan", &values.len())], values[0]);
        } else {
            values.iter().for_each(|value| markup.plain("td", value));
        }
    });
}

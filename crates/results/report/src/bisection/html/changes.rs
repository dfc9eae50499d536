//! What packages say is new in them.

use bisect::Changes;

use super::super::changes::{Told, entry, total};
use crate::html::Markup;

/// Changes of one package at most; Debian's 6.1.190-1 has 2,057.
const CHANGES: usize = 2_500;

/// What is told of the changes of a package, in a row of its facts.
pub(super) fn row(markup: &mut Markup, told: &Told) {
    markup.element("tr", &[], |markup| {
        markup.leaf("th", &[("scope", &"row")], "changes");
        markup.element("td", &[], |markup| {
            markup.text(&told.head);
            list(markup, told.entries.iter());
        });
    });
}

/// All of them, folded.
pub(super) fn all(markup: &mut Markup, changes: &Changes) {
    let shown = changes.entries.len().min(CHANGES);
    markup.element("details", &[], |markup| {
        markup.plain("summary", format!("All changes: {}", total(changes)));
        list(markup, changes.entries.iter().take(shown).map(|text| entry(text)));
        let more = changes.count() - shown;
        if more > 0 {
            markup.leaf("p", &[("class", &"note")], format!("{more} more"));
        }
    });
    markup.line();
}

fn list(markup: &mut Markup, entries: impl ExactSizeIterator<Item = impl std::fmt::Display>) {
    if entries.len() == 0 {
        return;
    }
    markup.element("ul", &[], |markup| {
        for entry in entries {
            markup.plain("li", entry);
            markup.line();
        }
    });
}

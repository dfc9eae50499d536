//! What was found, what was tested, what proves it.

use bisect::Bisection;

use super::super::changes::told;
use super::super::sides::mark;
use super::super::statement;
use super::super::wanted::wanted;
use super::{FILES, changes};
use crate::html::Markup;

/// States of one page at most.
const STATES: usize = 500;

/// A table for each candidate that did it, or may have.
pub(super) fn candidates(markup: &mut Markup, bisection: &Bisection) {
    let (candidates, rest) = statement::listed(bisection);
    let words = wanted(bisection);
    for candidate in candidates {
        let facts = statement::facts(bisection.kind, candidate, FILES);
        let told = told(&words, &candidate.changes, candidates.len());
        wide(markup, "facts", |markup| {
            markup.element("tbody", &[], |markup| {
                for (word, text) in facts {
                    markup.element("tr", &[], |markup| {
                        markup.leaf("th", &[("scope", &"row")], word);
                        markup.plain("td", text);
                    });
                }
                told.iter().for_each(|told| changes::row(markup, told));
            });
        });
        if told.is_some_and(|told| told.more > 0) {
            changes::all(markup, &candidate.changes);
        }
    }
    if let Some(text) = rest {
        markup.leaf("p", &[("class", &"note")], text);
    }
}

/// All states that were tested.
pub(super) fn states(markup: &mut Markup, bisection: &Bisection) {
    for text in statement::steps(bisection) {
        markup.plain("p", text);
    }
    wide(markup, "states", |markup| {
        heads(markup, &["state", "verdict", "seen"]);
        markup.element("tbody", &[], |markup| {
            for state in bisection.states.iter().take(STATES) {
                let word = mark(bisection, state).word();
                markup.element("tr", &[], |markup| {
                    markup.leaf("th", &[("scope", &"row")], statement::place(state));
                    markup.leaf("td", &[("class", &word)], word);
                    markup.plain("td", statement::seen(bisection, state));
                });
            }
        });
    });
    let more = bisection.states.len().saturating_sub(STATES);
    if more > 0 {
        markup.leaf("p", &[("class", &"note")], format!("{more} more"));
    }
}

/// What was done to be sure.
pub(super) fn proof(markup: &mut Markup, bisection: &Bisection) {
    for text in statement::sureness(bisection) {
        markup.plain("p", text);
    }
    if bisection.proof.is_empty() {
        return;
    }
    wide(markup, "proof", |markup| {
        heads(markup, &["check", "expected", "seen", "result"]);
        markup.element("tbody", &[], |markup| {
            for check in &bisection.proof {
                let class = match (&check.state, check.holds) {
                    (None, _) => "untestable",
                    (_, true) => "good",
                    (_, false) => "bad",
                };
                let [what, expected, seen, result] = statement::check(bisection, check);
                markup.element("tr", &[], |markup| {
                    markup.leaf("th", &[("scope", &"row")], what);
                    markup.plain("td", expected);
                    markup.plain("td", seen);
                    markup.leaf("td", &[("class", &class)], result);
                });
            }
        });
    });
}

/// A table that scrolls by itself where it is too wide.
pub(super) fn wide(markup: &mut Markup, class: &'static str, content: impl FnOnce(&mut Markup)) {
    markup.element("div", &[("class", &"wide")], |markup| {
        markup.element("table", &[("class", &class)], content);
    });
    markup.line();
}

/// The heads of a table.
pub(super) fn heads(markup: &mut Markup, heads: &[&str]) {
    markup.element("thead", &[], |markup| {
        markup.element("tr", &[], |markup| {
            heads.iter().for_each(|head| markup.leaf("th", &[("scope", &"col")], head));
        });
    });
}

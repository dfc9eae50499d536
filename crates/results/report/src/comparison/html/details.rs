//! Each metric by itself: its chart, its functions, its flame graph.

use verdict::{Against, Change, Comparison, Row, Side, Verdict, Why};

use super::anchor;
use super::chart::{chart, difference_text};
use super::flame::flame;
use super::scale::is_worth_showing;
use crate::comparison::shown::is_event;
use crate::comparison::{functions, name, statement};
use crate::figures::{count, whole};
use crate::html::{Markup, short};

/// Bytes of a page beyond which it gets no further charts: browsers on telephones give up at some size.
const PAGE: usize = 4 << 20;

/// Functions of one metric.
const FUNCTIONS: usize = 60;

/// Whether there is more to say than the table does.
pub(super) fn has_details(row: &Row) -> bool {
    row.why.is_some() || (is_worth_showing(row) && !(is_event(row) && row.verdict == Verdict::Same))
}

/// An article for each metric that is not the same, and below them, folded, for those that are and yet have more
/// than one figure.
pub(super) fn details(markup: &mut Markup, comparison: &Comparison, (index, against): (usize, &Against)) {
    let rows = against.rows.iter().enumerate().filter(|(_, row)| has_details(row));
    let (same, other): (Vec<_>, Vec<_>) = rows.partition(|(_, row)| row.verdict == Verdict::Same);
    for (at, row) in other {
        article(markup, row, &anchor(index, at), comparison);
    }
    if !same.is_empty() {
        markup.element("details", &[], |markup| {
            markup.plain("summary", format!("Charts of those that are the same ({})", same.len()));
            for (at, row) in same {
                article(markup, row, &anchor(index, at), comparison);
            }
        });
    }
}

fn article(markup: &mut Markup, row: &Row, anchor: &str, comparison: &Comparison) {
    markup.element("article", &[("id", &anchor)], |markup| {
        markup.element("h3", &[], |markup| {
            markup.text(format!("{} ", short(&row.metric)));
            markup.leaf("span", &[("class", &format!("verdict {}", name(row.verdict)))], {
                format!("{} {}", difference_text(row), statement::verdict(row, comparison.noise.as_ref()))
            });
        });
        markup.plain("p", &row.about);
        if markup.size() > PAGE {
            markup.leaf(
                "p",
                &[("class", &"note")],
                "no chart: the page would be too large; choose with --metric",
            );
            return;
        }
        if is_worth_showing(row) {
            chart(markup, row, comparison.kind);
        }
        apart(markup, row);
        if let Some(why) = &row.why {
            reasons(markup, why);
        }
    });
    markup.line();
}

/// Where the instructions were executed.
fn apart(markup: &mut Markup, row: &Row) {
    let text = |side: &Side| {
        side.apart.map(|(user, kernel)| format!("{} user, {} kernel", count(user), count(kernel)))
    };
    if let (Some(base), Some(new)) = (text(&row.base), text(&row.new)) {
        markup.plain("p", format!("base {base}; new {new}"));
    }
}

fn reasons(markup: &mut Markup, why: &Why) {
    markup.element("div", &[("class", &"wide")], |markup| {
        markup.element("table", &[("class", &"functions sortable")], |markup| {
            markup.element("thead", &[], |markup| {
                markup.element("tr", &[], |markup| {
                    for head in ["change", "base", "new"] {
                        markup.leaf("th", &[("scope", &"col"), ("class", &"figure")], head);
                    }
                    markup.leaf("th", &[("scope", &"col")], "function");
                });
            });
            markup.element("tbody", &[], |markup| {
                for change in why.functions.iter().take(FUNCTIONS) {
                    markup.element("tr", &[], |markup| function(markup, change));
                }
            });
        });
    });
    let more = why.functions.len().saturating_sub(FUNCTIONS);
    let more = if more > 0 { format!(" ({more} more functions changed)") } else { String::new() };
    markup.plain("p", format!("{}{more}", functions::sum(why)));
    if markup.size() <= PAGE {
        flame(markup, &why.stacks);
    }
}

fn function(markup: &mut Markup, change: &Change) {
    let difference = functions::difference(change);
    markup.leaf("td", &[("class", &"figure"), ("data-v", &difference)], whole(difference));
    for side in [change.base, change.new] {
        let text = side.map_or_else(|| "-".to_owned(), count);
        markup.leaf("td", &[("class", &"figure"), ("data-v", &side.unwrap_or(0))], text);
    }
    let word = match (change.base, change.new) {
        (None, _) => " (new)",
        (_, None) => " (gone)",
        _ => "",
    };
    markup.element("td", &[], |markup| {
        markup.plain("code", short(&change.function));
        markup.text(word);
    });
}

//! Functions behind many differences.

use verdict::Against;

use crate::comparison::recurring::{HEAD, LINES, TITLE, recurring};
use crate::html::{Markup, short};

/// A table of the first ones, if there are any.
pub(super) fn recurring_functions(markup: &mut Markup, against: &Against) {
    let all = recurring(against);
    if all.is_empty() {
        return;
    }
    markup.plain("h3", TITLE);
    markup.element("div", &[("class", &"wide")], |markup| {
        markup.element("table", &[("class", &"functions")], |markup| {
            markup.element("thead", &[], |markup| {
                markup.element("tr", &[], |markup| {
                    for (at, head) in HEAD.iter().enumerate() {
                        let head = head.to_lowercase();
                        markup.leaf("th", &[("scope", &"col"), ("class", &class(at))], head);
                    }
                });
            });
            markup.element("tbody", &[], |markup| {
                for one in all.iter().take(LINES) {
                    markup.element("tr", &[], |markup| {
                        for (at, text) in one.texts().iter().enumerate() {
                            markup.leaf("td", &[("class", &class(at))], short(text));
                        }
                    });
                    markup.line();
                }
            });
        });
    });
}

/// Names stand at the ends, figures between them.
fn class(column: usize) -> &'static str {
    if column == 0 || column + 1 == HEAD.len() { "name" } else { "figure" }
}

//! What all pages have in common: no script is needed to read one, nothing is fetched.

use std::fmt::Display;

use judge::Outcome;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::columns::fit;
use crate::safe::{safe_line, visible};

/// Characters of one text or attribute at most: a name that somebody made up must not fill the page.
const TEXT_MAX: usize = 2048;

/// The style of all pages.
pub const STYLE: &str = include_str!("html/style.css");

/// What makes tables of all pages sort and search.
pub const SCRIPT: &str = include_str!("html/page.js");

/// What a page says, without the frame around it.
#[derive(Debug, Clone)]
pub struct Page {
    /// In one line.
    pub title: String,
    /// All below the title of the window.
    pub body: Markup,
}

impl Page {
    /// One file that needs no other.
    #[must_use]
    pub fn into_file(self) -> String {
        page(&self.title, &self.body)
    }
}

/// A whole page.
pub(crate) fn page(title: &str, body: &Markup) -> String {
    page_with(title, body, Extra::default())
}

/// What only some pages need.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Extra {
    pub(crate) style: &'static str,
    pub(crate) script: &'static str,
}

/// A whole page with a style and a script of its own.
pub(crate) fn page_with(title: &str, body: &Markup, extra: Extra) -> String {
    let head = html! { style { (PreEscaped(STYLE)) (PreEscaped(extra.style)) } };
    let body = html! {
        (body)
        script { (PreEscaped(SCRIPT)) }
        @if !extra.script.is_empty() { script { (PreEscaped(extra.script)) } }
    };
    document(title, &head, &body)
}

/// A document with what else is in its head. Whatever came in without [`text`], no control character gets out.
#[must_use]
pub fn document(title: &str, head: &Markup, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE) "\n"
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (text(title)) }
                (head)
            }
            "\n"
            body { (body) }
        }
        "\n"
    };
    page.into_string().chars().map(|c| if c == '\n' { c } else { visible(c) }).collect()
}

/// An Outcome in its colour.
#[must_use]
pub fn outcome(outcome: Outcome) -> Markup {
    html! { span class={ "outcome " (outcome.name()) } { (outcome.name()) } }
}

/// Text that somebody else may have written: in one line, of bounded length. maud escapes it.
#[must_use]
pub fn text(text: impl Display) -> String {
    let text = text.to_string();
    let mut rest = text.chars();
    let head: String = rest.by_ref().take(TEXT_MAX).collect();
    let end = if rest.next().is_some() { "…" } else { "" };
    format!("{}{end}", safe_line(&head))
}

/// Text in which options stay in one line; a browser would break them behind their hyphens.
pub(crate) fn prose(prose: &str) -> Markup {
    let prose = text(prose);
    let mut pieces = Vec::new();
    let mut rest = prose.as_str();
    while let Some(at) = rest.find("--") {
        let end = rest[at..].find([' ', ')']).map_or(rest.len(), |length| at + length);
        pieces.push((&rest[..at], &rest[at..end]));
        rest = &rest[end..];
    }
    html! {
        @for (before, option) in pieces { (before) span.option { (option) } }
        (rest)
    }
}

/// A command that can be typed.
pub(crate) fn command(text: &str) -> Markup {
    html! { p { code.command { (prose(text)) } } }
}

/// What is known of a subject, a line each; what is empty is left out.
#[must_use]
pub fn facts(facts: &[(&str, String)]) -> Markup {
    html! {
        table.facts {
            tbody {
                @for (label, fact) in facts.iter().filter(|(_, fact)| !fact.is_empty()) {
                    tr { th scope="row" { (label) } td { (prose(fact)) } }
                }
            }
        }
    }
}

/// A part of a page below a heading of its own.
#[must_use]
pub fn section(title: &str, content: &Markup) -> Markup {
    html! {
        section { h2 { (title) } (content) }
        "\n"
    }
}

/// A name in a heading.
pub(crate) fn short(name: &str) -> String {
    fit(&safe_line(name), 120)
}

/// A place or a length in percent of the whole.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Percent(pub(crate) f64);

impl Display for Percent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.2}%", self.0)
    }
}

/// A place in a chart: from the left in percent, from the top in pixels.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) x: Percent,
    pub(crate) y: u32,
}

/// A straight line in a chart.
pub(crate) fn line(class: &str, from: Place, to: Place) -> Markup {
    html! { line class=(class) x1=(from.x) y1=(from.y) x2=(to.x) y2=(to.y) {} }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::safe::is_treacherous;

    fn paragraph(content: &str) -> String {
        html! { p title=(text(content)) { (text(content)) } }.into_string()
    }

    #[test]
    fn text_cannot_leave_its_place() {
        assert_eq!(
            paragraph("<script>\"'&\x1b[2J\x07\u{202e}"),
            "<p title=\"&lt;script&gt;&quot;'&amp;␇\u{fffd}\">&lt;script&gt;&quot;'&amp;␇\u{fffd}</p>"
        );
        assert!(paragraph(&"x".repeat(10_000)).len() < 5_000);
    }

    #[test]
    fn options_are_kept_in_one_line() {
        let expected = "a <span class=\"option\">--why</span> (<span class=\"option\">-\u{2d}x</span>) b";
        assert_eq!(prose("a --why (--x) b").into_string(), expected);
        assert_eq!(prose("a - b").into_string(), "a - b");
    }

    proptest! {
        #[test]
        fn nothing_of_a_text_is_markup(text in "[<>&\"'a/!\\- \n\u{0}]{0,40}") {
            let page = paragraph(&text);
            prop_assert_eq!(page.matches('<').count(), 2);
            prop_assert_eq!(page.matches('>').count(), 2);
            prop_assert_eq!(page.matches('"').count(), 2);
            prop_assert!(page.chars().all(|c| !c.is_control()));
        }

        #[test]
        fn no_control_character_leaves_a_page(text in "[<a\u{1b}\\[2Jm\u{9b}\u{0}\u{202e}\r\n]{0,40}") {
            let page = page(&text, &html! { p { (text) } });
            let harmless = |c: char| c == '\n' || !c.is_control() && !is_treacherous(c);
            prop_assert!(page.chars().all(harmless), "{page}");
        }
    }
}

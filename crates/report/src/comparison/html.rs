//! A comparison as one file for a browser: no script is needed to read it, nothing is fetched.

mod chart;
mod details;
mod flame;
mod markup;
mod recurring;
mod rows;
mod scale;
mod subjects;

use std::fmt::Display;
use std::io::{self, Write};

use lab::measure::Kind;
use verdict::{Against, Comparison};

use super::{missing, statement};
use crate::columns::fit;
use crate::safe::safe_line;
use crate::words::named;
use markup::Markup;

/// Writes the page. `command` is what the user typed.
///
/// # Errors
///
/// When `out` does not take it.
pub fn html(comparison: &Comparison, command: &str, mut out: impl Write) -> io::Result<()> {
    out.write_all(page(comparison, command).as_bytes())?;
    out.flush()
}

fn page(comparison: &Comparison, command: &str) -> String {
    let mut markup = Markup::default();
    markup.own("<!doctype html>\n");
    markup.element("html", &[("lang", &"en")], |markup| {
        markup.element("head", &[], |markup| head(markup, comparison));
        markup.line();
        markup.element("body", &[], |markup| {
            body(markup, comparison, command);
            markup.element("script", &[], |markup| markup.own(include_str!("html/page.js")));
        });
    });
    markup.line();
    markup.finish()
}

fn head(markup: &mut Markup, comparison: &Comparison) {
    let width: [(&str, &dyn Display); 2] =
        [("name", &"viewport"), ("content", &"width=device-width, initial-scale=1")];
    markup.void("meta", &[("charset", &"utf-8")]);
    markup.void("meta", &width);
    markup.void("meta", &[("name", &"color-scheme"), ("content", &"light dark")]);
    markup.plain("title", title(comparison));
    markup.element("style", &[], |markup| markup.own(include_str!("html/style.css")));
}

/// What is compared with what.
fn title(comparison: &Comparison) -> String {
    let others: Vec<String> = comparison.others.iter().map(|against| short(&against.subject.label)).collect();
    format!("{} against {}", others.join(", "), short(&comparison.base.label))
}

fn body(markup: &mut Markup, comparison: &Comparison, command: &str) {
    markup.element("header", &[], |markup| {
        markup.plain("h1", title(comparison));
        markup.element("p", &[], |markup| {
            markup.element("code", &[("class", &"command")], |markup| prose(markup, command));
        });
        markup.plain("p", statement::kind(comparison));
        markup.element("p", &[("class", &"honesty")], |markup| {
            prose(markup, statement::honesty(comparison.kind));
        });
        if let Some(noise) = statement::noise(comparison) {
            markup.plain("p", noise);
        }
        for note in &comparison.notes {
            markup.leaf("p", &[("class", &"note")], format!("note: {note}"));
        }
        subjects::subjects(markup, comparison);
    });
    markup.line();
    markup.element("main", &[], |markup| {
        for (index, against) in comparison.others.iter().enumerate() {
            section(markup, comparison, against, index);
        }
    });
}

/// Text in which options stay in one line; a browser would break them behind their hyphens.
fn prose(markup: &mut Markup, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.find("--") {
        let end = rest[at..].find([' ', ')']).map_or(rest.len(), |length| at + length);
        markup.text(&rest[..at]);
        markup.leaf("span", &[("class", &"option")], &rest[at..end]);
        rest = &rest[end..];
    }
    markup.text(rest);
}

fn section(markup: &mut Markup, comparison: &Comparison, against: &Against, index: usize) {
    markup.element("section", &[], |markup| {
        if comparison.others.len() > 1 {
            markup.plain("h2", short(&named(&against.subject)));
        }
        markup.leaf("p", &[("class", &"totals")], statement::totals(against));
        recurring::recurring_functions(markup, against);
        if !against.rows.is_empty() {
            rows::rows(markup, comparison, (index, against));
        }
        for group in missing::groups(&against.missing) {
            markup.element("p", &[], |markup| {
                markup.plain("b", format!("not measured {}: ", group.reason));
                markup.text(missing::names(&group.metrics, usize::MAX));
            });
        }
        details::details(markup, comparison, (index, against));
    });
    markup.line();
}

/// A name in a heading.
fn short(name: &str) -> String {
    fit(&safe_line(name), 120)
}

/// Where the details of a metric are.
fn anchor(section: usize, row: usize) -> String {
    format!("k{section}-m{row}")
}

/// What says a kind's unit in the head of a column of figures.
fn unit(kind: Kind) -> &'static str {
    match kind {
        Kind::Exact => "instructions",
        Kind::Timed => "time",
    }
}

//! What all pages have in common: no script is needed to read one, nothing is fetched.

mod markup;

use std::fmt::Display;

use crate::columns::fit;
use crate::safe::safe_line;

pub(crate) use markup::{Markup, Percent};

/// A whole page with what `body` puts into it.
pub(crate) fn page(title: &str, body: impl FnOnce(&mut Markup)) -> String {
    let mut markup = Markup::default();
    markup.own("<!doctype html>\n");
    markup.element("html", &[("lang", &"en")], |markup| {
        markup.element("head", &[], |markup| head(markup, title));
        markup.line();
        markup.element("body", &[], |markup| {
            body(markup);
            markup.element("script", &[], |markup| markup.own(include_str!("html/page.js")));
        });
    });
    markup.line();
    markup.finish()
}

fn head(markup: &mut Markup, title: &str) {
    let width: [(&str, &dyn Display); 2] =
        [("name", &"viewport"), ("content", &"width=device-width, initial-scale=1")];
    markup.void("meta", &[("charset", &"utf-8")]);
    markup.void("meta", &width);
    markup.void("meta", &[("name", &"color-scheme"), ("content", &"light dark")]);
    markup.plain("title", title);
    markup.element("style", &[], |markup| markup.own(include_str!("html/style.css")));
}

/// Text in which options stay in one line; a browser would break them behind their hyphens.
pub(crate) fn prose(markup: &mut Markup, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.find("--") {
        let end = rest[at..].find([' ', ')']).map_or(rest.len(), |length| at + length);
        markup.text(&rest[..at]);
        markup.leaf("span", &[("class", &"option")], &rest[at..end]);
        rest = &rest[end..];
    }
    markup.text(rest);
}

/// A command that can be typed.
pub(crate) fn command(markup: &mut Markup, text: &str) {
    markup.element("p", &[], |markup| {
        markup.element("code", &[("class", &"command")], |markup| prose(markup, text));
    });
}

/// A name in a heading.
pub(crate) fn short(name: &str) -> String {
    fit(&safe_line(name), 120)
}

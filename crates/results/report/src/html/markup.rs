//! HTML and SVG under construction.

use std::fmt::Display;

use crate::safe::safe_line;

/// Characters of one text or attribute at most: a name that somebody made up must not fill the page.
const TEXT_MAX: usize = 2048;

/// Attributes with their values.
pub(crate) type Attributes<'a> = &'a [(&'static str, &'a dyn Display)];

/// A document that is written from its beginning to its end. Whatever is put in as text or attribute is escaped,
/// and every element is closed.
#[derive(Debug, Default)]
pub(crate) struct Markup {
    text: String,
}

impl Markup {
    /// An element with what `content` puts into it.
    pub(crate) fn element(
        &mut self,
        name: &'static str,
        attributes: Attributes<'_>,
        content: impl FnOnce(&mut Self),
    ) {
        self.open(name, attributes);
        content(self);
        self.text += "</";
        self.text += name;
        self.text.push('>');
    }

    /// An element with nothing but text.
    pub(crate) fn leaf(&mut self, name: &'static str, attributes: Attributes<'_>, text: impl Display) {
        self.element(name, attributes, |markup| markup.text(text));
    }

    /// An element without attributes and with nothing but text.
    pub(crate) fn plain(&mut self, name: &'static str, text: impl Display) {
        self.leaf(name, &[], text);
    }

    /// An element that HTML knows to have no end.
    pub(crate) fn void(&mut self, name: &'static str, attributes: Attributes<'_>) {
        self.open(name, attributes);
    }

    /// Text.
    pub(crate) fn text(&mut self, text: impl Display) {
        let text = text.to_string();
        self.escaped(&text);
    }

    /// A line break of the source, for whoever reads that.
    pub(crate) fn line(&mut self) {
        self.text.push('\n');
    }

    /// Markup of kiln's own.
    pub(crate) fn own(&mut self, markup: &'static str) {
        self.text += markup;
    }

    /// Its size in bytes so far.
    pub(crate) fn size(&self) -> usize {
        self.text.len()
    }

    /// The document.
    pub(crate) fn finish(self) -> String {
        self.text
    }

    fn open(&mut self, name: &'static str, attributes: Attributes<'_>) {
        self.text.push('<');
        self.text += name;
        for (name, value) in attributes {
            let value = value.to_string();
            self.text.push(' ');
            self.text += name;
            self.text += "=\"";
            self.escaped(&value);
            self.text.push('"');
        }
        self.text.push('>');
    }

    /// Escapes for text and attributes alike: whatwg.org/multipage/parsing.html.
    fn escaped(&mut self, text: &str) {
        let mut rest = text.chars();
        let head: String = rest.by_ref().take(TEXT_MAX).collect();
        for c in safe_line_keeping_ends(&head).chars() {
            match c {
                '&' => self.text += "&amp;",
                '<' => self.text += "&lt;",
                '>' => self.text += "&gt;",
                '"' => self.text += "&quot;",
                '\'' => self.text += "&#39;",
                _ => self.text.push(c),
            }
        }
        if rest.next().is_some() {
            self.text.push('…');
        }
    }
}

/// Safe text in one line, with a blank where it begins or ends with one: other elements may stand there.
fn safe_line_keeping_ends(text: &str) -> String {
    let blank = |is_blank: bool| if is_blank { " " } else { "" };
    let line = safe_line(text);
    let end = blank(text.ends_with(' ') && !line.is_empty());
    format!("{}{line}{end}", blank(text.starts_with(' ')))
}

/// A place or a length in percent of the whole.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Percent(pub(crate) f64);

impl Display for Percent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.2}%", self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn paragraph(text: &str) -> String {
        let mut markup = Markup::default();
        markup.leaf("p", &[("title", &text)], text);
        markup.finish()
    }

    #[test]
    fn text_cannot_leave_its_place() {
        assert_eq!(
            paragraph("<script>\"'&\x1b[2J\x07\u{202e}"),
            "<p title=\"&lt;script&gt;&quot;&#39;&amp;␇\u{fffd}\">&lt;script&gt;&quot;&#39;&amp;␇\u{fffd}</p>"
        );
        assert!(paragraph(&"x".repeat(10_000)).len() < 5_000);
    }

    #[test]
    fn blanks_between_elements_stay() {
        let mut markup = Markup::default();
        markup.text("a ");
        markup.plain("b", "c");
        markup.text(" ");
        markup.plain("b", "d");
        assert_eq!(markup.finish(), "a <b>c</b> <b>d</b>");
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
    }
}

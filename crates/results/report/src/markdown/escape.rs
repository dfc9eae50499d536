//! Text that others wrote: no Markdown, HTML, link, hashtag or mention of it is interpreted, here or by the dialects of GitHub and
//! WriteFreely.
//!
//! A backslash stands only before what those dialects take it before; other characters become references.

use std::fmt::Display;

use crate::html::text;

/// A space inside of code. Lines are broken at other spaces only: the rest of a code span could begin a list or a quotation.
pub(super) const HELD: char = '\0';

/// Text in a sentence, a heading or a cell.
pub(crate) fn prose(content: impl Display) -> String {
    let content = text(content);
    // Only code keeps GitHub from calling people, and from making links of addresses.
    if content.contains('@') { span(&content) } else { escaped(&content) }
}

/// Names, commands and what else is to be read letter by letter.
pub(crate) fn code(content: impl Display) -> String {
    span(&text(content))
}

/// [`code`] in a cell of a table: a bar would end the cell, also inside of code.
pub(super) fn code_cell(content: impl Display) -> String {
    let content = text(content);
    if content.contains('|') { escaped(&content) } else { span(&content) }
}

/// [`prose`] in a cell.
pub(super) fn cell(content: impl Display) -> String {
    let content = text(content);
    if content.contains('@') { code_cell(&content) } else { escaped(&content) }
}

/// The longest run of backticks.
pub(super) fn longest_run(content: &str) -> usize {
    content.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

fn span(content: &str) -> String {
    if content.is_empty() {
        return String::new();
    }
    let ticks = "`".repeat(longest_run(content) + 1);
    // One space on each side is no part of the code.
    let is_open = content.starts_with('`') || content.ends_with('`');
    let pad = if is_open { HELD.to_string() } else { String::new() };
    format!("{ticks}{pad}{}{pad}{ticks}", content.replace(' ', &HELD.to_string()))
}

fn escaped(content: &str) -> String {
    let mut out = String::with_capacity(content.len() + 16);
    let mut word = "";
    for (at, c) in content.char_indices() {
        match reference(c, word) {
            Some(reference) => out.push_str(reference),
            None => {
                if is_special(c, word, &content[at + c.len_utf8()..]) {
                    out.push('\\');
                }
                out.push(c);
            }
        }
        let end = at + c.len_utf8();
        word = if c == ' ' { "" } else { &content[end - word.len() - c.len_utf8()..end] };
    }
    out
}

/// What stands for a character before which a backslash is not everywhere enough; `word` is what precedes it in its word.
fn reference(c: char, word: &str) -> Option<&'static str> {
    match c {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        // WriteFreely looks for hashtags before it looks for Markdown.
        '#' => Some("&#35;"),
        // Formulas and superscripts.
        '$' => Some("&#36;"),
        '^' => Some("&#94;"),
        '=' if word.is_empty() => Some("&#61;"),
        _ => None,
    }
}

/// Whether a backslash must stand before it.
fn is_special(c: char, word: &str, rest: &str) -> bool {
    match c {
        '\\' | '`' | '*' | '_' | '[' | ']' | '{' | '}' | '~' | '|' => true,
        // What begins a line begins a word.
        '+' => word.is_empty(),
        '-' => word.is_empty() || word.ends_with('-'),
        '.' if word.to_ascii_lowercase().ends_with("www") => true,
        '.' | ')' => is_number(word) && (rest.is_empty() || rest.starts_with(' ')),
        ':' => word.is_empty() || rest.starts_with("//"),
        _ => false,
    }
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

    use super::*;
    use crate::markdown::{Wrap, Writer};

    #[test]
    fn readable_text_stays_readable() {
        for plain in
            ["exit status 1", "the 2nd (of 3): 5 % slower, why?", "deb:6.1.0-47-amd64", "v6.1-rc2 is"]
        {
            assert_eq!(prose(plain), plain);
        }
        assert_eq!(prose("pipe_write <b> #1 --x"), "pipe\\_write &lt;b&gt; &#35;1 \\-\\-x");
        assert_eq!(prose("see https://x.org www.x.org"), "see https\\://x.org www\\.x.org");
        assert_eq!(prose("1. a 2) b"), "1\\. a 2\\) b");
        assert_eq!(prose("by @somebody"), "`by\0@somebody`");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("``"), "```\0``\0```");
    }

    /// Pieces of text that mean something somewhere.
    fn hostile() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            any::<char>().prop_map(String::from),
            prop::sample::select(vec![
                "<b>",
                "<!--",
                "&lt;",
                "&#35;",
                "](x)",
                "![",
                "[a]",
                "[a]: x",
                "**",
                "__",
                "~~",
                "`",
                "```",
                "|",
                "\\",
                "\\|",
                "http://x.org",
                "www.x.org",
                "a@x.org",
                "@you",
                "#tag",
                "1.",
                "2)",
                "- ",
                "+ ",
                "* ",
                "> ",
                "---",
                "===",
                "    ",
                " ",
                "\n",
                "\t",
                "$x$",
                ":x:",
                "{#id}",
                "\u{a0}",
                "\u{3000}",
                "\0",
                "\u{1b}[1m",
            ])
            .prop_map(str::to_owned),
            "[ -~]{0,4}",
        ];
        prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    /// The text of a document that may have nothing but text and code in these.
    fn read(markdown: &str, allowed: &[TagEnd]) -> Result<String, String> {
        let mut read = String::new();
        for event in Parser::new_ext(markdown, Options::all().difference(Options::ENABLE_SMART_PUNCTUATION)) {
            match event {
                Event::Text(text) | Event::Code(text) => read += &text,
                Event::SoftBreak => read.push(' '),
                Event::Start(tag) if allowed.contains(&tag.to_end()) && !is_code(&tag) => {}
                Event::End(tag) if allowed.contains(&tag) => {}
                other => return Err(format!("{other:?} in {markdown:?}")),
            }
        }
        Ok(read)
    }

    fn is_code(tag: &Tag<'_>) -> bool {
        matches!(tag, Tag::CodeBlock(_))
    }

    fn written(wrap: Wrap, write: impl FnOnce(&mut Writer)) -> String {
        let mut writer = Writer::new(wrap);
        write(&mut writer);
        writer.document("x").body
    }

    fn squeezed(text: &str) -> String {
        text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }

    proptest! {
        #[test]
        fn a_parser_gives_any_text_back(content in hostile()) {
            let expected = text(&content);
            for inline in [prose(&content), code(&content)] {
                let body = written(Wrap::None, |writer| writer.paragraph(&inline));
                prop_assert_eq!(read(&body, &[TagEnd::Paragraph]), Ok(expected.clone()), "{}", body);
                let body = written(Wrap::None, |writer| writer.item(&inline));
                let item = read(&body, &[TagEnd::List(false), TagEnd::Item]);
                prop_assert_eq!(item, Ok(expected.clone()), "{}", body);
                let body = written(Wrap::None, |writer| writer.heading(2, &inline));
                let heading = TagEnd::Heading(pulldown_cmark::HeadingLevel::H2);
                prop_assert_eq!(read(&body, &[heading]), Ok(expected.clone()), "{}", body);
            }
        }

        #[test]
        fn broken_lines_are_the_same_text(content in hostile(), more in hostile()) {
            let inline = format!("{} and {} and {}", prose(&content), code(&more), prose(&more));
            let expected = squeezed(&format!("{} and {} and {}", text(&content), text(&more), text(&more)));
            let body = written(Wrap::Mail, |writer| writer.paragraph(&inline));
            let found = read(&body, &[TagEnd::Paragraph]).map(|found| squeezed(&found));
            prop_assert_eq!(found, Ok(expected), "{}", body);
        }

        #[test]
        fn cells_are_the_same_text(first in hostile(), second in hostile()) {
            let body = format!("| a | b |\n|---|---|\n| {} | {} |\n", code_cell(&first), cell(&second)).replace(HELD, " ");
            let mut cells = vec![String::new()];
            for event in Parser::new_ext(&body, Options::ENABLE_TABLES) {
                match event {
                    Event::Text(text) | Event::Code(text) => *cells.last_mut().expect("one") += &text,
                    Event::End(TagEnd::TableCell) => cells.push(String::new()),
                    Event::Start(Tag::Table(_) | Tag::TableHead | Tag::TableRow | Tag::TableCell) => {}
                    Event::End(TagEnd::Table | TagEnd::TableHead | TagEnd::TableRow) => {}
                    other => prop_assert!(false, "{other:?} in {body}"),
                }
            }
            prop_assert_eq!(&cells, &["a", "b", &text(&first), &text(&second), ""], "{}", body);
        }
    }
}

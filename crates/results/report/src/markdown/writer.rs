//! Paragraphs, lists, blocks and tables.

use unicode_width::UnicodeWidthStr;

use super::escape::{HELD, cell, code_cell, longest_run, prose};
use super::{Document, Wrap};
use crate::columns::Columns;
use crate::html::text;
use crate::safe::safe;

/// Backticks around a block, at least.
const FENCE: usize = 3;

/// Writes Markdown. Inline text comes from [`prose`] and [`code`](super::code), joined with kiln's own words.
#[derive(Debug)]
pub(crate) struct Writer {
    wrap: Wrap,
    out: String,
    /// The last thing was an item of a list, which the next one continues.
    is_in_list: bool,
}

impl Writer {
    pub(crate) fn new(wrap: Wrap) -> Self {
        Self { wrap, out: String::new(), is_in_list: false }
    }

    /// Ends below this title, which anybody may have written.
    pub(crate) fn document(self, title: &str) -> Document {
        Document { title: prose(title).replace(HELD, " "), body: self.out }
    }

    pub(crate) fn heading(&mut self, level: usize, inline: &str) {
        let text = format!("{} {}", "#".repeat(level), inline.replace(HELD, " "));
        self.part(text.trim_end());
    }

    /// Nothing is written for an empty one.
    pub(crate) fn paragraph(&mut self, inline: &str) {
        if !inline.is_empty() {
            let lines = self.lines(inline, "");
            self.part(&lines);
        }
    }

    /// An item of a list.
    pub(crate) fn item(&mut self, inline: &str) {
        let lines = format!("- {}", self.lines(inline, "  "));
        if self.is_in_list {
            // Items stand close.
            self.out.pop();
        }
        self.part(lines.trim_end());
        self.is_in_list = true;
    }

    /// Lines as they are, whatever is in them: no run of backticks inside is as long as the fence.
    pub(crate) fn block(&mut self, lines: &str) {
        let lines = safe(lines);
        let lines = lines.trim_end();
        if !lines.is_empty() {
            let fence = "`".repeat(FENCE.max(longest_run(lines) + 1));
            self.part(&format!("{fence}\n{lines}\n{fence}"));
        }
    }

    /// A table, with code in these columns; in a mail text in columns, whose last one is cut.
    pub(crate) fn table<const N: usize>(
        &mut self,
        columns: &Columns<N>,
        rows: Vec<[String; N]>,
        code: &[usize],
    ) {
        match self.wrap {
            Wrap::None => self.markdown_table(columns, &rows, code),
            Wrap::Mail => self.text_table(columns, rows),
        }
    }

    fn markdown_table<const N: usize>(&mut self, columns: &Columns<N>, rows: &[[String; N]], code: &[usize]) {
        let line = |cells: [String; N]| format!("| {} |", cells.join(" | "));
        let rule = |column| if columns.right.contains(&column) { "---:" } else { "---" };
        let mut lines = vec![line(columns.heads()), line(std::array::from_fn(|at| rule(at).to_owned()))];
        lines.extend(rows.iter().map(|row| {
            let shown = |at| if code.contains(&at) { code_cell(&row[at]) } else { cell(&row[at]) };
            line(std::array::from_fn(shown)).replace(HELD, " ")
        }));
        self.part(&lines.join("\n"));
    }

    fn text_table<const N: usize>(&mut self, columns: &Columns<N>, rows: Vec<[String; N]>) {
        let limit = Some(self.wrap.columns());
        let mut rows: Vec<[String; N]> = rows.into_iter().map(|row| row.map(text)).collect();
        columns.fit_last(&mut rows, limit);
        let widths = columns.widths(&rows, limit);
        let heads = columns.heads();
        let lines = std::iter::once(&heads).chain(&rows).map(|row| columns.line(row, &widths));
        let lines = lines.collect::<Vec<_>>().join("\n");
        self.block(&lines);
    }

    /// Puts an empty line between parts.
    fn part(&mut self, lines: &str) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.is_in_list = false;
        self.out += lines;
        self.out.push('\n');
    }

    /// Words in lines; those behind the first are indented.
    fn lines(&self, inline: &str, indent: &str) -> String {
        if self.wrap == Wrap::None {
            return inline.replace(HELD, " ");
        }
        let room = self.wrap.columns() - indent.len();
        let mut lines: Vec<String> = Vec::new();
        for word in inline.split(' ').filter(|word| !word.is_empty()) {
            let word = word.replace(HELD, " ");
            match lines.last_mut().filter(|line| line.width() + 1 + word.width() <= room) {
                Some(line) => {
                    line.push(' ');
                    *line += &word;
                }
                None => lines.push(word),
            }
        }
        lines.join(&format!("\n{indent}"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::{Event, Parser, Tag, TagEnd};

    use super::super::code;
    use super::*;

    const COLUMNS: Columns<3> = Columns { head: ["case", "time", "why"], right: &[1], spared: &[] };

    fn row(cells: [&str; 3]) -> [String; 3] {
        cells.map(str::to_owned)
    }

    #[test]
    fn parts_stand_apart_and_items_close() {
        let mut writer = Writer::new(Wrap::None);
        writer.heading(2, "one");
        writer.item("a");
        writer.item(&code("b c"));
        writer.paragraph("");
        writer.paragraph("two");
        writer.block("");
        writer.block("x\n\n```\n");
        assert_eq!(writer.document("t").body, "## one\n\n- a\n- `b c`\n\ntwo\n\n````\nx\n\n```\n````\n");
    }

    #[test]
    fn lines_of_mails_are_short_and_code_is_whole() {
        let mut writer = Writer::new(Wrap::Mail);
        let text =
            format!("{} {} {}", "word ".repeat(12).trim_end(), code("- a b c d e f"), "word ".repeat(12));
        writer.paragraph(&text);
        writer.item(&text);
        let body = writer.document("t").body;
        assert!(body.lines().all(|line| line.len() <= 72 && line == line.trim_end()), "{body}");
        assert_eq!(body.matches("`- a b c d e f`").count(), 2, "{body}");
        assert!(body.contains("\n- word") && body.contains("\n  `- a"), "{body}");
    }

    #[test]
    fn a_table_is_text_in_mails() {
        let rows = || vec![row(["pipe/full", "1.0 s", "a|b"]), row(["x", "10.0 s", &"long ".repeat(40)])];
        let mut writer = Writer::new(Wrap::None);
        writer.table(&COLUMNS, rows(), &[0]);
        let body = writer.document("t").body;
        let start = "| case | time | why |\n| --- | ---: | --- |\n| `pipe/full` | 1.0 s | a\\|b |\n| `x` |";
        assert!(body.starts_with(start), "{body}");
        let mut writer = Writer::new(Wrap::Mail);
        writer.table(&COLUMNS, rows(), &[0]);
        let body = writer.document("t").body;
        assert!(body.starts_with("```\ncase       "), "{body}");
        assert!(body.contains("\npipe/full   1.0 s  a|b\n"), "{body}");
        assert!(body.lines().all(|line| line.width() <= 72), "{body}");
    }

    proptest! {
        #[test]
        fn nothing_leaves_a_block(pieces in prop::collection::vec(prop_oneof![
            prop::sample::select(vec!["`", "```", "````", "~~~", "\n", "    ", "> ", "</code>", "\r", "\u{b}"]).prop_map(str::to_owned),
            any::<char>().prop_map(String::from),
        ], 0..40)) {
            let text = pieces.concat();
            let mut writer = Writer::new(Wrap::None);
            writer.block(&text);
            writer.paragraph("end");
            let body = writer.document("t").body;
            let mut blocks = String::new();
            let mut is_inside = false;
            for event in Parser::new(&body) {
                match event {
                    Event::Start(Tag::CodeBlock(_)) => is_inside = true,
                    Event::End(TagEnd::CodeBlock) => is_inside = false,
                    Event::Text(text) if is_inside => blocks += &text,
                    Event::Text(text) => prop_assert_eq!(text.as_ref(), "end"),
                    Event::Start(Tag::Paragraph) | Event::End(TagEnd::Paragraph) => {}
                    other => prop_assert!(false, "{other:?} in {body}"),
                }
            }
            let expected = safe(&text);
            prop_assert_eq!(blocks.trim_end(), expected.trim_end());
        }
    }
}

//! Text in columns.

use std::borrow::Cow;

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Between columns.
const GAP: usize = 2;

/// Columns of a text at the end of a line that is worth a column.
const LAST_MIN: usize = 20;

/// What the columns of a table are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns<const N: usize> {
    /// What stands above them.
    pub(crate) head: [&'static str; N],
    /// Those of figures.
    pub(crate) right: &'static [usize],
    /// What a narrow terminal goes without, in this order.
    pub(crate) spared: &'static [usize],
}

impl<const N: usize> Columns<N> {
    /// The width of each column; zero for one that is empty, or that is spared to keep within `limit`.
    pub(crate) fn widths(&self, rows: &[[String; N]], limit: Option<usize>) -> [usize; N] {
        let mut widths = std::array::from_fn(|column| {
            let widest = rows.iter().map(|row| row[column].width()).max().unwrap_or(0);
            if widest == 0 { 0 } else { widest.max(self.head[column].width()) }
        });
        let whole = |widths: &[usize; N]| {
            widths.iter().filter(|width| **width > 0).map(|width| width + GAP).sum::<usize>()
        };
        for &column in self.spared {
            if limit.is_some_and(|limit| whole(&widths) > limit + GAP) {
                widths[column] = 0;
            }
        }
        widths
    }

    /// Cuts the last column of `rows` to what `limit` leaves beside the others, but not below [`LAST_MIN`].
    pub(crate) fn fit_last(&self, rows: &mut [[String; N]], limit: Option<usize>) {
        let Some(limit) = limit else { return };
        let others: usize = self.widths(rows, None)[..N - 1].iter().map(|column| column + GAP).sum();
        let left = limit.saturating_sub(others).max(LAST_MIN);
        rows.iter_mut().for_each(|row| row[N - 1] = fit(&row[N - 1], left));
    }

    /// A row, without blanks at its end.
    pub(crate) fn line(&self, row: &[String; N], widths: &[usize; N]) -> String {
        self.padded(row, widths).trim_end().to_owned()
    }

    /// A row, with the gap after its last column.
    pub(crate) fn padded(&self, row: &[String; N], widths: &[usize; N]) -> String {
        let mut line = String::new();
        let shown = row.iter().zip(widths).enumerate().filter(|(_, (_, width))| **width > 0);
        for (column, (text, &width)) in shown {
            let space = " ".repeat(width.saturating_sub(text.width()));
            line += &if self.right.contains(&column) {
                format!("{space}{text}")
            } else {
                format!("{text}{space}")
            };
            line += &" ".repeat(GAP);
        }
        line
    }

    /// The heads as a row.
    pub(crate) fn heads(&self) -> [String; N] {
        self.head.map(str::to_owned)
    }
}

/// As much of `text` as `columns` hold; the rest becomes an ellipsis.
pub(crate) fn fit(text: &str, columns: usize) -> String {
    if text.width() <= columns { text.to_owned() } else { cut(text, columns) }
}

/// The beginning of `text` and an ellipsis.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    let mut left = columns.saturating_sub(1);
    let kept = text.chars().take_while(|&c| {
        let width = c.width().unwrap_or(0);
        let fits = width <= left;
        left = left.saturating_sub(width);
        fits
    });
    kept.chain((columns > 0).then_some('…')).collect()
}

/// Words in lines of at most `columns`; a word that is wider than a line is cut.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    hanging("", 0, text, columns)
}

/// [`wrap`] beside a word that stands in the first line, in `indent` columns.
pub(crate) fn hanging(word: &str, indent: usize, text: &str, columns: usize) -> Vec<String> {
    let room = columns.saturating_sub(indent);
    let words: Vec<String> = text.split_whitespace().map(|word| fit(word, room)).collect();
    let (first, others) = (format!("{word:<indent$}"), " ".repeat(indent));
    let options = Options::new(columns)
        .initial_indent(&first)
        .subsequent_indent(&others)
        .wrap_algorithm(WrapAlgorithm::FirstFit)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .break_words(false);
    textwrap::wrap(&words.join(" "), options).into_iter().map(Cow::into_owned).collect()
}

/// A bar in eighths of a column, of `width` columns for the most; what is there at all has one.
pub(crate) fn bar(amount: u64, most: u64, width: u64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = u128::from(amount) * u128::from(8 * width) / u128::from(most.max(1));
    let eighths = usize::try_from(eighths).unwrap_or(0).max(usize::from(amount > 0));
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_only_where_it_must() {
        let texts = [0, 1, 3, 4, 5].map(|columns| fit("a世b", columns));
        assert_eq!(texts, ["", "…", "a…", "a世b", "a世b"]);
    }

    #[test]
    fn words_are_kept_whole_as_long_as_they_fit() {
        assert_eq!(wrap("one  two three", 8), ["one two", "three"]);
        assert_eq!(wrap("a abcdef b", 4), ["a", "abc…", "b"]);
        assert_eq!(wrap("", 4), [""]);
        assert_eq!(hanging("a", 3, "one two", 6), ["a  one", "   two"]);
    }

    #[test]
    fn a_column_without_text_has_no_head() {
        let columns = Columns { head: ["A", "B", "C"], right: &[2], spared: &[] };
        let rows = [["x".to_owned(), String::new(), "12".to_owned()]];
        let widths = columns.widths(&rows, None);
        assert_eq!(columns.line(&columns.heads(), &widths), "A   C");
        assert_eq!(columns.padded(&rows[0], &widths), "x  12  ");
    }
}

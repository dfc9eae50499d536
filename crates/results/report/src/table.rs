//! Tables of figures, and what they are of.

use maud::{Markup, html};

use crate::columns::Columns;
use crate::html::text as visible;

/// Rows that are printed; the others are a line.
const PRINTED_MAX: usize = 20;

/// Rows on a page.
const ON_PAGE_MAX: usize = 1000;

/// Columns of figures are to the right.
static FIGURES: [usize; 10] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

/// Figures, and behind them what they are of.
#[derive(Debug)]
pub(crate) struct Table<const N: usize> {
    head: [&'static str; N],
    names: usize,
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    /// The rows with the largest keys first. The last `names` columns are texts.
    pub(crate) fn sorted<K: Ord>(
        head: [&'static str; N],
        names: usize,
        rows: impl Iterator<Item = (K, [String; N])>,
    ) -> Self {
        let mut rows: Vec<(K, [String; N])> = rows.collect();
        rows.sort_by(|(one, _), (other, _)| other.cmp(one));
        Self { head, names, rows: rows.into_iter().map(|(_, row)| row).collect() }
    }

    /// The first rows with an empty line above; nothing if there are none.
    pub(crate) fn text(&self) -> String {
        self.printed(PRINTED_MAX)
    }

    /// The same with all rows.
    pub(crate) fn whole(&self) -> String {
        self.printed(usize::MAX)
    }

    fn printed(&self, most: usize) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let shown = &self.rows[..self.rows.len().min(most)];
        let columns = Columns { head: self.head, right: &FIGURES[..N - self.names], spared: &[] };
        let widths = columns.widths(shown, None);
        let head = columns.line(&self.head.map(str::to_owned), &widths);
        let lines: String = shown.iter().map(|row| columns.line(row, &widths) + "\n").collect();
        let rest = self.rows.len() - shown.len();
        let rest = if rest > 0 { format!("... {rest} more\n") } else { String::new() };
        format!("\n{head}\n{lines}{rest}")
    }

    /// For a page; nothing if it has no rows.
    pub(crate) fn html(&self) -> Markup {
        let class = |column: usize| (column < N - self.names).then_some("figure");
        let rest = self.rows.len().saturating_sub(ON_PAGE_MAX);
        html! {
            @if !self.rows.is_empty() {
                div.wide { table.sortable {
                    thead { tr { @for (column, head) in self.head.iter().enumerate() { th class=[class(column)] { (head) } } } }
                    tbody { @for row in self.rows.iter().take(ON_PAGE_MAX) {
                        tr { @for (column, cell) in row.iter().enumerate() { td class=[class(column)] { (visible(cell)) } } }
                    } }
                } }
            }
            @if rest > 0 { p.note { (rest) " more" } }
        }
    }
}

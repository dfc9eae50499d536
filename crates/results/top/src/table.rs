//! Lists: columns, rows, and what each row opens.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::list::List;
use crate::paint::{self, DIM, Piece, REVERSED};

/// Columns before the first cell: the sign of the selected row.
const SIGN: u16 = 2;

/// A column of a table; the last one gets what is left.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    pub(crate) head: &'static str,
    pub(crate) width: u16,
}

/// What a view lists.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) columns: &'static [Column],
    pub(crate) rows: Vec<Row>,
    /// What is said where there are no rows.
    pub(crate) empty: &'static str,
}

/// A row of it.
#[derive(Debug, Default)]
pub(crate) struct Row {
    /// By which it is found again when the list has changed.
    pub(crate) key: String,
    pub(crate) cells: Vec<Piece>,
    /// More about it, below the list.
    pub(crate) details: Vec<String>,
    /// What it leads to.
    pub(crate) opens: Option<Target>,
    /// The arguments with which kiln says the same.
    pub(crate) command: Vec<String>,
}

/// What can be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// A session, by its name.
    Session(String),
    /// A Run, by the name of its session and by its case.
    Run(String, String),
}

impl Table {
    /// Rows that are seen of it.
    pub(crate) fn height(area: Rect) -> usize {
        usize::from(area.height.saturating_sub(1))
    }

    /// The row at a place of the terminal.
    pub(crate) fn row_at(&self, list: List, area: Rect, row: u16) -> Option<usize> {
        let line = usize::from(row.checked_sub(area.y)?.checked_sub(1)?);
        let seen = list.seen(self.rows.len(), Self::height(area));
        Some(seen.start + line).filter(|at| seen.contains(at))
    }

    /// Where a row is by now that had this key.
    pub(crate) fn place(&self, key: &str) -> Option<usize> {
        self.rows.iter().position(|row| row.key == key)
    }

    /// Draws it; gives the lines that it leaves free.
    pub(crate) fn draw(&self, list: List, area: Rect, buffer: &mut Buffer) -> u16 {
        let heads: Vec<Piece> = self.columns.iter().map(|column| Piece::new(DIM, column.head)).collect();
        self.draw_cells(&heads, area, 0, buffer);
        if self.rows.is_empty() {
            paint::text(buffer, area, 2, DIM, format!("  {}", self.empty));
            return area.height.saturating_sub(3);
        }
        let selected = list.selected(self.rows.len());
        let seen = list.seen(self.rows.len(), Self::height(area));
        let free = Self::height(area) - seen.len();
        for (line, at) in (1..).zip(seen) {
            self.draw_cells(&self.rows[at].cells, area, line, buffer);
            if selected == Some(at) {
                // A sign as well: not every terminal shows what is reversed.
                paint::text(buffer, area, line, Style::new(), ">");
                paint::whole_line(buffer, area, line, REVERSED);
            }
        }
        u16::try_from(free).unwrap_or(0)
    }

    fn draw_cells(&self, cells: &[Piece], area: Rect, line: u16, buffer: &mut Buffer) {
        let mut x = SIGN;
        let last = self.columns.len().saturating_sub(1);
        for (at, (cell, column)) in cells.iter().zip(self.columns).enumerate() {
            let width = if at == last { area.width.saturating_sub(x) } else { column.width };
            let place = Rect { x: area.x.saturating_add(x), width, ..area }.intersection(area);
            paint::pieces(buffer, place, (line, 0), std::slice::from_ref(cell));
            x = x.saturating_add(width).saturating_add(1);
        }
    }
}

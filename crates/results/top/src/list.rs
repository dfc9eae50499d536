//! What is selected in a list, and which part of it is seen.

use crate::keys::Move;

/// A place in a list of rows that may change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct List {
    selected: usize,
    /// The first row that is seen.
    first: usize,
}

impl List {
    /// The row that is selected; nothing if there is none.
    pub(crate) fn selected(self, rows: usize) -> Option<usize> {
        (rows > 0).then(|| self.selected.min(rows - 1))
    }

    /// The rows that are seen.
    pub(crate) fn seen(self, rows: usize, height: usize) -> std::ops::Range<usize> {
        let first = self.first_seen(rows, height);
        first..rows.min(first + height)
    }

    /// Selects a row.
    pub(crate) fn select(&mut self, row: usize) {
        self.selected = row;
    }

    /// Selects another row of so many, of which `height` are seen.
    pub(crate) fn step(&mut self, step: Move, rows: usize, height: usize) {
        let last = rows.saturating_sub(1);
        let at = self.selected.min(last);
        let page = height.max(1);
        self.selected = match step {
            Move::Lines(by) => at.saturating_add_signed(by),
            Move::PageUp => at.saturating_sub(page),
            Move::PageDown => at + page,
            Move::First => 0,
            Move::Last => last,
        }
        .min(last);
        self.settle(rows, height);
    }

    /// Has the selected row seen.
    pub(crate) fn settle(&mut self, rows: usize, height: usize) {
        self.selected = self.selected.min(rows.saturating_sub(1));
        self.first = self.first_seen(rows, height);
    }

    fn first_seen(self, rows: usize, height: usize) -> usize {
        let selected = self.selected.min(rows.saturating_sub(1));
        let lowest = (selected + 1).saturating_sub(height);
        self.first.clamp(lowest, selected.max(lowest)).min(rows.saturating_sub(height))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_selected_is_seen() {
        let mut list = List::default();
        for (step, selected, seen) in [
            (Move::Lines(1), 1, 0..3),
            (Move::PageDown, 4, 2..5),
            (Move::Last, 9, 7..10),
            (Move::Lines(1), 9, 7..10),
            (Move::Lines(-3), 6, 6..9),
            (Move::First, 0, 0..3),
            (Move::PageUp, 0, 0..3),
        ] {
            list.step(step, 10, 3);
            assert_eq!((list.selected(10), list.seen(10, 3)), (Some(selected), seen), "{step:?}");
        }
    }

    #[test]
    fn a_list_may_shrink_and_a_window_too() {
        let mut list = List::default();
        list.step(Move::Last, 10, 3);
        assert_eq!((list.selected(2), list.seen(2, 3)), (Some(1), 0..2));
        assert_eq!((list.selected(0), list.seen(0, 3)), (None, 0..0));
        assert_eq!(list.seen(10, 0), 10..10);
        list.settle(2, 1);
        assert_eq!(list.seen(2, 1), 1..2);
    }
}

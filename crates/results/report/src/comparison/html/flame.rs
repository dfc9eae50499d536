//! Where instructions are executed, by call stack, and where that changed: Gregg, "The Flame Graph", CACM 59 (6),
//! 2016.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::figures::{count, whole};
use crate::html::{Percent, text};

/// Frames of a stack that are drawn.
const DEPTH: usize = 48;

/// Height of a frame in pixels.
const FRAME: usize = 17;

/// The part of the whole width, in percent, below which nobody sees a frame.
const NARROW: f64 = 0.15;

/// The part below which only the pointer shows a frame's name.
const NAMED: f64 = 2.5;

/// Shades of grow and shrink.
const SHADES: f64 = 4.0;

/// A function as it was called in one way.
#[derive(Debug, Default)]
struct Frame<'a> {
    /// With what it calls.
    base: u64,
    new: u64,
    /// Without.
    own_base: u64,
    own_new: u64,
    calls: BTreeMap<&'a str, Frame<'a>>,
}

/// Draws `stacks` with the outermost function on top, as wide as its part on the other Kernel; its own change gives
/// the colour.
pub(super) fn flame(stacks: &[(String, u64, u64)]) -> Markup {
    let root = tree(stacks);
    let graph = Graph { whole: root.new, most: most(&root) };
    html! {
        @if root.new > 0 {
            p.legend {
                "Call stacks on new, outermost on top; the whole width is " (count(root.new)) " instructions. \
                 Red executes more than on base by itself, blue less; functions that are gone have no width. \
                 Calls below which nothing changed are not shown."
            }
            svg class="flame" role="img" aria-label="differential flame graph" width="100%"
                height=(FRAME * depth(&root, 0)) { (graph.calls(&root, 0.0, 0)) }
            "\n"
        }
    }
}

fn tree(stacks: &[(String, u64, u64)]) -> Frame<'_> {
    let mut root = Frame::default();
    for (stack, base, new) in stacks {
        let mut frame = &mut root;
        frame.add(*base, *new);
        for name in stack.split(';').take(DEPTH) {
            frame = frame.calls.entry(name).or_default();
            frame.add(*base, *new);
        }
        frame.own_base = frame.own_base.saturating_add(*base);
        frame.own_new = frame.own_new.saturating_add(*new);
    }
    root
}

impl Frame<'_> {
    fn add(&mut self, base: u64, new: u64) {
        self.base = self.base.saturating_add(base);
        self.new = self.new.saturating_add(new);
    }

    fn own_change(&self) -> i64 {
        change(self.own_base, self.own_new)
    }

    /// Whether anything changed in it or in what it calls.
    fn is_changed(&self) -> bool {
        self.own_change() != 0 || self.calls.values().any(Frame::is_changed)
    }
}

fn change(base: u64, new: u64) -> i64 {
    let signed = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    signed(new) - signed(base)
}

/// The largest change of a function's own.
fn most(frame: &Frame<'_>) -> u64 {
    frame.calls.values().map(most).max().unwrap_or(0).max(frame.own_change().unsigned_abs())
}

/// Rows below `frame`, at most as many as are drawn.
fn depth(frame: &Frame<'_>, above: usize) -> usize {
    frame
        .calls
        .values()
        .filter(|called| called.new > 0)
        .map(|called| if called.is_changed() { depth(called, above + 1) } else { above + 1 })
        .max()
        .unwrap_or(above)
}

/// Where a frame is drawn: percents of the whole width, and the row.
#[derive(Clone, Copy)]
struct Place {
    left: f64,
    width: f64,
    row: usize,
}

struct Graph {
    whole: u64,
    most: u64,
}

impl Graph {
    fn percent(&self, instructions: u64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a place on a screen")]
        let share = instructions as f64 / self.whole as f64;
        100.0 * share
    }

    fn calls(&self, frame: &Frame<'_>, left: f64, row: usize) -> Markup {
        let mut right = left;
        let placed = frame.calls.iter().map(|(name, called)| {
            let place = Place { left: right, width: self.percent(called.new), row };
            right += place.width;
            (*name, called, place)
        });
        html! {
            @for (name, called, place) in placed.filter(|(.., place)| place.width >= NARROW) {
                (self.frame(name, called, place))
                @if called.is_changed() { (self.calls(called, place.left, row + 1)) }
            }
        }
    }

    fn frame(&self, name: &str, frame: &Frame<'_>, place: Place) -> Markup {
        let title = format!(
            "{name}: {} ({}) with what it calls, {} ({}) of its own",
            count(frame.new),
            whole(change(frame.base, frame.new)),
            count(frame.own_new),
            whole(frame.own_change()),
        );
        // A picture of its own clips the name at the frame's end.
        html! {
            svg class=(self.class(frame.own_change())) x=(Percent(place.left)) y=(place.row * FRAME)
                width=(Percent(place.width)) height=(FRAME - 1) {
                title { (text(title)) }
                rect width="100%" height="100%" {}
                @if place.width >= NAMED { text x="3" y="12" { (text(name)) } }
            }
        }
    }

    /// `grow1` to `grow4`, `shrink1` to `shrink4`, or `still`.
    fn class(&self, change: i64) -> String {
        #[expect(clippy::cast_precision_loss, reason = "one of four shades")]
        let share = change.unsigned_abs() as f64 / self.most.max(1) as f64;
        let shade = (share * SHADES).ceil();
        match change {
            0 => "still".to_owned(),
            1.. => format!("grow{shade}"),
            _ => format!("shrink{shade}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(stacks: &[(&str, u64, u64)]) -> String {
        let stacks: Vec<_> =
            stacks.iter().map(|(stack, base, new)| ((*stack).to_owned(), *base, *new)).collect();
        flame(&stacks).into_string()
    }

    #[test]
    fn frames_are_as_wide_as_their_part_of_the_other() {
        let graph = drawn(&[("a;b", 10, 30), ("a;c", 40, 10), ("a", 0, 60)]);
        assert!(graph.contains(r#"class="grow4" x="0.00%" y="0" width="100.00%""#), "{graph}");
        assert!(graph.contains(r#"class="grow2" x="0.00%" y="17" width="30.00%""#), "{graph}");
        assert!(graph.contains(r#"class="shrink2" x="30.00%" y="17" width="10.00%""#), "{graph}");
        assert!(graph.contains("a: 100 (+50) with what it calls, 60 (+60) of its own"), "{graph}");
        assert!(graph.contains(r#"height="34""#), "{graph}");
    }

    #[test]
    fn what_is_gone_or_too_narrow_is_not_drawn() {
        let graph = drawn(&[("a", 5, 0), ("b", 1, 10_000), ("c", 1, 1)]);
        assert_eq!(graph.matches("<rect").count(), 1);
        assert_eq!(drawn(&[("a", 5, 0)]), "");
        assert_eq!(drawn(&[]), "");
    }

    #[test]
    fn what_is_called_where_nothing_changed_is_not_drawn() {
        let graph = drawn(&[("same;inner", 50, 50), ("other;inner;deep", 50, 51)]);
        assert_eq!(graph.matches("<rect").count(), 4);
        assert!(graph.contains(r#"height="51""#), "{graph}");
    }

    #[test]
    fn a_stack_without_end_and_figures_without_measure_are_borne() {
        let endless = ["<f>"; 5_000].join(";");
        let graph = drawn(&[(&endless, 1, u64::MAX), ("x", u64::MAX, 1)]);
        assert_eq!(graph.matches("<rect").count(), DEPTH);
        assert!(!graph.contains("<f>"));
    }
}

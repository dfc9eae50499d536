//! Calls as a picture: Gregg, "The Flame Graph", CACM 59 (6), 2016.

use maud::{Markup, PreEscaped, html};
use protocol::sample::{Function, Part, SampleReport};

use super::{Tree, file_name, share};
use crate::figures::count;
use crate::html::{Percent, text};
use crate::safe::visible;

/// Height of a frame in pixels.
const FRAME: usize = 18;

/// Pixels above the frames.
const TOP: usize = 44;

/// Frames below each other at most.
const DEPTH: usize = 160;

/// The share of all samples, in percent, below which nobody sees a frame, also one that was made larger.
const NARROW: f64 = 0.01;

/// A picture of the calls in a file of its own, with the outermost on top and as wide as their shares. A click on one makes it as wide as the
/// picture; names can be searched for.
#[must_use]
pub fn flame(report: &SampleReport) -> String {
    let totals = report.totals();
    let frames = frames(report, &totals);
    let depth = frames.iter().map(|frame| frame.row + 1).max().unwrap_or(0);
    let what = super::head(report);
    let picture = html! {
        (PreEscaped("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100%\" role=\"img\" aria-label=\"flame graph\""))
        (PreEscaped(format!(" height=\"{}\">\n", TOP + FRAME * depth + 8)))
        style { (PreEscaped(include_str!("flame.css"))) }
        rect.page width="100%" height="100%" {}
        text.head x="8" y="17" { (text(what.trim_end())) }
        text.hint x="8" y="35" { "A click on a frame makes it wider; Escape shows all; / searches." }
        text.found x="100%" y="35" dx="-8" text-anchor="end" {}
        svg.frames y=(TOP) width="100%" height=(FRAME * depth) {
            @for frame in &frames { (drawn(report, frame)) "\n" }
        }
        // This is XML: `<` and `&` would end the script.
        script { (PreEscaped("<![CDATA[")) (PreEscaped(include_str!("flame.js"))) (PreEscaped("]]>")) }
        (PreEscaped("</svg>\n"))
    };
    // Whatever came in without text(): no control character gets out.
    picture.into_string().chars().map(|c| if c == '\n' { c } else { visible(c) }).collect()
}

/// A node where it is drawn.
struct Frame<'a> {
    function: &'a Function,
    own: u64,
    total: u64,
    /// In percent of the width.
    left: f64,
    width: f64,
    row: usize,
}

/// All frames that can be seen, each before what it calls.
fn frames<'a>(report: &'a SampleReport, totals: &[u64]) -> Vec<Frame<'a>> {
    let tree = Tree::new(report, totals);
    let mut frames = Vec::new();
    let mut waiting: Vec<(&[usize], f64, usize)> = vec![(&tree.roots, 0.0, 0)];
    while let Some((calls, mut left, row)) = waiting.pop() {
        for &at in calls {
            let width = share(totals[at], report.samples);
            if width < NARROW || row >= DEPTH {
                break;
            }
            let node = report.nodes[at];
            let function = &report.functions[node.function as usize];
            frames.push(Frame { function, own: node.own, total: totals[at], left, width, row });
            waiting.push((&tree.calls[at], left, row + 1));
            left += width;
        }
    }
    frames
}

fn drawn(report: &SampleReport, frame: &Frame<'_>) -> Markup {
    let Frame { function, own, total, left, width, row } = frame;
    let class = match function.part {
        Part::Thread => "thread",
        Part::User if function.is_inlined => "inlined",
        Part::User => "user",
        Part::Kernel => "kernel",
        Part::Omitted => "omitted",
    };
    let file = if function.file.is_empty() { String::new() } else { format!(" ({})", file_name(function)) };
    let title = format!(
        "{}{file}: {} samples, {:.2} %; {} of its own, {:.2} %",
        function.name,
        count(*total),
        share(*total, report.samples),
        count(*own),
        share(*own, report.samples)
    );
    // A picture of its own clips the name at the frame's end.
    html! {
        svg class=(class) x=(Percent(*left)) y=(row * FRAME) width=(Percent(*width)) height=(FRAME - 1)
            data-left=(format!("{left:.4}")) data-width=(format!("{width:.4}")) data-own=(own) data-total=(total) {
            title { (text(title)) }
            rect width="100%" height="100%" {}
            text x="3" y="13" { (text(&function.name)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::report;
    use super::*;

    #[test]
    fn frames_are_as_wide_as_their_shares() {
        let report = report();
        let frames = frames(&report, &report.totals());
        let place = |frame: &Frame<'_>| (frame.function.name.clone(), frame.left, frame.width, frame.row);
        let places: Vec<_> = frames.iter().map(place).collect();
        assert!(places.contains(&("main".to_owned(), 0.0, 99.5, 1)), "{places:?}");
        assert!(places.contains(&("do_syscall_64".to_owned(), 60.0, 29.5, 2)), "{places:?}");
        assert!(places.contains(&("sh".to_owned(), 99.5, 0.5, 0)), "{places:?}");
    }

    #[test]
    fn a_picture_is_a_file_of_its_own() {
        let mut report = report();
        report.functions[1].name = "</text><script>alert(1)</script>\u{1b}".to_owned();
        let picture = flame(&report);
        assert!(picture.starts_with("<svg xmlns=") && picture.ends_with("</svg>\n"));
        assert!(!picture.contains("<script>alert") && !picture.contains('\u{1b}'));
        assert!(picture.contains("590 samples, 29.50 %; 590 of its own, 29.50 %"), "{picture}");
    }

    /// Reads all of a picture as XML.
    fn is_whole(picture: &str) -> bool {
        let mut reader = quick_xml::Reader::from_str(picture);
        loop {
            match reader.read_event() {
                Ok(quick_xml::events::Event::Eof) => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
    }

    #[test]
    fn any_name_makes_a_picture_in_xml() {
        for name in ["a<b>&c", "]]>", "\"'\u{feff}\u{0}", "operator<<(std::ostream&)"] {
            let mut report = report();
            report.functions[1].name = name.to_owned();
            report.functions[2].file = name.to_owned();
            assert!(is_whole(&flame(&report)), "{name}");
        }
        assert!(!is_whole("<svg><rect></svg>"));
    }

    #[test]
    fn no_calls_are_a_picture_too() {
        let empty = SampleReport { samples: 0, nodes: Vec::new(), functions: Vec::new(), ..report() };
        assert!(is_whole(&flame(&empty)) && flame(&empty).contains("0 samples"));
    }
}

//! Bisections, checks, comparisons and matrices as Markdown.

use pulldown_cmark::{Event, Options, Parser, Tag};
use report::markdown::{Document, Wrap};
use unicode_width::UnicodeWidthStr;

use crate::bisections;
use crate::checks::rich;
use crate::comparisons::{exact, hostile, several};
use crate::matrices::grids;

/// The headings and the blocks of a document that has nothing else.
fn parts(document: Document) -> (Vec<String>, Vec<String>) {
    let (mut headings, mut blocks) = (Vec::new(), Vec::new());
    let mut current = None;
    let file = document.into_file();
    for event in Parser::new_ext(&file, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { .. }) => {
                headings.push(String::new());
                current = headings.last_mut();
            }
            Event::Start(Tag::CodeBlock(_)) => {
                blocks.push(String::new());
                current = blocks.last_mut();
            }
            Event::Text(text) | Event::Code(text) => **current.as_mut().expect("a part") += &text,
            Event::End(_) => {}
            other => panic!("{other:?} in\n{file}"),
        }
    }
    assert!(file.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}'), "{file}");
    (headings, blocks)
}

#[test]
fn each_has_its_verdict_above_what_a_terminal_shows() {
    let check = report::check::markdown(&rich(), Wrap::None).unwrap();
    let (headings, blocks) = parts(check);
    assert_eq!((headings.len(), blocks.len()), (1, 1));
    assert!(headings[0].starts_with("worse: ") && blocks[0].contains("\nreproduce:\n"), "{headings:?}");
    let (headings, blocks) = parts(report::bisection::markdown(&bisections::commit(), Wrap::None).unwrap());
    assert!(headings[0].starts_with("the first bad commit is 6b1c2d3e4f5a"), "{headings:?}");
    assert!(
        blocks[0].starts_with("the first bad commit is") && blocks[0].contains("\nquestion "),
        "{blocks:?}"
    );
    let (headings, blocks) = parts(report::comparison::markdown(&exact(), Wrap::None).unwrap());
    assert!(headings[0].contains(" against ") && headings[0].contains(" metrics: "), "{headings:?}");
    assert!(blocks[0].contains("METRIC"), "{blocks:?}");
    let (headings, _) = parts(report::comparison::markdown(&several(), Wrap::None).unwrap());
    assert!(!headings[0].contains(" metrics: "), "one figure for several would be wrong: {headings:?}");
}

#[test]
fn a_matrix_has_a_block_for_each_grid() {
    let (headings, blocks) = parts(report::matrix::markdown(&grids(), "kiln matrix x", Wrap::None).unwrap());
    assert_eq!(blocks[0], "kiln matrix x\n");
    assert_eq!((headings.len(), blocks.len()), (1 + grids().len(), 1 + grids().len()));
    assert!(headings[0].starts_with("Matrix of smoke"), "{headings:?}");
}

#[test]
fn nothing_hostile_leaves_its_block() {
    for wrap in [Wrap::None, Wrap::Mail] {
        parts(report::comparison::markdown(&hostile(), wrap).unwrap());
        for bisection in bisections::all() {
            let evil = "</code>\n```\n# <b>[x](y)\u{1b}[2J `` @you";
            let evil = bisections::poisoned(bisection, evil);
            let (headings, blocks) = parts(report::bisection::markdown(&evil, wrap).unwrap());
            assert_eq!((headings.len(), blocks.len()), (1, 1));
        }
    }
    let (_, blocks) = parts(report::bisection::markdown(&bisections::commit(), Wrap::Mail).unwrap());
    let is_narrow = |line: &str| line.width() <= 72 || line.contains("kiln ");
    assert!(blocks[0].lines().all(is_narrow), "{}", blocks[0]);
}

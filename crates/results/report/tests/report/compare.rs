//! What is printed of comparisons and measurements.

use report::comparison::{Options, csv, html, json, table};
use report::measurement;
use unicode_width::UnicodeWidthStr;
use verdict::Comparison;

use crate::comparisons::{
    all_missing, empty, exact, hostile, many, measurement as figures, recorded, several, timed,
};

const NARROW: Options = Options { width: Some(60), colour: false, verbose: false };
const WIDE: Options = Options { width: Some(110), colour: false, verbose: false };
const VERBOSE: Options = Options { width: Some(110), colour: false, verbose: true };

/// The command line of the examples.
const COMMAND: &str = "kiln compare deb:6.1.0-47-cloud-amd64 deb:6.1.0-56-cloud-amd64 --why";

pub(crate) fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn printed(comparison: &Comparison, options: Options) -> String {
    written(|out| table(comparison, options, out))
}

fn page(comparison: &Comparison) -> String {
    written(|out| html(comparison, COMMAND, out))
}

#[test]
fn counted_figures_on_a_terminal() {
    insta::assert_snapshot!("exact-table", printed(&exact(), WIDE));
    insta::assert_snapshot!("exact-table-narrow", printed(&exact(), NARROW));
    insta::assert_snapshot!("exact-table-verbose", printed(&exact(), VERBOSE));
}

#[test]
fn times_on_a_terminal() {
    insta::assert_snapshot!("timed-table", printed(&timed(), WIDE));
    let unknown = Comparison { noise: None, ..timed() };
    assert!(printed(&unknown, WIDE).contains("kiln measure --calibrate"));
}

#[test]
fn what_an_experiment_recorded_on_a_terminal_and_a_page() {
    insta::assert_snapshot!("recorded-table", printed(&recorded(), WIDE));
    insta::assert_snapshot!("recorded-csv", written(|out| csv(&recorded(), out)).replace('\r', ""));
    let page = page(&recorded());
    assert!(
        page.contains("throughput, Mbit/s") && page.contains("runs: base 5 of 5 passed; new 2 of 5"),
        "{page}"
    );
}

#[test]
fn a_claim_below_the_noise_floor_is_doubted() {
    let mut comparison = timed();
    comparison.noise.as_mut().unwrap().floor = 2.6;
    let doubted = "-2.42  -3.10 to -1.70   0.012  better, below the floor\n";
    let text = printed(&comparison, WIDE);
    assert!(text.contains(doubted) && text.matches("below the floor").count() == 1, "{text}");
    assert!(page(&comparison).contains("better, below the floor"));
}

#[test]
fn of_many_rows_the_small_ones_are_left_out() {
    insta::assert_snapshot!("many-table", printed(&many(), WIDE));
    assert!(printed(&many(), VERBOSE).contains("file/operation-29"));
    let page = page(&many());
    assert!(
        page.contains("file/operation-29") && page.contains("Functions that changed in several operations")
    );
}

#[test]
fn several_kernels_have_a_table_each() {
    insta::assert_snapshot!("several-table", printed(&several(), WIDE));
}

#[test]
fn nothing_to_compare() {
    insta::assert_snapshot!("no-figures-table", printed(&empty(), WIDE));
    insta::assert_snapshot!("all-missing-table", printed(&all_missing(), WIDE));
}

#[test]
fn documents_for_programs() {
    insta::assert_snapshot!("exact-csv", written(|out| csv(&exact(), out)).replace('\r', ""));
    insta::assert_snapshot!("timed-csv", written(|out| csv(&timed(), out)).replace('\r', ""));
    insta::assert_snapshot!("all-missing-json", written(|out| json(&all_missing(), out)));
    for comparison in [exact(), timed(), recorded(), several(), empty()] {
        let text = written(|out| json(&comparison, out));
        assert_eq!(serde_json::from_str::<Comparison>(&text).unwrap(), comparison);
    }
}

#[test]
fn figures_of_one_kernel() {
    let terminal = |width| written(|out| measurement::table(&figures(), width, false, out));
    insta::assert_snapshot!("measurement-table", terminal(None));
    assert!(terminal(Some(60)).lines().all(|line| line.width() <= 60));
    insta::assert_snapshot!(
        "measurement-csv",
        written(|out| measurement::csv(&figures(), out)).replace('\r', "")
    );
    let text = written(|out| measurement::json(&figures(), out));
    assert_eq!(serde_json::from_str::<measure::Measurement>(&text).unwrap(), figures());
}

#[test]
fn colours_change_nothing_else() {
    for comparison in [exact(), timed()] {
        let coloured = printed(&comparison, Options { colour: true, ..VERBOSE });
        assert_ne!(coloured, printed(&comparison, VERBOSE));
        assert_eq!(report::safe(&coloured), printed(&comparison, VERBOSE));
    }
}

#[test]
fn lines_are_no_wider_than_the_terminal() {
    for comparison in [exact(), timed(), recorded(), several(), all_missing(), hostile()] {
        for options in [NARROW, WIDE] {
            let text = printed(&comparison, options);
            let wide = text.lines().find(|line| line.width() > options.width.unwrap());
            assert_eq!(wide, None);
        }
    }
}

#[test]
fn hostile_text_stays_text() {
    let comparison = hostile();
    let csv = written(|out| csv(&comparison, out)).replace("\r\n", "\n");
    for text in [printed(&comparison, VERBOSE), csv, written(|out| json(&comparison, out)), page(&comparison)]
    {
        assert!(text.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}'));
    }
    assert!(!page(&comparison).contains("<script>alert"));
}

/// What a page has between two texts.
pub(crate) fn between<'a>(page: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = page.split_once(start).unwrap();
    rest.split_once(end).unwrap().0
}

#[test]
fn parts_of_a_page() {
    let page = page(&exact());
    insta::assert_snapshot!("html-header", between(&page, "<header>", "</header>").replace("><", ">\n<"));
    insta::assert_snapshot!("html-rows", between(&page, "<section>", "</table>").replace("</tr>", "</tr>\n"));
    insta::assert_snapshot!("html-metric", between(&page, "<article", "</article>").replace("><", ">\n<"));
}

#[test]
fn the_page_of_times_has_boots_and_interval() {
    let page = page(&timed());
    insta::assert_snapshot!(
        "html-chart-timed",
        between(&page, "<article", "</article>").replace("><", ">\n<")
    );
    assert!(page.contains("noise floor"));
}

/// Elements that have no end: html.spec.whatwg.org, "void elements".
const VOID: [&str; 3] = ["meta", "input", "!DOCTYPE"];

/// The elements of a page that have no end; nothing in it may be fetched.
pub(crate) fn open_elements(page: &str) -> Vec<String> {
    for fetched in ["http:", "https:", "src=", "url(", "@import", "<link"] {
        assert!(!page.contains(fetched), "{fetched}");
    }
    let (script, style) = (between(page, "<script>", "</script>"), between(page, "<style>", "</style>"));
    let markup = page.replace(script, "").replace(style, "");
    let mut open = Vec::new();
    for tag in markup.split('<').skip(1).map(|rest| rest.split(['>', ' ']).next().unwrap()) {
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop().as_deref(), Some(name)),
            None if !VOID.contains(&tag) => open.push(tag.to_owned()),
            None => {}
        }
    }
    open
}

#[test]
fn pages_are_well_formed_and_stand_alone() {
    for comparison in [exact(), timed(), several(), empty(), all_missing(), hostile()] {
        assert_eq!(open_elements(&page(&comparison)), [""; 0]);
    }
}

#[test]
fn links_lead_somewhere() {
    let page = page(&several());
    let targets: Vec<&str> =
        page.split("href=\"#").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(targets.len() > 4);
    assert!(targets.iter().all(|target| page.matches(&format!("id=\"{target}\"")).count() == 1));
}

/// A suite several times as large as kiln's own, with all functions and stacks that anybody could ask for.
#[test]
fn a_large_page_has_an_end() {
    let mut comparison = exact();
    let row = comparison.others[0].rows[0].clone();
    let mut why = row.why.clone().unwrap();
    why.stacks =
        (0..300).map(|index| (format!("entry;call_{};function_{index}", index % 7), 900, 1_000)).collect();
    comparison.others[0].rows = vec![verdict::Row { why: Some(why), ..row }; 400];
    let page = page(&comparison);
    assert!(page.len() < 6 << 20, "{}", page.len());
    assert!(page.contains("the page would be too large"));
}

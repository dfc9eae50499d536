use judge::Outcome;
use matrix::{Cell, Column, Grid, Row};

/// A grid of rows as `name .F~`, on stock kernels of two flavours.
fn grid(rows: &[(&str, &str)]) -> Grid {
    let column = |(number, flavour): (&str, &str)| Column {
        kernel: format!("deb:6.1.0-{number}-{flavour}"),
        release: format!("6.1.0-{number}-{flavour}"),
        parameters: String::new(),
    };
    let columns =
        [("47", "amd64"), ("50", "amd64"), ("56", "amd64"), ("50", "cloud-amd64"), ("56", "cloud-amd64")];
    let cell = |sign| {
        let (outcome, reason, failures) = match sign {
            '.' => (Outcome::Pass, "", 0),
            'F' => (Outcome::Fail, "WARNING in foo \u{1b}[31m\u{202e}<b>", 1),
            'C' => (Outcome::Crash, "Kernel panic: Fatal exception", 1),
            's' => (Outcome::Skip, "no /dev/x", 0),
            _ => return None,
        };
        let session = "2026-11-20T10-00-00Z-7".to_owned();
        Some(Cell { outcome, reason: reason.to_owned(), session, runs: 1, failures })
    };
    let row = |(name, signs): &(&str, &str)| Row {
        case: (*name).to_owned(),
        is_boot: *name == "boot",
        cells: signs.chars().map(cell).collect(),
    };
    Grid {
        suite: "smoke".to_owned(),
        setting: String::new(),
        columns: columns.map(column).into(),
        rows: rows.iter().map(row).collect(),
    }
}

pub(crate) fn grids() -> Vec<Grid> {
    vec![grid(&[
        ("boot", "...C."),
        ("fs/copy", ".... "),
        ("fs/reflink", ".F.F."),
        ("net/one", "....."),
        ("net/three", "....."),
        ("net/two", "....."),
        ("pipe/bad", "FFFFF"),
        ("vm/x", "..s.."),
    ])]
}

fn text(all: bool) -> String {
    let mut out = Vec::new();
    report::matrix::text(&grids(), all, false, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn what_differs_comes_first_and_what_is_alike_is_one_line() {
    insta::assert_snapshot!(text(false));
}

#[test]
fn each_case_has_a_line_where_somebody_asks_for_it() {
    let lines = |all| text(all).lines().filter(|line| line.starts_with("net/")).count();
    assert_eq!((lines(false), lines(true)), (0, 3));
}

#[test]
fn nothing_hostile_leaves_a_report_and_no_cell_is_lost() {
    let mut page = Vec::new();
    report::matrix::html(&grids(), "kiln matrix 'deb:6.1.*'", &mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    assert_eq!(["red", "amber"].map(|light| page.matches(&format!("class=\"{light}\"")).count()), [8, 1]);
    assert!(page.contains("&lt;b&gt;") && page.contains("kiln show 2026-11-20T10-00-00Z-7/fs/reflink"));
    let mut json = Vec::new();
    report::matrix::json(&grids(), &mut json).unwrap();
    let read: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!((read[0]["groups"][0]["light"].as_str(), &read[0]["suite"]), (Some("red"), &"smoke".into()));
    for text in [page, text(true), String::from_utf8(json).unwrap()] {
        assert!(!text.contains(['\u{1b}', '\u{202e}']));
    }
}

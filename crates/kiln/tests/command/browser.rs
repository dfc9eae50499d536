//! Pages in a browser: those of `kiln serve`, and of `kiln report`.
//!
//! * [`hostile`]: a ledger full of texts that want to be more than text
//! * [`live`]: pages that are renewed; [`controls`]: what a page can be asked, and [`jobs`] to start and stop; [`strangers`]: who may not
//!   ask
//!
//! ```text
//! cargo test --package kiln --test command browser:: -- --ignored
//! ```

mod controls;
mod hostile;
mod jobs;
mod live;
mod strangers;

use std::path::{Path, PathBuf};

use browser::{Browser, Expected, Tab, faults};
use serde_json::json;

use crate::support::serving::Served;
use crate::support::{Place, text};

/// The pages of a server by their names, each with words that it says: a new page is a line here.
const PAGES: &[(&str, &str, &[&str])] = &[
    (
        "overview",
        "/",
        &[
            "Not at their end",
            "2026-11-21T10-07-31Z-4711",
            "window.owned=1</script>",
            "1 of 3",
            "Bisections that run",
        ],
    ),
    ("runs", "/runs", &["Runs", "pipe/full", "onerror=\"window.owned=2\">", "All as CSV"]),
    ("runs-chosen", "/runs?case=pipe%2F*&outcome=fail%2Ccrash", &["pipe/full", "is 0"]),
    (
        "runs-none",
        "/runs?case=%3Cscript%3Ewindow.owned%3D9%3C%2Fscript%3E",
        &["no session has a case", "did you mean"],
    ),
    ("matrix", "/matrix?suite=smoke", &["Matrix of smoke", "6.1.0-56-cloud-amd64", "pipe/size"]),
    ("kernel", "/kernel?kernel=6.1.0-56-cloud-amd64", &["Against the kernel before", "Sessions", "smoke"]),
    ("case", "/case?suite=smoke&case=pipe%2Fsize", &["pipe/size", "newest 2 Runs"]),
    ("experiment", "/experiment?suite=smoke", &["window.owned=3"]),
    ("conclusions", "/conclusions", &["Comparisons", "Bisections", "not at its end: 8 commits from"]),
    (
        "bisection-running",
        "/bisection/5f1c9a0e6b7d2c35",
        &["Tested now", "~2.5 left", "window.owned=1</script>"],
    ),
    ("bisection-stopped", "/bisection/4f1c9a0e6b7d2c35", &["was stopped", "window.owned=1</script>"]),
    ("host", "/host", &["free memory", "Jobs of Slurm", "Posts that were not sent"]),
    ("problems", "/problems", &["problems, 0 closed", "<script>window.owned=1</script>"]),
    (
        "session",
        "/session/2026-11-20T10-07-31Z-4711",
        &["What went wrong", "<script>window.owned=1</script>", "Kernel log"],
    ),
    ("session-second", "/session/2026-11-20T10-07-31Z-4711.2", &["All cases", "pipe/size"]),
    ("session-imported", "/session/2026-11-19T10-07-31Z-1", &["run on", "javascript:window.owned=5"]),
    ("session-experiment", "/session/2026-11-18T10-07-31Z-1", &["Figures", "window.owned=3"]),
    ("session-running", "/session/2026-11-21T10-07-31Z-4711", &["did not come to its end"]),
    ("run", "/session/2026-11-20T10-07-31Z-4711/pipe/full", &["What went wrong", "is 0"]),
    ("unknown", "/no/%3Cscript%3E", &["there is no such page"]),
    (
        "wrong",
        "/runs?outcome=%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        &["<script>alert(1)</script>", "is none of"],
    ),
];

/// A browser; a test that cannot have one fails.
fn browser() -> Browser {
    Browser::start().unwrap_or_else(|error| panic!("{error}"))
}

/// Where pictures are kept for people to look at.
fn pictures(of: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("browser").join(of);
    std::fs::create_dir_all(&folder).expect("writable");
    folder
}

/// Whether a page of the dashboard has this text.
fn shows(text: &str) -> String {
    format!("document.getElementById('page')?.textContent.includes({})", json!(text))
}

/// What is wrong with a page.
fn judged(tab: &Tab<'_>, page: Expected<'_>, folder: &Path) -> Vec<String> {
    let found = faults(tab, page, folder).unwrap_or_else(|error| vec![format!("{}: {error}", page.name)]);
    if found.is_empty() { found } else { [found, tab.incidents()].concat() }
}

/// The first address that a page leads to and that begins so.
fn linked(served: &Served, page: &str, beginning: &str) -> String {
    let page = served.get(page);
    let links = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let found = links.into_iter().find(|link| link.starts_with(beginning));
    served.address(
        &found.unwrap_or_else(|| panic!("nothing leads to {beginning}: {page}")).replace("&amp;", "&"),
    )
}

/// The links of a page that lead nowhere.
fn dead_links(tab: &Tab<'_>) -> Vec<String> {
    const SCRIPT: &str = "Promise.all([...new Set([...document.links].map(link => link.href.split('#')[0]))]
        .map(async address => { const answer = await fetch(address); return answer.ok ? [] : [`${address} gives ${answer.status}`]; }))
        .then(all => all.flat())";
    let dead = tab.evaluate(SCRIPT).expect("a list");
    serde_json::from_value(dead).expect("texts")
}

#[test]
#[ignore = "needs Chromium, and takes minutes"]
fn every_page_of_the_dashboard_is_for_everybody_and_safe_to_open() {
    let place = Place::new();
    let _running = hostile::write(&place);
    let (served, browser) = (Served::start(&place, &[]), browser());
    let (folder, mut found) = (pictures("dashboard"), Vec::new());
    let hostile: Vec<(String, String)> =
        hostile::runs().map(|(name, path)| (name, served.address(&path))).collect();
    let listed = PAGES.iter().map(|(name, path, says)| ((*name).to_owned(), served.address(path), *says));
    let hostile = hostile.into_iter().map(|(name, address)| (name, address, &["What went wrong"][..]));
    let led_to = [
        ("kernel-hostile", "/", "/kernel?kernel=%3C", &["Against the kernel before"][..]),
        ("matrix-hostile", "/", "/matrix?suite=%3C", &["Matrix of"]),
        ("problem", "/problems", "/problem/", &["window.owned=1"]),
    ];
    let led_to = led_to.map(|(name, from, to, says)| (name.to_owned(), linked(&served, from, to), says));
    for (name, address, says) in listed.chain(hostile).chain(led_to) {
        let tab = browser.tab().expect("a tab");
        found.extend(judged(&tab, Expected { name: &name, address: &address, says }, &folder));
        tab.open(&address).expect("it is served");
        found.extend(dead_links(&tab).into_iter().map(|dead| format!("{name}: {dead}")));
    }
    served.stop().expect(0);
    assert!(found.is_empty(), "{}\npictures are in {}", found.join("\n"), folder.display());
}

#[test]
#[ignore = "needs Chromium, and takes minutes"]
fn every_report_of_a_session_is_for_everybody_and_safe_to_open() {
    let place = Place::new();
    let _running = hostile::write(&place);
    let (browser, folder) = (browser(), pictures("sessions"));
    let mut found = Vec::new();
    for (name, subject) in [
        ("session", "2026-11-20T10-07-31Z-4711"),
        ("run", "2026-11-20T10-07-31Z-4711/pipe/full"),
        ("imported", "2026-11-19T10-07-31Z-1"),
        ("experiment", "2026-11-18T10-07-31Z-1"),
        ("running", "2026-11-21T10-07-31Z-4711"),
    ] {
        let path = folder.join(format!("{name}.html"));
        place.kiln(["report", subject, "-o", text(&path)]).run().expect(0);
        let address = format!("file://{}", path.display());
        let tab = browser.tab().expect("a tab");
        found.extend(judged(&tab, Expected { name, address: &address, says: &["All cases"] }, &folder));
    }
    assert!(found.is_empty(), "{}\npictures are in {}", found.join("\n"), folder.display());
}

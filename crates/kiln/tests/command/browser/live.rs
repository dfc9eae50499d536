//! Pages that are renewed while kiln works.

use browser::{Key, Tab};
use judge::Outcome;

use super::shows;
use crate::support::Place;
use crate::support::serving::Served;
use crate::support::written::{add_run, bisection, document, goes_on, run, session, sessions_of};

/// A session with a Run that failed.
fn add(place: &Place, number: usize) -> String {
    let (name, case) = (format!("2026-11-20T10-07-{number:02}Z-4711"), format!("pipe/case-{number}"));
    let failed = run(&case, Outcome::Fail, "is 0");
    session(&sessions_of(place), &name, &document(&[&case]), &[failed]);
    name
}

/// Shows a page that will notice if it is loaded once more.
fn open(tab: &Tab<'_>, address: &str) {
    tab.open(address).expect("it is served");
    tab.evaluate("window.loaded = true").expect("no policy is against it");
    tab.wait("document.getElementById('live').textContent === 'live'").expect("events arrive");
}

#[test]
#[ignore = "needs Chromium"]
fn a_page_has_what_is_new_without_being_loaded_again() {
    let place = Place::new();
    let root = sessions_of(&place);
    add(&place, 10);
    let mut at_work = document(&["pipe/full", "pipe/size", "pipe/fifo"]);
    at_work.as_object_mut().expect("a document").remove("summary");
    session(&root, "2026-11-20T10-09-00Z-1", &at_work, &[run("pipe/size", Outcome::Pass, "")]);
    let (served, browser) = (Served::start(&place, &[]), super::browser());
    let tab = browser.tab().expect("a tab");
    open(&tab, &served.address("/"));
    for number in 11..14 {
        let name = add(&place, number);
        tab.wait(&shows(&name)).expect("it is shown");
    }
    assert_eq!(tab.evaluate("document.querySelector('progress').value").expect("one runs"), 1.0);
    add_run(&root.join("2026-11-20T10-09-00Z-1"), &run("pipe/full", Outcome::Pass, ""));
    std::fs::write(root.join("2026-11-20T10-09-00Z-1/events.jsonl"), "{}\n").expect("writable");
    tab.wait("document.querySelector('progress').value === 2").expect("it goes on");
    std::fs::write(root.join("2026-11-20T10-09-00Z-1/session.json"), document(&["pipe/full"]).to_string())
        .expect("writable");
    tab.wait("!document.querySelector('progress')").expect("it has ended");
    assert_eq!(tab.evaluate("window.loaded").expect("a value"), true);
    assert_eq!(tab.incidents(), [""; 0]);
    served.stop().expect(0);
    tab.wait("document.getElementById('live').textContent === 'not connected'").expect("it says so");
}

#[test]
#[ignore = "needs Chromium"]
fn a_bisection_is_shown_as_it_goes_and_as_its_report_in_the_end() {
    let place = Place::new();
    let (name, question) = ("4f1c9a0e6b7d2c35", "fs/a");
    let journal = bisection(&place, name, question);
    let (served, browser) = (Served::start(&place, &[]), super::browser());
    let tab = browser.tab().expect("a tab");
    open(&tab, &served.address("/"));
    tab.wait(&shows("Bisections that run")).expect("it is told");
    let link = format!("document.querySelector('a[href=\"/bisection/{name}\"]')");
    tab.evaluate(&format!("{link}.click()")).expect("a link");
    tab.wait("location.pathname.startsWith('/bisection/') && document.readyState === 'complete'")
        .expect("it leads there");
    tab.evaluate("window.loaded = true").expect("no policy is against it");
    for steps in 2..5 {
        goes_on(&journal, question, steps);
        tab.wait(&format!("document.querySelectorAll('.states td.good, .states td.bad').length === {steps}"))
            .expect("each state has its verdict");
        tab.wait(&shows(&format!("{steps} steps, ~2.5 left"))).expect("it says what is left");
        tab.wait(&shows(&format!("fs/a c{}", steps + 1))).expect("it says what is tested now");
    }
    assert_eq!(tab.evaluate("window.loaded").expect("a value"), true, "without being loaded again");
    let report = journal.directory().join("report.html");
    std::fs::write(report, "<!DOCTYPE html><title>found</title><h1>the first bad commit is c3</h1>")
        .expect("writable");
    drop(journal);
    tab.wait("document.title === 'found'").expect("its report takes its place");
    assert_eq!(tab.incidents(), [""; 0]);
}

#[test]
#[ignore = "needs Chromium"]
fn what_somebody_does_is_not_taken_away() {
    let place = Place::new();
    add(&place, 10);
    let (served, browser) = (Served::start(&place, &[]), super::browser());
    let tab = browser.tab().expect("a tab");
    let news = "document.getElementById('live').textContent.includes('there is news')";
    let field = |name: &str| format!("document.querySelector('input[name={name}]')");
    let acts: [(&str, &dyn Fn(), String); 4] = [
        (
            "types",
            &|| {
                tab.evaluate(&format!("{}.focus()", field("case"))).expect("a field");
                tab.write("pipe/*").expect("typed");
            },
            format!("{}.value === 'pipe/*'", field("case")),
        ),
        (
            "typed, and went elsewhere",
            &|| {
                tab.evaluate(&format!("{}.focus()", field("kernel"))).expect("a field");
                tab.write("6.1*").expect("typed");
                tab.evaluate("document.activeElement.blur()").expect("a field");
            },
            format!("{}.value === '6.1*'", field("kernel")),
        ),
        (
            "searches",
            &|| {
                tab.evaluate("document.querySelector('input[type=search]').focus()").expect("a field");
                tab.write("case-1").expect("typed");
                tab.evaluate("document.activeElement.blur()").expect("a field");
            },
            "document.querySelector('input[type=search]').value === 'case-1'".to_owned(),
        ),
        (
            "sorts",
            &|| {
                tab.evaluate("document.querySelector('thead button').focus()").expect("a button");
                tab.press(Key::Enter).expect("pressed");
                tab.evaluate("document.activeElement.blur()").expect("a button");
            },
            "document.querySelector('th[aria-sort=ascending]') !== null".to_owned(),
        ),
    ];
    for (number, (what, act, kept)) in acts.iter().enumerate() {
        open(&tab, &served.address("/runs"));
        act();
        add(&place, 20 + number);
        tab.wait(news).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(tab.evaluate(kept).expect("a value"), true, "somebody {what}");
    }
    assert_eq!(tab.incidents(), [""; 0]);
}

#[test]
#[ignore = "needs Chromium"]
fn many_windows_do_not_wait_for_each_other() {
    // A browser has at most six connections to a server that speaks HTTP/1.1.
    const WINDOWS: usize = 9;
    let place = Place::new();
    add(&place, 10);
    let (served, browser) = (Served::start(&place, &[]), super::browser());
    let first = browser.tab().expect("a tab");
    open(&first, &served.address("/"));
    let mut others = Vec::new();
    for _ in 1..WINDOWS {
        let other = first.another().expect("a tab");
        open(&other, &served.address("/"));
        others.push(other);
    }
    let name = add(&place, 11);
    let last = others.last().expect("there are several");
    last.wait(&shows(&name)).expect("the window before all others has it");
    first.show().expect("it is there");
    first.wait(&shows(&name)).expect("one that comes back has it");
}

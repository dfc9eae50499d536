//! What a page has started and stopped, and what no text in it can.

use browser::{Expected, HOSTILE, Key, Tab};
use serde_json::json;

use super::controls::go_to;
use super::{judged, pictures, shows};
use crate::support::serving::Served;
use crate::support::{KERNEL, Place, text};

/// A token as `--token-file` takes it.
const TOKEN: &str = "0123456789abcdefghij";

/// A server from whose pages something can be started.
fn served(place: &Place) -> Served {
    let token = place.file("token", TOKEN);
    Served::start(place, &["--token-file", text(&token), "--allow-run"])
}

/// Types what a field of the first form takes, which has the focus.
fn fill(tab: &Tab<'_>, field: &str, value: &str) {
    go_to(tab, &format!("document.activeElement.name === '{field}'"));
    tab.write(value).expect("typed");
}

#[test]
#[ignore = "needs Chromium, and boots a machine"]
fn a_run_is_started_and_stopped_with_a_keyboard() {
    let place = Place::new();
    let suite = place.suite(&[("sleeps", "sleep 10000 || while :; do :; done")]);
    let (served, browser) = (served(&place), super::browser());
    let tab = browser.tab().expect("a tab");
    tab.open(&served.address(&format!("/?kiln-token={TOKEN}"))).expect("it is served");
    go_to(&tab, "document.activeElement.textContent === 'Jobs'");
    tab.press(Key::Enter).expect("pressed");
    tab.wait("location.pathname === '/jobs' && document.readyState === 'complete'").expect("it leads there");
    tab.wait(&shows("Nothing.")).expect("nothing was started yet");

    fill(&tab, "subject", KERNEL);
    fill(&tab, "suite", &suite);
    tab.press(Key::Enter).expect("pressed");
    tab.wait(&shows(&format!("run {KERNEL} --suite"))).expect("it is started");
    let other = tab.another().expect("a tab");
    other.open(&served.address("/")).expect("it is served");
    other.wait(&shows("Not at their end")).expect("its session is recorded");
    let page = Expected { name: "jobs", address: &served.address("/jobs"), says: &["runs", "Stop", KERNEL] };
    let found = judged(&other, page, &pictures("dashboard"));
    assert!(found.is_empty(), "{}", found.join("\n"));

    tab.show().expect("it is there");
    go_to(&tab, "document.activeElement.textContent === 'Stop'");
    tab.press(Key::Space).expect("pressed");
    tab.wait(&shows("exit code 130")).expect("it ends as with Ctrl-C, and the page says so by itself");
    tab.wait("!document.querySelector('form.stop')").expect("there is nothing more to stop");
    go_to(&tab, "document.activeElement.tagName === 'SUMMARY'");
    tab.press(Key::Enter).expect("pressed");
    tab.wait("document.querySelector('details[open] pre').textContent.includes('interrupted')")
        .expect("what it printed is there");
    assert_eq!(tab.incidents(), [""; 0]);
    served.stop().expect(0);
}

#[test]
#[ignore = "needs Chromium"]
fn no_text_is_more_than_a_word_of_a_call() {
    let place = Place::new();
    let (served, browser) = (served(&place), super::browser());
    let tab = browser.tab().expect("a tab");
    tab.open(&served.address(&format!("/jobs?kiln-token={TOKEN}"))).expect("it is served");
    let ended = "document.readyState === 'complete' && !document.querySelector('form.stop')";
    let start = |subject: &str, other: &str| {
        tab.open(&served.address("/jobs")).expect("it is served");
        let [subject, other] = [json!(subject), json!(other)];
        let script = format!(
            "(form => {{ window.filled = true; form.subject.value = {subject}; form.suite.value = {other}; \
             form.case.value = {other}; form.querySelector('button').click(); }})(document.querySelector('form.filter'))"
        );
        tab.evaluate(&script).expect("a form");
        tab.wait("!window.filled && document.readyState === 'complete'").expect("it is answered");
    };
    for hostile in HOSTILE {
        start(hostile, hostile);
        let is_refused = hostile.chars().any(char::is_control);
        let expected = if is_refused { "is no kernel" } else { "run " };
        tab.wait(&shows(expected)).unwrap_or_else(|error| panic!("{hostile}: {error}"));
        tab.wait(ended).expect("no such kernel is there");
    }
    for (subject, other, expected) in
        [("--exec=/bin/sh", "", "is no kernel"), ("deb:latest", "--exec=/bin/sh", "is no suite")]
    {
        start(subject, other);
        tab.wait(&shows(expected)).unwrap_or_else(|error| panic!("{subject} {other}: {error}"));
    }
    let page = Expected {
        name: "jobs-hostile",
        address: &served.address("/jobs"),
        says: &["window.owned=1</script>", "exit code 2"],
    };
    let found = judged(&tab, page, &pictures("dashboard"));
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert_eq!(tab.evaluate("typeof window.owned").expect("a word"), "undefined");
}

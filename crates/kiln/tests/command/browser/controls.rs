//! What a page can be asked with a keyboard.

use browser::{Key, Tab};
use judge::Outcome;

use crate::support::Place;
use crate::support::serving::Served;
use crate::support::written::{document, run, session, sessions_of};

/// Most fields and links before the one that is wanted.
const FIELDS_MAX: usize = 60;

/// Goes forward until the focus is on what this script says.
pub(super) fn go_to(tab: &Tab<'_>, wanted: &str) {
    for _ in 0..FIELDS_MAX {
        tab.press(Key::Tab).expect("pressed");
        if tab.evaluate(&format!("Boolean({wanted})")).expect("a value") == true {
            return;
        }
    }
    panic!("the keyboard does not get to {wanted}");
}

/// The cases that are shown, in their order.
fn cases(tab: &Tab<'_>) -> Vec<String> {
    let script = "[...document.querySelectorAll('tbody tr')].filter(row => row.checkVisibility()).map(row => row.cells[0].textContent)";
    serde_json::from_value(tab.evaluate(script).expect("a table")).expect("texts")
}

fn served(place: &Place) -> Served {
    let mut runs = [("pipe/full", 30), ("pipe/size", 4), ("net/one", 200)].map(|(case, millis)| {
        let duration = std::time::Duration::from_millis(millis);
        judge::Run { duration, ..run(case, Outcome::Pass, "") }
    });
    (runs[0].outcome, runs[0].reason) = (Outcome::Fail, "is 0".to_owned());
    let names = ["pipe/full", "pipe/size", "net/one"];
    session(&sessions_of(place), "2026-11-20T10-07-31Z-4711", &document(&names), &runs);
    Served::start(place, &[])
}

#[test]
#[ignore = "needs Chromium"]
fn runs_are_chosen_sorted_and_searched_with_a_keyboard() {
    let place = Place::new();
    let (served, browser) = (served(&place), super::browser());
    let tab = browser.tab().expect("a tab");
    tab.open(&served.address("/runs")).expect("it is served");
    assert_eq!(cases(&tab).len(), 3);

    go_to(&tab, "document.activeElement.name === 'case'");
    tab.write("pipe/*").expect("typed");
    tab.press(Key::Enter).expect("pressed");
    tab.wait("location.search.includes('case=pipe%2F*') && document.readyState === 'complete'")
        .expect("it is asked");
    let mut chosen = cases(&tab);
    chosen.sort();
    assert_eq!(chosen, ["pipe/full", "pipe/size"]);
    assert_eq!(tab.evaluate("document.querySelector('input[name=case]').value").expect("a field"), "pipe/*");

    go_to(&tab, "document.activeElement.closest('th')?.textContent === 'time'");
    for (direction, expected) in
        [("ascending", ["pipe/size", "pipe/full"]), ("descending", ["pipe/full", "pipe/size"])]
    {
        tab.press(Key::Enter).expect("pressed");
        tab.wait(&format!("document.querySelector('th[aria-sort={direction}]')")).expect("it is sorted");
        assert_eq!(cases(&tab), expected);
    }
    tab.press(Key::Space).expect("pressed");
    tab.wait("document.querySelector('th[aria-sort=ascending]')").expect("a button obeys the space bar");

    tab.open(&served.address("/runs")).expect("it is served");
    go_to(&tab, "document.activeElement.type === 'search'");
    tab.write("is 0 FULL").expect("typed");
    tab.wait("document.querySelector('.search output').textContent === '1 of 3'").expect("it is counted");
    assert_eq!(cases(&tab), ["pipe/full"]);

    tab.open(&served.address("/runs")).expect("it is served");
    go_to(&tab, "document.activeElement.name === 'outcome'");
    tab.write("bad").expect("typed");
    tab.press(Key::Enter).expect("pressed");
    tab.wait("document.body?.textContent.includes('is none of')").expect("it is refused");
}

#[test]
#[ignore = "needs Chromium"]
fn a_link_of_a_session_unfolds_what_it_leads_to() {
    let place = Place::new();
    let (served, browser) = (served(&place), super::browser());
    let tab = browser.tab().expect("a tab");
    tab.open(&served.address("/")).expect("it is served");
    go_to(&tab, "document.activeElement.textContent.startsWith('2026-11-20')");
    tab.press(Key::Enter).expect("pressed");
    tab.wait("location.pathname.startsWith('/session/') && document.readyState === 'complete'")
        .expect("it leads there");
    go_to(&tab, "document.activeElement.hash?.startsWith('#run-')");
    tab.press(Key::Enter).expect("pressed");
    tab.wait("document.querySelector('article:target')").expect("it is marked");
}

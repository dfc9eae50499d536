//! What is shown of a bisection that goes on.

use bisect::{StateReport, Underway};
use report::bisection::{progress, underway};

use crate::bisections::{all, commit, going_on, metric, poisoned};
use crate::compare::{between, open_elements};

fn page(of: &Underway, is_running: bool) -> String {
    underway(of, is_running).into_file()
}

#[test]
fn it_says_what_is_tested_what_was_seen_and_what_is_left() {
    let page = page(&going_on(commit()), true).replace("><", ">\n<");
    insta::assert_snapshot!("underway", between(&page, "<header>", "</main>"));
}

#[test]
fn one_that_was_stopped_tests_nothing() {
    let page = page(&going_on(commit()), false);
    assert!(page.contains("The same command resumes it.") && !page.contains("Tested now"), "{page}");
    assert!(page.contains("<td class=\"bad\">bad</td>"), "what was seen stays: {page}");
}

#[test]
fn before_there_is_something_to_believe_it_says_what_it_does() {
    let begun = Underway { belief: None, states: Vec::new(), testing: Vec::new(), ..going_on(commit()) };
    assert_eq!(progress(&begun).into_string(), "It checks both ends.");
    let page = page(&begun, true);
    assert!(page.contains("No state was tested yet.") && page.contains("Nothing at this moment."), "{page}");
}

#[test]
fn values_have_no_verdict_until_both_ends_are_known() {
    let measured = going_on(metric());
    let bare = |state: &StateReport| StateReport { bad: 0, good: 0, ..state.clone() };
    let states = measured.states.iter().map(bare).collect();
    let known = Underway { states, ..measured };
    let verdicts = |of: &Underway| page(of, true).matches("<td class=\"bad\">bad</td>").count();
    assert_eq!(verdicts(&known), 1);
    let begun = Underway { threshold: None, ..known };
    let page = page(&begun, true);
    assert!(page.contains("2,499 instructions (1 boot)"), "{page}");
    for word in [">bad<", ">good<", ">untestable<"] {
        let of_states = between(&page, "<table class=\"states\">", "</main>");
        assert!(!of_states.contains(word), "{word}: {of_states}");
    }
}

#[test]
fn pages_are_well_formed_and_nothing_of_a_text_is_markup() {
    for bisection in all().into_iter().chain(all().into_iter().map(|it| poisoned(it, "<b>\"'&\n<!--"))) {
        let page = page(&going_on(bisection), true);
        assert_eq!(open_elements(&page), [""; 0]);
        assert!(!page.contains("<b>") && !page.contains("<!--"));
    }
}

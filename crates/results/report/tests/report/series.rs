//! What is printed of patch series.

use report::series::{Findings, series_difference, series_json, series_list, series_text};
use series::{Choice, Mailbox, Threads, assemble, pairs, series};

/// `(id, from, subject, parent, text, whether it has a patch)`, each a minute after the one before.
type Letter = (&'static str, &'static str, &'static str, &'static str, &'static str, bool);

const AUTHOR: &str = "A. Developer <dev@example.org>";
const VIEWER: &str = "R. Viewer <r@example.com>";

const LETTERS: [Letter; 8] = [
    (
        "0@x",
        AUTHOR,
        "[PATCH 0/3] three changes",
        "",
        " 1 file changed, 1 insertion(+)\n\nbase-commit: 0123456789ab",
        false,
    ),
    ("1@x", AUTHOR, "[PATCH 1/3] fs: one\u{1b}[31m", "0@x", "", true),
    ("3@x", AUTHOR, "[PATCH 3/3] fs: three", "0@x", "", true),
    ("c@x", AUTHOR, "[PATCH v2 0/12] three changes", "0@x", "change-id: 2025-three", false),
    ("v1@x", AUTHOR, "[PATCH v2 01/12] fs: one", "c@x", "", true),
    (
        "r@x",
        VIEWER,
        "Re: [PATCH 1/3] fs: one",
        "1@x",
        "Reviewed-by: R. Viewer <r@example.com>\nAcked-by: E <e@x.org>",
        false,
    ),
    ("s@x", VIEWER, "Re: [PATCH v2 0/12]", "c@x", "Tested-by: R. Viewer <r@example.com> # fs", false),
    ("t@x", VIEWER, "Re: [PATCH 3/3]", "3@x", "Reviewed-by: R. Viewer <r@example.com>", false),
];

fn threads(letters: &[Letter]) -> Threads {
    let mut mbox = String::new();
    for (minute, (id, from, subject, parent, text, has_patch)) in letters.iter().enumerate() {
        let answers = if parent.is_empty() { String::new() } else { format!("In-Reply-To: <{parent}>\n") };
        let patch =
            if *has_patch { "---\ndiff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n" } else { "" };
        mbox += &format!(
            "From x@z Thu Jan  1 00:00:00 1970\nMessage-ID: <{id}>\nFrom: {from}\nSubject: {subject}\n{answers}\
             Date: Wed, 1 Jan 2025 10:{minute:02}:00 +0000\n\n{text}\n{patch}\n"
        );
    }
    Threads::new(Mailbox::parse(mbox.as_bytes()).unwrap().mails)
}

#[test]
fn a_series_is_shown_with_all_that_is_odd_about_it() {
    let threads = threads(&LETTERS);
    let all = series(&threads);
    let latest = assemble(&threads, &all[0], Choice::default()).unwrap();
    let text = series_text(&all[0], &latest, &Findings::default(), false);
    assert!(!text.contains('\u{1b}'));
    insta::assert_snapshot!("series-text", text);
    let first = Choice { revision: Some(1), ..Choice::default() };
    insta::assert_snapshot!(
        "series-first",
        series_text(&all[0], &assemble(&threads, &all[0], first).unwrap(), &Findings::default(), true)
    );
    let first = assemble(&threads, &all[0], first).unwrap();
    insta::assert_snapshot!("series-difference", series_difference(&pairs(&first, &latest), false));
    let json = serde_json::to_string_pretty(&series_json(&all[0], &latest, &Findings::default())).unwrap();
    insta::assert_snapshot!("series-json", json);
}

#[test]
fn several_series_are_listed_by_an_id() {
    let mut letters = LETTERS.to_vec();
    letters.push(("other@x", VIEWER, "[PATCH] mm: other", "", "", true));
    let threads = threads(&letters);
    insta::assert_snapshot!("series-list", series_list(&threads, &series(&threads)));
}

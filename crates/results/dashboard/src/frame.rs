//! What is around each page: no script or style in it is its own, so that the policy for contents allows none.

use maud::{DOCTYPE, html};
use report::html::{Page, harmless, text};

/// Where all pages lead to.
const PLACES: [(&str, &str); 3] = [("/", "Overview"), ("/runs", "Runs"), ("/problems", "Problems")];

/// The whole page.
pub(crate) fn framed(page: &Page) -> String {
    harmless(html! {
        (DOCTYPE) "\n"
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (text(&page.title)) " · kiln" }
                link rel="stylesheet" href="/style.css";
                script src="/page.js" defer {}
                script src="/live.js" defer {}
            }
            "\n"
            body {
                nav aria-label="kiln" { @for (address, name) in PLACES { a href=(address) { (name) } " " } span #live role="status" {} }
                "\n"
                div #page { (page.body) }
            }
        }
        "\n"
    })
}

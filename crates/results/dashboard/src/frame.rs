//! What is around each page: no script or style in it is its own, so that the policy for contents allows none.

use maud::html;
use report::html::{Page, document};

/// Where all pages lead to.
const PLACES: [(&str, &str); 3] = [("/", "Overview"), ("/runs", "Runs"), ("/problems", "Problems")];

/// The whole page.
pub(crate) fn framed(page: &Page) -> String {
    let head = html! {
        link rel="stylesheet" href="/style.css";
        script src="/page.js" defer {}
        script src="/live.js" defer {}
    };
    let body = html! {
        nav aria-label="kiln" {
            @for (address, name) in PLACES { a href=(address) { (name) } " " }
            span #live role="status" {}
        }
        "\n"
        div #page { (page.body) }
    };
    document(&format!("{} · kiln", page.title), &head, &body)
}

//! What is around each page: no script or style in it is its own, so that the policy for contents allows none.

use maud::{Markup, html};
use report::html::{Page, STYLE, document};

use crate::address::JOBS;

/// Where all pages lead to.
const PLACES: [(&str, &str); 3] =
    [("/", "Overview"), ("/problems", "Problems"), ("/conclusions", "Conclusions")];

/// Where pages lead to that a server makes.
const SERVED: [(&str, &str); 2] = [("/runs", "Runs"), ("/host", "Host")];

/// Where they lead to if browsers may have something started.
const STARTED: (&str, &str) = (JOBS, "Jobs");

/// The style of all pages.
pub(crate) fn style() -> String {
    format!("{STYLE}{}", include_str!("assets/dashboard.css"))
}

/// The feed of a site.
pub(crate) const FEED: &str = "/feed.xml";

/// The whole page, as a server makes it. `has_jobs` says that browsers may have something started.
pub(crate) fn framed(page: &Page, has_jobs: bool) -> String {
    let live = html! {
        link rel="icon" href="/icon.svg";
        script src="/live.js" defer {}
    };
    let status = html! { span #live role="status" {} };
    let started = has_jobs.then_some(STARTED);
    whole(page, &PLACES.into_iter().chain(SERVED).chain(started).collect::<Vec<_>>(), &live, &status)
}

/// The whole page, as a file of a site.
pub(crate) fn filed(page: &Page) -> String {
    let feed = html! { link rel="alternate" type="application/atom+xml" title="kiln" href=(FEED); };
    whole(page, &PLACES, &feed, &html! {})
}

fn whole(page: &Page, places: &[(&str, &str)], more: &Markup, beside: &Markup) -> String {
    let head = html! {
        link rel="stylesheet" href="/style.css";
        // What renews a page has to see it before others change it.
        (more)
        script src="/page.js" defer {}
    };
    let body = html! {
        nav aria-label="kiln" {
            @for (address, name) in places { a href=(address) { (name) } " " }
            (beside)
        }
        "\n"
        div #page { (page.body) }
    };
    document(&format!("{} · kiln", page.title), &head, &body)
}

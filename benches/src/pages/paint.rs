//! How soon a browser shows a page: <https://www.w3.org/TR/paint-timing/>.

use anyhow::{Context, Result};
use browser::{Browser, Error};

use super::server::Server;
use crate::promise::Promise;

/// Milliseconds from the click to the first thing that is seen.
const MILLISECONDS: f64 = 1000.0;

/// Times that a page is opened; the best counts.
const TIMES: usize = 3;

/// When something of the page was first seen.
const PAINTED: &str = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0";

/// The promises of pages by their names and addresses. Without a browser there are none.
pub(super) fn measure(server: &Server, pages: &[(&str, &str)]) -> Result<Vec<Promise>> {
    let browser = match Browser::start() {
        Err(error @ Error::Missing { .. }) => {
            eprintln!("bench: how soon pages are seen is not measured: {error}");
            return Ok(Vec::new());
        }
        browser => browser?,
    };
    let tab = browser.tab()?;
    let promise = |&(name, page): &(&str, &str)| -> Result<Promise> {
        let mut best = f64::INFINITY;
        for number in 0..TIMES {
            // No page is the same as one that was made just now.
            tab.open(&server.address(&format!("{page}paint={number}")))?;
            tab.wait(&format!("({PAINTED}) > 0"))?;
            best = best.min(tab.evaluate(PAINTED)?.as_f64().context("a time")?);
        }
        Ok(Promise::plain(&format!("{name}: milliseconds to the first paint"), best, Some(MILLISECONDS)))
    };
    pages.iter().map(promise).collect()
}

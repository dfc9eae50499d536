//! From the addresses of a server to the files of a site.

use std::collections::HashMap;

use super::plan::Planned;

/// What pages begin addresses with; no text of a guest has a quotation mark in it.
const MARKS: [&str; 2] = [" href=\"/", " src=\"/"];

/// Files that are no pages.
const ASSETS: [&str; 3] = ["style.css", "page.js", "feed.xml"];

/// The files of a site by the addresses of their pages.
#[derive(Debug)]
pub(super) struct Links(HashMap<String, String>);

impl Links {
    /// Those of these pages.
    pub(super) fn of(planned: &[Planned]) -> Self {
        let pages = planned.iter().map(|page| (page.address.clone(), page.file.clone()));
        let assets = ASSETS.map(|file| (format!("/{file}"), file.to_owned()));
        Self(pages.chain(assets).collect())
    }

    /// The file of an address. A Run is on the page of its session.
    pub(super) fn file(&self, address: &str) -> Option<&str> {
        let session = || {
            let name = address.strip_prefix("/session/")?.split('/').next()?;
            self.0.get(&format!("/session/{name}"))
        };
        self.0.get(address).or_else(session).map(String::as_str)
    }

    /// A page with its addresses as they are from a file. What leads to a page that is no file leads nowhere.
    pub(super) fn relative(&self, page: &str, file: &str) -> String {
        let up = "../".repeat(file.matches('/').count());
        let mut out = String::with_capacity(page.len());
        let mut rest = page;
        while let Some((at, mark)) = next_mark(rest) {
            let begin = at + mark.len() - 1;
            let end = rest[begin..].find('"').map_or(rest.len(), |length| begin + length);
            out.push_str(&rest[..at]);
            let address = rest[begin..end].replace("&amp;", "&");
            if let Some(file) = self.file(&address) {
                out.push_str(&format!("{}{up}{file}\"", &mark[..mark.len() - 1]));
            }
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        out.push_str(rest);
        out
    }
}

/// The first mark of a text, and where it is.
fn next_mark(text: &str) -> Option<(usize, &'static str)> {
    MARKS.into_iter().filter_map(|mark| Some((text.find(mark)?, mark))).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links() -> Links {
        let files =
            [("/", "index.html"), ("/session/1", "session/1.html"), ("/kernel?kernel=a&b", "kernel/x.html")];
        Links(files.map(|(address, file)| (address.to_owned(), file.to_owned())).into())
    }

    #[test]
    fn addresses_become_relative_and_others_lead_nowhere() {
        let page = r##"<a href="/">o</a><a href="/session/1/a/b">r</a><a href="/kernel?kernel=a&amp;b">k</a><a class="x" href="/runs">n</a><a href="#run-1">i</a>"##;
        let expected = r##"<a href="../index.html">o</a><a href="../session/1.html">r</a><a href="../kernel/x.html">k</a><a class="x">n</a><a href="#run-1">i</a>"##;
        assert_eq!(links().relative(page, "session/1.html"), expected);
    }

    #[test]
    fn a_page_without_an_end_is_borne() {
        assert_eq!(links().relative(r#"<a href="/ses"#, "index.html"), "<a");
        assert_eq!(links().relative("", "index.html"), "");
    }
}

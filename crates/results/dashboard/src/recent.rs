//! Pages that were made just now: of many browsers that learn of the same news one has the page made.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use axum::body::Bytes;

/// How old a page may be: comparisons, bisections and checks change without news.
const AGE: Duration = Duration::from_secs(5);

/// Bytes of all pages together.
const BYTES_MAX: usize = 32 << 20;

/// Pages by their addresses.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    /// The number of the news that they know.
    news: u64,
    pages: HashMap<String, (Instant, Bytes)>,
    bytes: usize,
}

impl Recent {
    /// The page of an address that knows the news of this number.
    pub(crate) fn get(&self, address: &str, news: u64) -> Option<Bytes> {
        let (made, page) = self.pages.get(address)?;
        (self.news == news && made.elapsed() < AGE).then(|| page.clone())
    }

    /// Takes a page that was made when the news had this number.
    pub(crate) fn put(&mut self, address: &str, news: u64, page: Bytes) {
        if self.news != news || self.bytes + page.len() > BYTES_MAX {
            self.pages.clear();
            self.bytes = 0;
            self.news = news;
        }
        self.bytes += page.len();
        if let Some((_, before)) = self.pages.insert(address.to_owned(), (Instant::now(), page)) {
            self.bytes -= before.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_kept_until_there_is_news() {
        let mut recent = Recent::default();
        recent.put("/", 1, Bytes::from_static(b"one"));
        recent.put("/runs", 1, Bytes::from_static(b"two"));
        assert_eq!(recent.get("/", 1).as_deref(), Some(&b"one"[..]));
        assert_eq!(recent.get("/", 2), None);
        recent.put("/", 2, Bytes::from_static(b"new"));
        assert_eq!(recent.get("/", 2).as_deref(), Some(&b"new"[..]));
        assert_eq!(recent.get("/runs", 2), None);
    }

    #[test]
    fn all_pages_together_are_bounded() {
        let mut recent = Recent::default();
        let page = Bytes::from(vec![0; BYTES_MAX / 4]);
        for number in 0..100 {
            recent.put(&number.to_string(), 1, page.clone());
            assert!(recent.bytes <= BYTES_MAX && recent.pages.len() <= 4);
        }
        recent.put("99", 1, page.clone());
        assert_eq!(recent.bytes, recent.pages.values().map(|(_, page)| page.len()).sum::<usize>());
    }
}

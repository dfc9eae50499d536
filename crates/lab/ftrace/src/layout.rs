//! Where the parts of a page of a ring buffer are.

use thiserror::Error;

use crate::format::attributes;

/// Larger pages than this are no kernel's: `buffer_subbuf_size_kb` takes up to 2^10 pages.
const PAGE_MAX: usize = 1024 * 4096;

/// The places of a page's parts, in bytes from its begin. `Default` is that of a 64-bit kernel with pages of 4096 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Where the number of bytes in use is.
    pub commit: usize,
    /// Bytes of that number, 4 or 8.
    pub long: usize,
    /// Where the records begin.
    pub data: usize,
    /// Bytes of a whole page.
    pub page: usize,
}

/// A text that is no `header_page`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("events/header_page of the kernel is not understood: it has no {0}")]
pub struct WrongLayout(&'static str);

impl Default for Layout {
    fn default() -> Self {
        Self { commit: 8, long: 8, data: 16, page: 4096 }
    }
}

impl Layout {
    /// Reads `events/header_page`, which the kernel gives to the first read(2) alone, whatever its size.
    ///
    /// # Errors
    ///
    /// When a part is missing or has an impossible place.
    pub fn parse(text: &str) -> Result<Self, WrongLayout> {
        let place = |name: &'static str| {
            let found = text.lines().filter_map(attributes).find(|field| field.name() == name);
            found.ok_or(WrongLayout(name))
        };
        let (commit, data) = (place("commit")?, place("data")?);
        let layout = Self {
            commit: commit.offset,
            long: commit.size,
            data: data.offset,
            page: data.offset.saturating_add(data.size),
        };
        match layout {
            Self { long, .. } if long != 4 && long != 8 => Err(WrongLayout("number of 4 or 8 bytes")),
            Self { commit, .. } if commit != size_of::<u64>() => Err(WrongLayout("time of 8 bytes")),
            Self { data, commit, long, page }
                if data < commit + long || !(data..=PAGE_MAX).contains(&page) =>
            {
                Err(WrongLayout("room for data"))
            }
            layout => Ok(layout),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
        \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
        \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
        \tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

    #[test]
    fn the_page_of_a_kernel_is_as_it_says() {
        assert_eq!(Layout::parse(TEXT), Ok(Layout::default()));
        let large = TEXT.replace("size:4080", "size:65520");
        assert_eq!(Layout::parse(&large).map(|layout| layout.page), Ok(65_536));
        let narrow = TEXT
            .replace("commit;\toffset:8;\tsize:8", "commit;\toffset:8;\tsize:4")
            .replace("offset:16", "offset:12");
        assert_eq!(Layout::parse(&narrow), Ok(Layout { long: 4, data: 12, page: 4092, ..Layout::default() }));
    }

    #[test]
    fn an_impossible_page_is_refused() {
        for (from, to) in [
            ("data;", "date;"),
            ("commit;\toffset:8", "commit;\toffset:0"),
            ("commit;\toffset:8;\tsize:8", "commit;\toffset:8;\tsize:3"),
            ("offset:16", "offset:9"),
            ("size:4080", "size:18446744073709551615"),
        ] {
            let error = Layout::parse(&TEXT.replace(from, to)).expect_err(to).to_string();
            assert!(error.starts_with("events/header_page of the kernel is not understood"), "{error}");
        }
    }
}

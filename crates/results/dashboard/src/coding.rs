//! How pages go over the wire: tables of Runs are a tenth as long when they are compressed.

use std::io::Write;

use axum::body::Bytes;
use axum::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, VARY};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{Html, IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;

/// A content coding: RFC 9110, section 8.4.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    Identity,
    Gzip,
}

impl Coding {
    /// What a client takes.
    pub(crate) fn accepted(headers: &HeaderMap) -> Self {
        let accepted = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
        let mut codings = accepted.flat_map(|value| value.split(','));
        let is_gzip = codings.any(|coding| {
            let mut words = coding.split(';').map(str::trim);
            words.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"))
                && words.all(|word| word != "q=0")
        });
        if is_gzip { Self::Gzip } else { Self::Identity }
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Gzip => "gzip",
        }
    }

    /// A page in this coding.
    pub(crate) fn encode(self, page: Bytes) -> Bytes {
        if self == Self::Identity {
            return page;
        }
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        let done = encoder.write_all(&page).and_then(|()| encoder.finish());
        // Memory takes all.
        done.map_or(page, Bytes::from)
    }

    /// The answer with such a page.
    pub(crate) fn answer(self, page: Bytes) -> Response {
        let mut response = Html(page).into_response();
        let headers = response.headers_mut();
        headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
        if self == Self::Gzip {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;

    #[test]
    fn a_client_gets_what_it_takes() {
        let accepted = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(value));
            Coding::accepted(&headers)
        };
        for value in ["gzip", "deflate, GZIP;q=0.5, br", "br,gzip"] {
            assert_eq!(accepted(value), Coding::Gzip, "{value}");
        }
        for value in ["", "br", "gzip;q=0", "xgzip", "identity"] {
            assert_eq!(accepted(value), Coding::Identity, "{value}");
        }
        assert_eq!(Coding::accepted(&HeaderMap::new()), Coding::Identity);
    }

    #[test]
    fn a_page_is_the_same_in_each_coding() {
        let page = Bytes::from("<td>pipe/full</td>".repeat(1000));
        assert_eq!(Coding::Identity.encode(page.clone()), page);
        let small = Coding::Gzip.encode(page.clone());
        assert!(small.len() < page.len() / 10);
        let mut whole = Vec::new();
        GzDecoder::new(&small[..]).read_to_end(&mut whole).expect("gzip");
        assert_eq!(whole, page);
    }
}

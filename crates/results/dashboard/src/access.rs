//! Whose requests are answered.

use axum::http::header::{AUTHORIZATION, COOKIE, HOST};
use axum::http::{HeaderMap, Method, StatusCode};
use sha2::{Digest, Sha256};

/// The cookie with the token, and the word of an address that sets it.
pub(crate) const TOKEN: &str = "kiln-token";

/// Names by which a browser asks this very host.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Who may ask.
#[derive(Debug, Clone)]
pub enum Access {
    /// Programs of this host: requests must name it, or a page of another site could have its name lead here.
    Host,
    /// Whoever knows the token, of which this is the SHA-256: to compare hashes tells nothing of it by its time.
    Token([u8; 32]),
}

impl Access {
    /// For whoever knows this token.
    #[must_use]
    pub fn with_token(token: &str) -> Self {
        Self::Token(hash(token))
    }

    /// Whether browsers keep a token.
    pub(crate) fn has_token(&self) -> bool {
        matches!(self, Self::Token(_))
    }

    /// Whether a request is answered, of which these are the header and the token in its address.
    pub(crate) fn check(
        &self,
        method: &Method,
        headers: &HeaderMap,
        in_address: Option<&str>,
    ) -> Result<(), Refusal> {
        let is_reading = method == Method::GET || method == Method::HEAD;
        let is_ours = if is_reading { !is_of_another_site(headers) } else { is_of_this_site(headers) };
        if !is_ours {
            return Err(Refusal::OtherSite);
        }
        match self {
            Self::Host => is_of_this_host(headers).then_some(()).ok_or(Refusal::OtherHost),
            Self::Token(wanted) => {
                let given = in_address.or_else(|| bearer(headers)).or_else(|| cookie(headers));
                let is_known = given.is_some_and(|given| hash(given) == *wanted);
                is_known.then_some(()).ok_or(Refusal::NoToken)
            }
        }
    }
}

/// Why a request is not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    OtherSite,
    OtherHost,
    NoToken,
}

impl Refusal {
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::OtherSite | Self::OtherHost => StatusCode::FORBIDDEN,
            Self::NoToken => StatusCode::UNAUTHORIZED,
        }
    }

    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::OtherSite => "a page of another site asked for this",
            Self::OtherHost => "kiln serves this host by the name localhost",
            Self::NoToken => "kiln wants its token: open /?kiln-token=TOKEN once",
        }
    }
}

/// Whether a browser says that a page of another site asks: <https://www.w3.org/TR/fetch-metadata/>. To follow a link is the user's
/// wish.
fn is_of_another_site(headers: &HeaderMap) -> bool {
    let is =
        |name: &str, value: &str| headers.get(name).is_some_and(|found| found.as_bytes() == value.as_bytes());
    let is_other = is("sec-fetch-site", "cross-site") || is("sec-fetch-site", "same-site");
    is_other && !(is("sec-fetch-mode", "navigate") && is("sec-fetch-dest", "document"))
}

/// Whether a page of kiln asks, as a browser says, or a program, which knows the token without a browser.
fn is_of_this_site(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site");
    site.map_or_else(|| bearer(headers).is_some(), |site| site.as_bytes() == b"same-origin")
}

fn is_of_this_host(headers: &HeaderMap) -> bool {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let name = name.map_or(host, |(name, _)| name);
    LOOPBACK.iter().any(|known| known.eq_ignore_ascii_case(name))
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers.get(AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|cookie| cookie.to_str().ok());
    let mut pairs =
        cookies.flat_map(|cookies| cookies.split(';')).filter_map(|cookie| cookie.trim().split_once('='));
    pairs.find(|(name, _)| *name == TOKEN).map(|(_, value)| value)
}

fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderName;

    use super::*;

    fn headers(all: &[(&str, &str)]) -> HeaderMap {
        let header = |(name, value): &(&str, &str)| {
            (name.parse::<HeaderName>().expect("a name"), value.parse().expect("a value"))
        };
        all.iter().map(header).collect()
    }

    #[test]
    fn without_a_token_a_request_names_this_host() {
        let asked = |host: &str| Access::Host.check(&Method::GET, &headers(&[("host", host)]), None);
        for host in ["localhost", "LocalHost:8080", "127.0.0.1:80", "[::1]:8080", "[::1]"] {
            assert_eq!(asked(host), Ok(()), "{host}");
        }
        for host in ["evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil:8080", ""]
        {
            assert_eq!(asked(host), Err(Refusal::OtherHost), "{host}");
        }
        assert_eq!(Access::Host.check(&Method::GET, &HeaderMap::new(), None), Err(Refusal::OtherHost));
    }

    #[test]
    fn a_token_is_in_the_address_a_cookie_or_the_header() {
        let access = Access::with_token("secret");
        let asked = |all: &[(&str, &str)], in_address| access.check(&Method::GET, &headers(all), in_address);
        assert_eq!(asked(&[], Some("secret")), Ok(()));
        assert_eq!(asked(&[("cookie", "a=b; kiln-token=secret")], None), Ok(()));
        assert_eq!(asked(&[("authorization", "Bearer secret")], None), Ok(()));
        for wrong in ["", "secre", "secrets", "SECRET"] {
            assert_eq!(asked(&[], Some(wrong)), Err(Refusal::NoToken), "{wrong}");
        }
        assert_eq!(asked(&[("cookie", "kiln-token=other")], None), Err(Refusal::NoToken));
        assert_eq!(asked(&[("host", "localhost")], None), Err(Refusal::NoToken));
    }

    #[test]
    fn pages_of_other_sites_may_link_and_not_ask() {
        let asked = |site: &str, mode: &str, dest: &str| {
            let all = [
                ("host", "localhost"),
                ("sec-fetch-site", site),
                ("sec-fetch-mode", mode),
                ("sec-fetch-dest", dest),
            ];
            Access::Host.check(&Method::GET, &headers(&all), None)
        };
        assert_eq!(asked("same-origin", "cors", "empty"), Ok(()));
        assert_eq!(asked("none", "navigate", "document"), Ok(()));
        assert_eq!(asked("cross-site", "navigate", "document"), Ok(()));
        for (site, mode, dest) in [
            ("cross-site", "no-cors", "image"),
            ("same-site", "cors", "empty"),
            ("cross-site", "navigate", "iframe"),
        ] {
            assert_eq!(asked(site, mode, dest), Err(Refusal::OtherSite), "{site} {mode} {dest}");
        }
    }

    #[test]
    fn only_pages_of_kiln_and_programs_change_something() {
        let access = Access::with_token("secret");
        let asked = |all: &[(&str, &str)]| access.check(&Method::POST, &headers(all), None);
        let cookie = ("cookie", "kiln-token=secret");
        assert_eq!(asked(&[cookie, ("sec-fetch-site", "same-origin")]), Ok(()));
        assert_eq!(asked(&[("authorization", "Bearer secret")]), Ok(()));
        assert_eq!(asked(&[("authorization", "Bearer other")]), Err(Refusal::NoToken));
        assert_eq!(asked(&[cookie]), Err(Refusal::OtherSite));
        for site in ["cross-site", "same-site", "none"] {
            let all = [
                cookie,
                ("sec-fetch-site", site),
                ("sec-fetch-mode", "navigate"),
                ("sec-fetch-dest", "document"),
            ];
            assert_eq!(asked(&all), Err(Refusal::OtherSite), "{site}");
        }
    }
}

//! Where a post goes: `https://HOST[/BLOG]`.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::Error;

/// Longest name of a blog.
const BLOG_MAX: usize = 100;

/// Where a post goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// `https://HOST`, perhaps with a port.
    origin: String,
    /// The blog, which the API calls a collection.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    blog: Option<String>,
}

impl Address {
    /// Reads an address.
    ///
    /// # Errors
    ///
    /// When it names no server, or one of another host without TLS.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let wrong = |reason| Error::Address { address: text.to_owned(), reason };
        let lower = text.to_ascii_lowercase();
        let (scheme, is_secure) = match () {
            () if lower.starts_with("https://") => ("https://", true),
            () if lower.starts_with("http://") => ("http://", false),
            () => return Err(wrong("write https://HOST or https://HOST/BLOG")),
        };
        let rest = &text[scheme.len()..];
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let host = host(authority).ok_or_else(|| wrong("write https://HOST or https://HOST/BLOG"))?;
        if !is_secure && !is_loopback(host) {
            return Err(wrong("only this host is spoken to without TLS: write https://"));
        }
        let blog = path.trim_end_matches('/');
        if !blog.is_empty() && !is_name(blog, BLOG_MAX) {
            return Err(wrong("behind the host stands only the name of a blog"));
        }
        let blog = Some(blog.to_owned()).filter(|blog| !blog.is_empty());
        Ok(Self { origin: format!("{scheme}{}", authority.to_ascii_lowercase()), blog })
    }

    /// `https://HOST`.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The name of the blog.
    #[must_use]
    pub fn blog(&self) -> Option<&str> {
        self.blog.as_deref()
    }

    /// Whether nothing encrypts what is sent; then it does not leave this host.
    pub(crate) fn is_plain(&self) -> bool {
        self.origin.starts_with("http://")
    }
}

/// The host of `host:port`, if it is nothing else.
fn host(authority: &str) -> Option<&str> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']')?;
            host.parse::<std::net::Ipv6Addr>().ok()?;
            (host, rest.strip_prefix(':').or(rest.is_empty().then_some("443"))?)
        }
        None => authority.split_once(':').unwrap_or((authority, "443")),
    };
    let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b".-:".contains(&byte);
    let is_whole = !host.is_empty() && host.len() <= 253 && host.bytes().all(is_host);
    let is_port = port.parse::<u16>().is_ok_and(|port| port > 0) && !port.starts_with('+');
    (is_whole && is_port).then_some(host)
}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Whether a server or a user may call something so: it stands in addresses as it is.
pub(crate) fn is_name(text: &str, longest: usize) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    !text.is_empty() && text.len() <= longest && text.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hosts_and_blogs_are_told_apart() {
        for (text, origin, blog) in [
            ("https://Blog.Example.org", "https://blog.example.org", None),
            ("https://x.org/", "https://x.org", None),
            ("https://x.org:8443/kernel-news/", "https://x.org:8443", Some("kernel-news")),
            ("http://127.0.0.1:8080/blog", "http://127.0.0.1:8080", Some("blog")),
            ("http://[::1]:8080", "http://[::1]:8080", None),
            ("HTTP://LocalHost/b", "http://localhost", Some("b")),
        ] {
            let address = Address::parse(text).expect(text);
            assert_eq!((address.origin(), address.blog()), (origin, blog), "{text}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for (text, reason) in [
            ("x.org/blog", "write https://HOST"),
            ("ftp://x.org", "write https://HOST"),
            ("https://", "write https://HOST"),
            ("https://me:secret@x.org", "write https://HOST"),
            ("https://x.org:0", "write https://HOST"),
            ("https://x.org:99999", "write https://HOST"),
            ("https://[::1", "write https://HOST"),
            ("https://x.org?a", "write https://HOST"),
            ("https://x.org/a/b", "only the name of a blog"),
            ("https://x.org/a?b", "only the name of a blog"),
            ("https://x.org/..", "only the name of a blog"),
            ("http://x.org", "without TLS"),
            ("http://127.evil.org", "without TLS"),
            ("http://[2001:db8::1]", "without TLS"),
        ] {
            let error = Address::parse(text).expect_err(text).to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_taken_leads_only_there(text in "(https?://)?[a-z0-9.:@/?#\\[\\]\\\\ %-]{0,30}") {
            if let Ok(address) = Address::parse(&text) {
                let rest = address.origin().strip_prefix("https://").or(address.origin().strip_prefix("http://"));
                let rest = rest.expect("a scheme");
                prop_assert!(!rest.is_empty() && !rest.contains(['/', '@', '?', '#', '\\', ' ', '%']), "{rest}");
                let whole = format!("{}/{}", address.origin(), address.blog().unwrap_or_default());
                prop_assert_eq!(Address::parse(&whole).expect("the same"), address);
            }
        }
    }
}

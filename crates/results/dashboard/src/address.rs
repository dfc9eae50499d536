//! Where pages are. What has no plain name is in the query, so that no text of a guest is part of a path.

use crate::kept::Kind;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What has another meaning in an address: RFC 3986.
const RESERVED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// What browsers had started.
pub(crate) const JOBS: &str = "/jobs";

/// A text as a part of an address, with its slashes.
pub(crate) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// A session.
pub(crate) fn session(name: &str) -> String {
    format!("/session/{}", encoded(name))
}

/// A Run of it.
pub(crate) fn run(session: &str, case: &str) -> String {
    format!("/session/{}/{}", encoded(session), encoded(case))
}

/// A suite on the kernels that ran it last.
pub(crate) fn matrix(suite: &str) -> String {
    format!("/matrix?suite={}", encoded(suite))
}

/// A kernel by its release, or else its locator.
pub(crate) fn kernel(kernel: &str) -> String {
    format!("/kernel?kernel={}", encoded(kernel))
}

/// What an experiment recorded.
pub(crate) fn experiment(name: &str) -> String {
    format!("/experiment?suite={}", encoded(name))
}

/// A case of a suite over time.
pub(crate) fn case(suite: &str, case: &str) -> String {
    format!("/case?suite={}&case={}", encoded(suite), encoded(case))
}

/// The page of a comparison, a bisection or a check.
pub(crate) fn kept(kind: Kind, name: &str) -> String {
    format!("/{}/{}", kind.name(), encoded(name))
}

/// A problem.
pub(crate) fn problem(id: &str) -> String {
    format!("/problem/{}", encoded(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_another_meaning_is_encoded() {
        assert_eq!(run("2026-1", "a b/c?d#e"), "/session/2026-1/a%20b/c%3Fd%23e");
        assert_eq!(case("a&b", "\"<"), "/case?suite=a%26b&case=%22%3C");
        assert_eq!(kernel("6.1.0-47-amd64"), "/kernel?kernel=6.1.0-47-amd64");
    }
}

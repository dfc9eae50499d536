//! Lines into which printk wrote while a program was writing them.

use console::printk;

use super::line::{self, Kind};

/// Words with which lines begin that must not be lost.
const STARTS: [&str; 6] = ["ok ", "not ok ", "1..", "KTAP version ", "TAP version ", "Bail out!"];

/// What a line consists of.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// A line of its own.
    Whole(&'a str),
    /// The beginning of a line whose rest may follow after what was written into it.
    Beginning(&'a str),
}

/// The line up to a record that cuts into it, and the record. A comment may quote a log: it is taken
/// apart only when it begins like a result.
pub(super) fn split(text: &str) -> (Piece<'_>, Option<&str>) {
    match printk::find_cut(text) {
        Some(at) if begins(&text[..at]) => (Piece::Beginning(&text[..at]), Some(&text[at..])),
        Some(at) if !text.trim_start().starts_with('#') => (Piece::Whole(&text[..at]), Some(&text[at..])),
        _ => (Piece::Whole(text), None),
    }
}

/// Whether `text` may be the beginning of a line that says something about results.
fn begins(text: &str) -> bool {
    let mut content = text.trim_start();
    while let Some(inside) = content.strip_prefix("# ") {
        content = inside.trim_start();
    }
    let begins = |start: &str| start.starts_with(content) || content.starts_with(start);
    !content.is_empty() && STARTS.iter().any(|start| begins(start))
}

/// The line of which `rest` is the other part, or none if `rest` is a line of its own and the other part
/// of `beginning` is lost. An `ok` may be the end of `not ok`.
pub(super) fn join(beginning: &str, rest: &str) -> Option<String> {
    let whole = format!("{beginning}{rest}");
    let is_own = line::parse(rest).kind != Kind::Text;
    let failed = |kind| matches!(kind, Kind::Result(_)) && is_negation(beginning);
    (!is_own || failed(line::parse(&whole).kind)).then_some(whole)
}

/// Whether `text` is a line's beginning that would turn a following `ok` into `not ok`.
pub(super) fn is_negation(text: &str) -> bool {
    text.trim_start_matches(['#', ' ', '\t']).trim_end() == "not"
}

/// Where a result of kselftest's runner begins that stands behind the last words of a test: the runner
/// ends no line that the test left open.
pub(super) fn find_runner_result(text: &str) -> Option<usize> {
    let at = text.match_indices("ok ").map(|(at, _)| at).find(|&at| {
        let rest = super::words::number(&text[at + 3..]);
        at > 0 && rest.is_some_and(|(_, rest)| rest.starts_with(" selftests: "))
    })?;
    let at = text[..at].strip_suffix("not ").map_or(at, str::len);
    (text.starts_with("# ") && at > 0).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_inside_a_result_is_taken_out() {
        let record = "[   12.345678] usb 1-1: new";
        assert_eq!(split(&format!("ok 1 fo{record}")), (Piece::Beginning("ok 1 fo"), Some(record)));
        assert_eq!(split(&format!("# no{record}")), (Piece::Beginning("# no"), Some(record)));
        assert_eq!(split(&format!("hello{record}")), (Piece::Whole("hello"), Some(record)));
        let quoted = format!("# the log says: {record}");
        assert_eq!(split(&quoted), (Piece::Whole(&quoted), None));
    }

    #[test]
    fn the_rest_of_a_line_is_joined_to_it_unless_it_is_a_line() {
        assert_eq!(join("ok 1 fo", "o").as_deref(), Some("ok 1 foo"));
        assert_eq!(join("ok 1 fo", "").as_deref(), Some("ok 1 fo"));
        assert_eq!(join("ok 1 fo", "not ok 2 b"), None);
        assert_eq!(join("not ", "ok 1 a").as_deref(), Some("not ok 1 a"));
        assert_eq!(join("no", "t ok 1 a").as_deref(), Some("not ok 1 a"));
        assert_eq!(join("# not ", "ok 1 a").as_deref(), Some("# not ok 1 a"));
        assert_eq!(join("o", "ok 1 a"), None);
    }

    #[test]
    fn a_result_behind_the_last_words_of_a_test_is_found() {
        assert_eq!(find_runner_result("# doneok 3 selftests: a: b"), Some(6));
        assert_eq!(find_runner_result("# done not ok 3 selftests: a: b"), Some(7));
        assert_eq!(find_runner_result("# ok 3 x"), None);
        assert_eq!(find_runner_result("ok 3 selftests: a: b"), None);
    }
}

//! A result line.

use super::tree::Status;
use super::words::{after_word, number};

/// `ok 3 - name # SKIP why`, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ResultLine<'a> {
    pub(super) status: Status,
    /// None if there is none, or if it is out of any range.
    pub(super) number: Option<u64>,
    pub(super) name: &'a str,
    pub(super) text: &'a str,
    /// `ok` although the directive says that it was not.
    pub(super) is_contradiction: bool,
}

/// The directives of ktap.rst.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Directive {
    Skip,
    Todo,
    Xfail,
    Timeout,
    Error,
}

const DIRECTIVES: [(&str, Directive); 5] = [
    ("SKIP", Directive::Skip),
    ("TODO", Directive::Todo),
    ("XFAIL", Directive::Xfail),
    ("TIMEOUT", Directive::Timeout),
    ("ERROR", Directive::Error),
];

/// Reads a line without its indentation. The number may be missing only before `- ` or the line's end:
/// else any sentence that begins with `ok` would be a result.
pub(super) fn parse(line: &str) -> Option<ResultLine<'_>> {
    let (is_ok, rest) = match line.strip_prefix("not ok") {
        Some(rest) => (false, rest),
        None => (true, line.strip_prefix("ok")?),
    };
    let (number, rest) = match rest.strip_prefix(' ').map(str::trim_start).and_then(number) {
        Some((_, rest)) if !(rest.is_empty() || rest.starts_with([' ', '\t', ':', '-', '#'])) => return None,
        Some(found) => found,
        None if rest.trim_start().starts_with("- ") || (rest.trim().is_empty() && !is_ok) => (None, rest),
        None => return None,
    };
    let rest = rest.trim_start_matches(':').trim();
    let (name, directive, text) = split(rest.strip_prefix("- ").unwrap_or(rest).trim_start());
    let (name, text) = if name.is_empty() { (text, text) } else { (name, text) };
    let is_contradiction = is_ok && matches!(directive, Some(Directive::Timeout | Directive::Error));
    Some(ResultLine { status: status(is_ok, directive), number, name, text, is_contradiction })
}

/// What a result line says. A directive that means failure is believed also after `ok`.
fn status(is_ok: bool, directive: Option<Directive>) -> Status {
    match (directive, is_ok) {
        (Some(Directive::Skip), _) => Status::Skip,
        (Some(Directive::Timeout), _) => Status::Timeout,
        (Some(Directive::Error), _) => Status::Error,
        (Some(Directive::Xfail), _) | (Some(Directive::Todo), false) => Status::ExpectedFail,
        (None, false) => Status::Fail,
        (Some(Directive::Todo) | None, true) => Status::Pass,
    }
}

/// Name, directive and text. The first `#` before a directive counts; if there is none, the first that
/// stands between blanks.
fn split(line: &str) -> (&str, Option<Directive>, &str) {
    let hashes = line.match_indices('#').map(|(at, _)| at);
    let mut plain = None;
    for at in hashes.filter(|&at| at == 0 || line[..at].ends_with([' ', '\t'])) {
        let after = line[at + 1..].trim_start();
        let directive = DIRECTIVES
            .iter()
            .find_map(|&(word, directive)| after_word(after, word).map(|rest| (directive, rest)));
        if let Some((directive, text)) = directive {
            return (line[..at].trim_end(), Some(directive), text.trim_start());
        }
        if line[at + 1..].is_empty() || line[at + 1..].starts_with(' ') {
            plain.get_or_insert((line[..at].trim_end(), None, after));
        }
    }
    plain.unwrap_or((line, None, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> (Status, Option<u64>, &str, &str) {
        let result = parse(line).expect("it is a result");
        (result.status, result.number, result.name, result.text)
    }

    #[test]
    fn results_are_taken_apart() {
        assert_eq!(read("ok 1 test_case"), (Status::Pass, Some(1), "test_case", ""));
        assert_eq!(read("not ok 12 - a b"), (Status::Fail, Some(12), "a b", ""));
        assert_eq!(read("ok 5 check # rcode=0"), (Status::Pass, Some(5), "check", "rcode=0"));
        assert_eq!(read("ok 7"), (Status::Pass, Some(7), "", ""));
        assert_eq!(read("not ok 3: named"), (Status::Fail, Some(3), "named", ""));
        assert_eq!(read("ok - named"), (Status::Pass, None, "named", ""));
        assert_eq!(read("not ok"), (Status::Fail, None, "", ""));
        assert_eq!(read("ok 99999999999999999999 a"), (Status::Pass, None, "a", ""));
        assert_eq!(read("not ok 3 a # exit=1"), (Status::Fail, Some(3), "a", "exit=1"));
    }

    #[test]
    fn directives_are_read_in_any_case_and_place() {
        assert_eq!(read("ok 1 a # SKIP no x"), (Status::Skip, Some(1), "a", "no x"));
        assert_eq!(read("not ok 1 a # skip"), (Status::Skip, Some(1), "a", ""));
        assert_eq!(read("ok 2 # SKIP why"), (Status::Skip, Some(2), "why", "why"));
        assert_eq!(read("ok 2 # XFAIL why"), (Status::ExpectedFail, Some(2), "why", "why"));
        assert_eq!(read("not ok 2 a # XFAIL"), (Status::ExpectedFail, Some(2), "a", ""));
        assert_eq!(read("not ok 2 a # TODO soon"), (Status::ExpectedFail, Some(2), "a", "soon"));
        assert_eq!(read("ok 2 a # TODO soon"), (Status::Pass, Some(2), "a", "soon"));
        assert_eq!(read("not ok 1 a # TIMEOUT 45 seconds"), (Status::Timeout, Some(1), "a", "45 seconds"));
        assert_eq!(read("not ok 4 # error text"), (Status::Error, Some(4), "text", "text"));
        assert_eq!(read("ok 1 size #3 is odd # SKIP x"), (Status::Skip, Some(1), "size #3 is odd", "x"));
        assert_eq!(read("ok 1 a #SKIP b"), (Status::Skip, Some(1), "a", "b"));
    }

    #[test]
    fn words_that_only_begin_like_directives_are_text() {
        assert_eq!(read("ok 1 a # SKIPPED_PAGES=3").0, Status::Pass);
        assert_eq!(read("not ok 1 a # todos").0, Status::Fail);
        assert_eq!(read(r"not ok 1 a # ERROR x \# SKIP y").0, Status::Error);
        assert_eq!(read("not ok 1 a\\#SKIP").0, Status::Fail);
    }

    #[test]
    fn ok_with_a_bad_directive_is_bad() {
        let result = parse("ok 1 a # TIMEOUT 3 s").expect("it is a result");
        assert_eq!((result.status, result.is_contradiction), (Status::Timeout, true));
    }

    #[test]
    fn sentences_are_no_results() {
        for line in
            ["ok", "okay 1", "ok then", "not okay", "not ok to sleep", "ok 1st", "OK 1 a", "no", "", "ok: 1"]
        {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}

//! One line, after what printk puts before it.

use super::result::{self, ResultLine};
use super::tree::Version;
use super::words::{diagnostic, number};

/// Columns that a tab indents: the first KUnit indented by one tab what is four blanks today.
const TAB: usize = 4;
/// How often `# ` may stand before a line: once for each runner around it.
const COMMENTS_MAX: usize = super::DEPTH_MAX;

/// A line with the place where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// Its indentation; `# ` before what a runner of kselftest passes on counts as two blanks.
    pub(super) column: usize,
    /// It stands in a comment.
    pub(super) in_comment: bool,
    pub(super) kind: Kind<'a>,
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    Version(Version),
    /// `# Subtest: name`
    Subtest(&'a str),
    /// `1..4`, `1..0 # SKIP why`
    Plan(u64, Option<&'a str>),
    Result(ResultLine<'a>),
    /// `Bail out! why`
    BailOut(&'a str),
    /// `# Totals: pass:1 fail:0 ...` and `# name: pass:1 fail:0 skip:0 total:1`.
    Totals(Totals<'a>),
    /// Name of the test that begins: `# selftests: futex: run.sh`, `#  RUN           global.name ...`.
    Begins {
        name: &'a str,
        by_runner: bool,
    },
    /// `# speed: slow`, `# name.speed: slow`
    Attribute {
        test: Option<&'a str>,
        key: &'a str,
        value: &'a str,
    },
    /// Anything else.
    Text,
}

/// Counts that a test printed of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Totals<'a> {
    /// The test, if it is named.
    pub(super) name: Option<&'a str>,
    pub(super) failed: u64,
    pub(super) total: u64,
    /// KUnit's, which count what is inside the tests of the level.
    pub(super) is_deep: bool,
}

/// Reads a line.
pub(super) fn parse(text: &str) -> Line<'_> {
    let (column, mut rest) = indentation(text);
    let text = Line { column, in_comment: false, kind: Kind::Text };
    let mut at = column;
    for comments in 0..=COMMENTS_MAX {
        let kind = kind(rest);
        if kind != Kind::Text {
            return Line { column: at, in_comment: comments > 0, kind };
        }
        let Some(inside) = rest.strip_prefix("# ") else { return text };
        let (more, inside) = indentation(inside);
        (at, rest) = (at + 2 + more, inside);
    }
    text
}

fn indentation(text: &str) -> (usize, &str) {
    let rest = text.trim_start_matches([' ', '\t']);
    let blanks = &text[..text.len() - rest.len()];
    (blanks.bytes().map(|b| if b == b'\t' { TAB } else { 1 }).sum(), rest.trim_end())
}

fn kind(line: &str) -> Kind<'_> {
    if let Some(comment) = line.strip_prefix('#') {
        return comment_kind(comment, line);
    }
    if let Some(result) = result::parse(line) {
        return Kind::Result(result);
    }
    if let Some(why) = line.strip_prefix("Bail out!") {
        return Kind::BailOut(why.trim());
    }
    version(line).or_else(|| plan(line)).unwrap_or(Kind::Text)
}

fn version(line: &str) -> Option<Kind<'_>> {
    let (is_ktap, rest) = match line.strip_prefix("KTAP version ") {
        Some(rest) => (true, rest),
        None => (false, line.strip_prefix("TAP version ")?),
    };
    let (version, rest) = number(rest)?;
    let version = version.unwrap_or(u64::MAX);
    let version = if is_ktap { Version::Ktap(version) } else { Version::Tap(version) };
    rest.is_empty().then_some(Kind::Version(version))
}

fn plan(line: &str) -> Option<Kind<'_>> {
    let (count, rest) = number(line.strip_prefix("1..")?)?;
    let rest = rest.trim_start();
    let why = rest.strip_prefix('#').map(str::trim_start);
    let is_plan = rest.is_empty() || why.is_some();
    let skip = why.and_then(|why| super::words::after_word(why, "SKIP")).map(str::trim_start);
    is_plan.then_some(Kind::Plan(count.unwrap_or(u64::MAX), skip))
}

/// What a comment is; `line` is it with its `#`.
fn comment_kind<'a>(comment: &'a str, line: &'a str) -> Kind<'a> {
    let words = comment.trim_start();
    if let Some(name) = words.strip_prefix("Subtest: ") {
        return Kind::Subtest(name.trim());
    }
    if let Some(name) = words.strip_prefix("RUN ").map(str::trim).and_then(|name| name.strip_suffix(" ...")) {
        return Kind::Begins { name, by_runner: false };
    }
    if words.starts_with("selftests: ") && comment.starts_with(' ') {
        return Kind::Begins { name: words, by_runner: true };
    }
    let Some((name, text)) = diagnostic(line) else { return Kind::Text };
    totals(name, text).or_else(|| attribute(name, text)).unwrap_or(Kind::Text)
}

fn totals<'a>(name: &'a str, text: &str) -> Option<Kind<'a>> {
    let (mut failed, mut total) = (0_u64, 0_u64);
    let mut is_deep = false;
    text.strip_prefix("pass:")?;
    for word in text.split(' ') {
        let (key, value) = word.split_once(':')?;
        let value: u64 = value.parse().ok()?;
        if key == "total" {
            is_deep = true;
            continue;
        }
        total = total.saturating_add(value);
        if matches!(key, "fail" | "error") {
            failed = failed.saturating_add(value);
        }
    }
    let name = (name != "Totals").then_some(name);
    Some(Kind::Totals(Totals { name, failed, total, is_deep }))
}

/// The attributes of `lib/kunit/attributes.c`, since 6.6.
fn attribute<'a>(name: &'a str, value: &'a str) -> Option<Kind<'a>> {
    const KEYS: [&str; 3] = ["speed", "module", "is_init"];
    let (test, key) = name.rsplit_once('.').map_or((None, name), |(test, key)| (Some(test), key));
    KEYS.contains(&key).then_some(Kind::Attribute { test, key, value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ktap::Status;

    fn at(line: &str) -> (usize, bool, Kind<'_>) {
        let Line { column, in_comment, kind } = parse(line);
        (column, in_comment, kind)
    }

    fn status(line: &str) -> Option<(usize, bool, Status)> {
        match parse(line) {
            Line { column, in_comment, kind: Kind::Result(result) } => {
                Some((column, in_comment, result.status))
            }
            _ => None,
        }
    }

    #[test]
    fn versions_and_plans_are_read() {
        assert_eq!(at("KTAP version 1"), (0, false, Kind::Version(Version::Ktap(1))));
        assert_eq!(at("    TAP version 14 "), (4, false, Kind::Version(Version::Tap(14))));
        assert_eq!(at("\t1..5"), (4, false, Kind::Plan(5, None)));
        assert_eq!(at("1..0 # SKIP no cgroups"), (0, false, Kind::Plan(0, Some("no cgroups"))));
        assert_eq!(at("# 1..2"), (2, true, Kind::Plan(2, None)));
        for line in ["1..x", "1..4 pages", "KTAP version", "KTAP version 1.5", "2..3"] {
            assert_eq!(at(line).2, Kind::Text, "{line}");
        }
    }

    #[test]
    fn results_have_a_column_also_in_comments() {
        assert_eq!(status("    ok 1 a"), Some((4, false, Status::Pass)));
        assert_eq!(status("# not ok 1 a"), Some((2, true, Status::Fail)));
        assert_eq!(status("# # ok 2 a"), Some((4, true, Status::Pass)));
        assert_eq!(status("#   ok 2 a"), Some((4, true, Status::Pass)));
        assert_eq!(status("# inode: ok 1 - lower bound"), None);
    }

    #[test]
    fn comments_that_mean_something_are_told_from_others() {
        assert_eq!(at("    # Subtest: x y"), (4, false, Kind::Subtest("x y")));
        assert_eq!(at("# # Subtest: x"), (2, true, Kind::Subtest("x")));
        let begins = Kind::Begins { name: "selftests: futex: run.sh", by_runner: true };
        assert_eq!(at("# selftests: futex: run.sh"), (0, false, begins));
        let begins = Kind::Begins { name: "global.x", by_runner: false };
        assert_eq!(at("# #  RUN           global.x ..."), (2, true, begins));
        let totals = |name, failed, total, is_deep| Kind::Totals(Totals { name, failed, total, is_deep });
        assert_eq!(at("# Totals: pass:1 fail:2 xfail:0 xpass:0 skip:0 error:3").2, totals(None, 5, 6, false));
        assert_eq!(at("# list: pass:1 fail:2 skip:0 total:3").2, totals(Some("list"), 2, 3, true));
        let attribute = Kind::Attribute { test: Some("a"), key: "speed", value: "slow" };
        assert_eq!(at("    # a.speed: slow").2, attribute);
        for line in ["# a: EXPECTATION FAILED at x.c:1", "#", "# ", "#ok 1 a", "# list: pass:x", "# a: pass"]
        {
            assert_eq!(at(line).2, Kind::Text, "{line}");
        }
    }
}

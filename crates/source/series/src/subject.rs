//! What stands in a subject.

use crate::line::LINE_MAX;

/// Most words in the brackets of a subject.
const PREFIXES_MAX: usize = 20;

/// The place of a patch in its series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counter {
    /// 3 of `3/7`; 0 is the cover letter.
    pub number: u32,
    /// 7 of `3/7`.
    pub total: u32,
}

/// The subject of a mail, taken apart as b4 does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subject {
    /// What follows the brackets.
    pub text: String,
    /// The words in the brackets that are none of the others: `PATCH`, `net-next`.
    pub prefixes: Vec<String>,
    /// 2 of `v2`.
    pub revision: Option<u32>,
    /// `3/7`.
    pub counter: Option<Counter>,
    /// It answers or forwards another mail.
    pub is_reply: bool,
    /// `RFC`.
    pub is_rfc: bool,
    /// `RESEND`.
    pub is_resend: bool,
}

impl Subject {
    /// Takes `subject` apart. Where a word occurs twice, the first holds.
    pub fn parse(subject: &str) -> Self {
        let line = line(subject);
        let mut found = Self::default();
        let mut rest = line.as_str();
        let mut is_first = true;
        loop {
            if let Some(after) = after_reply(rest, is_first) {
                found.is_reply = true;
                rest = after;
            } else if let Some((tag, after)) = brackets(rest) {
                for word in tag.split([' ', ',', ';', '[', ']']).filter(|word| !word.is_empty()) {
                    found.word(word);
                }
                is_first = false;
                rest = after.trim_start();
            } else {
                break;
            }
        }
        found.text = rest.to_owned();
        found
    }

    fn word(&mut self, word: &str) {
        let lower = word.to_ascii_lowercase();
        if let Some(counter) = counter(word) {
            self.counter = self.counter.or(Some(counter));
        } else if let Some(revision) = revision(&lower) {
            self.revision = self.revision.or(Some(revision));
        } else if lower.starts_with("rfc") {
            self.is_rfc = true;
        } else if lower.starts_with("resend") {
            self.is_resend = true;
        } else if self.prefixes.len() < PREFIXES_MAX {
            // `[PATCHv3]`.
            let fused = lower.strip_prefix("patch").and_then(revision);
            self.revision = self.revision.or(fused);
            let kept = if fused.is_some() { &word[..5] } else { word };
            self.prefixes.push(kept.to_owned());
        }
    }
}

/// One line without control characters.
fn line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ").chars().take(LINE_MAX).collect()
}

/// What follows `Re:`, `Aw:`, `Fwd:`, also behind the name of a list in brackets; or, at the beginning, any two or three
/// letters with a colon before a bracket: mail programs translate them.
fn after_reply(text: &str, is_first: bool) -> Option<&str> {
    let (mark, rest) = text.split_once(':')?;
    let rest = rest.trim_start();
    let is_known = ["re", "aw", "fwd"].iter().any(|known| mark.eq_ignore_ascii_case(known));
    let length = mark.chars().count();
    let is_translated = is_first
        && (2..=3).contains(&length)
        && mark.chars().all(char::is_alphanumeric)
        && rest.starts_with('[');
    let is_before = is_first || rest.starts_with('[');
    (is_known && is_before || is_translated).then_some(rest)
}

/// What stands in the brackets with which `text` begins, and what follows them. Brackets may hold brackets; where they
/// are not balanced, the first one that closes is the end.
fn brackets(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('[')?;
    let mut depth = 1_usize;
    let outermost = inside.find(|c| {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    inside.split_at_checked(outermost.or_else(|| inside.find(']'))?).map(|(tag, rest)| (tag, &rest[1..]))
}

/// Up to four digits.
fn small(text: &str) -> Option<u32> {
    let is_small = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_small.then(|| text.parse().ok())?
}

/// `3/7`; `6/5` is a series of six.
fn counter(word: &str) -> Option<Counter> {
    let (number, total) = word.split_once('/')?;
    let (number, total) = (small(number)?, small(total)?);
    Some(Counter { number, total: total.max(number) })
}

/// `v2`.
fn revision(word: &str) -> Option<u32> {
    small(word.strip_prefix('v')?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_stands_before_a_subject_is_read() {
        for (subject, number, is_reply, rest) in [
            ("[PATCH v2 03/7] mm: fix it", Some((3, 7)), false, "mm: fix it"),
            ("[PATCH 1/2][RFC] mm: [x] y", Some((1, 2)), false, "mm: [x] y"),
            ("Re: [PATCH 2/2] mm", Some((2, 2)), true, "mm"),
            ("RE: re: [PATCH 2/2] mm", Some((2, 2)), true, "mm"),
            ("[PATCH [net-next] 2/3] net: x", Some((2, 3)), false, "net: x"),
            ("[[PATCH 2/3]] net: [x] y", Some((2, 3)), false, "net: [x] y"),
            ("[PATCH [net 2/3] net: [x] y", Some((2, 3)), false, "net: [x] y"),
            ("[PATCH v2,2/3] net: x", Some((2, 3)), false, "net: x"),
            ("[PATCH 6/5] x", Some((6, 6)), false, "x"),
            ("[PATCH 12345/5] x", None, false, "x"),
            ("[PATCH] mm: 1/2 of it", None, false, "mm: 1/2 of it"),
            ("[PATCH a/b] x", None, false, "x"),
            ("SV: [PATCH] x", None, true, "x"),
            ("[linux-mm] Re: [PATCH 2/2] mm", Some((2, 2)), true, "mm"),
            ("[PATCH] re: mm", None, false, "re: mm"),
            ("mm: fix it", None, false, "mm: fix it"),
            ("[no end", None, false, "[no end"),
            ("é", None, false, "é"),
            ("", None, false, ""),
        ] {
            let found = Subject::parse(subject);
            let counter = number.map(|(number, total)| Counter { number, total });
            assert_eq!(
                (found.counter, found.is_reply, found.text.as_str()),
                (counter, is_reply, rest),
                "{subject}"
            );
        }
    }

    #[test]
    fn words_in_brackets_say_what_a_patch_is() {
        let found = Subject::parse("[RFC PATCHv3 net-next, RESEND] x");
        assert_eq!((found.revision, found.is_rfc, found.is_resend), (Some(3), true, true));
        assert_eq!(found.prefixes, ["PATCH", "net-next"]);
        assert_eq!(Subject::parse("[PATCH v2 v3] x").revision, Some(2));
        assert_eq!(Subject::parse("[PATCH V2] x").revision, Some(2));
        assert_eq!(Subject::parse("[PATCH v99999] x").revision, None);
    }

    proptest! {
        #[test]
        fn a_subject_is_one_line_of_bounded_length(text: String) {
            let found = Subject::parse(&text);
            prop_assert!(!found.text.contains(char::is_control) && found.text.chars().count() <= LINE_MAX);
        }

        #[test]
        fn what_git_writes_is_read(revision in 1u32..100, number in 0u32..99, more in 0u32..99, text in "[a-z][a-z :]{0,30}[a-z]") {
            let total = number + more;
            let found = Subject::parse(&format!("[PATCH v{revision} {number:02}/{total}] {text}"));
            prop_assert_eq!((found.revision, found.counter), (Some(revision), Some(Counter { number, total })));
            prop_assert_eq!(found.text, text.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }
}

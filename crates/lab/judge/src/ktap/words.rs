//! Pieces of lines.

/// A number and what follows it.
pub(super) fn number(text: &str) -> Option<(Option<u64>, &str)> {
    let end = text.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    // A number that no counter holds is one all the same.
    (!digits.is_empty()).then(|| (digits.parse().ok(), rest))
}

/// What follows `word` whatever its letters' case.
pub(super) fn after_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (start, rest) = text.split_at_checked(word.len())?;
    let ends = rest.chars().next().is_none_or(|c| !c.is_alphanumeric() && c != '_');
    (start.eq_ignore_ascii_case(word) && ends).then_some(rest)
}

/// `name` of a diagnostic `# name: text`, and the text.
pub(crate) fn diagnostic(text: &str) -> Option<(&str, &str)> {
    let (name, text) = text.strip_prefix("# ")?.split_once(": ")?;
    (!name.is_empty() && !name.contains(' ')).then_some((name, text))
}

//! What does not belong in a comment: code, and what is still to be done.

use super::Finding;
use super::source::{Rust, Source};

/// Work that somebody put off.
const PUT_OFF: &[&str] = &["TODO", "FIXME", "XXX", "HACK"];

/// A comment of one or more lines.
struct Comment {
    line: usize,
    text: String,
}

/// Comments that are code or a note to oneself.
pub(super) fn look(source: &Source, rust: &Rust) -> Vec<Finding> {
    let mut found = Vec::new();
    for Comment { line, text } in comments(&source.text, rust) {
        let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
        if words.any(|word| PUT_OFF.contains(&word)) {
            found.push(Finding::new(
                &source.path,
                line,
                "put off",
                "do it, or open an issue and take it out",
            ));
        }
        if is_code(&text) {
            found.push(Finding::new(&source.path, line, "dead code", "take it out: git remembers"));
        }
    }
    found
}

/// Whether a comment would compile, and is more than a word.
fn is_code(text: &str) -> bool {
    let text = text.trim();
    text.ends_with([';', '}'])
        && text.len() > 3
        && syn::parse_str::<syn::Block>(&format!("{{{text}}}")).is_ok()
}

/// What stands between the tokens; a documentation comment is a token.
fn comments(text: &str, rust: &Rust) -> Vec<Comment> {
    let ends = std::iter::once(0).chain(rust.tokens.iter().map(|token| token.bytes.end));
    let starts = rust.tokens.iter().map(|token| token.bytes.start).chain([text.len()]);
    let mut found = Vec::new();
    for (end, start) in ends.zip(starts) {
        let gap = text.get(end..start).unwrap_or_default();
        let lines: Vec<&str> = gap.lines().filter_map(|line| line.trim_start().strip_prefix("//")).collect();
        if !lines.is_empty() {
            let before = text[..end].matches('\n').count()
                + gap.find("//").map_or(0, |at| gap[..at].matches('\n').count());
            found.push(Comment { line: before + 1, text: lines.join("\n") });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_found_with_their_lines() {
        let text = "//! Doc.\n\nfn a() {\n    let b = \"// no comment\";\n    // let c = 1;\n    // TODO: later\n}\n";
        let source = Source::new("a.rs", text.to_string()).unwrap();
        let found = comments(text, source.rust.as_ref().unwrap());
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].line, found[0].text.as_str()), (5, " let c = 1;\n TODO: later"));
        assert_eq!(look(&source, source.rust.as_ref().unwrap())[0].key, "put off");
    }

    #[test]
    fn code_is_told_from_prose() {
        assert!(is_code("let x = 1;"));
        assert!(is_code("if a {\n    b();\n}"));
        assert!(!is_code("A pipe holds 64 KiB;"));
        assert!(!is_code("See pipe(7)."));
    }
}

//! One word for one thing, and nothing of a developer's machine.

use super::Finding;
use super::source::{Rust, Source};

/// Words that mean something for which docs/architecture.md has a word.
const SYNONYMS: &[(&str, &str)] = &[
    ("test case", "case"),
    ("test cases", "cases"),
    ("testcase", "case"),
    ("testcases", "cases"),
    ("testsuite", "suite"),
    ("virtual machine", "machine"),
    ("virtual machines", "machines"),
    ("VM", "machine"),
    ("VMs", "machines"),
    ("guest agent", "agent"),
];

/// Identifiers of a vocabulary of our own, and the terms of the field.
const IDENTIFIERS: &[(&str, &str)] = &[
    ("Flaw", "ImageError"),
    ("Patience", "TimeoutScale"),
    ("likeness", "failure_signature"),
    ("mended", "fixed"),
    ("Said", "Args"),
    ("Heard", "BootEvent"),
    ("PATIENCE", "TIMEOUT"),
];

/// What only one machine or one conversation knows.
const PRIVATE: &[&str] = &["/work/", "/root/", "helper session", "issue tracker"];

/// The files that list the words themselves.
const LISTS: &[&str] = &["xtask/src/tidy/words.rs", "xtask/tidy-exceptions"];

/// Words that are not ours.
pub(super) fn look(source: &Source) -> Vec<Finding> {
    if LISTS.contains(&source.path.as_str()) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (index, line) in source.text.lines().enumerate() {
        let number = index + 1;
        for (word, instead) in SYNONYMS.iter().filter(|(word, _)| has_word(line, word)) {
            let advice = format!("say {instead:?}: docs/architecture.md has the words");
            found.push(Finding::new(&source.path, number, format!("word {word}"), advice));
        }
        for text in PRIVATE.iter().filter(|text| has_start(line, text)) {
            let advice = "nobody else has this: name it from the top of the repository, or not at all";
            found.push(Finding::new(&source.path, number, format!("private {text}"), advice));
        }
        if has_home(line) {
            found.push(Finding::new(&source.path, number, "private /home/", "write ~ or a made-up folder"));
        }
    }
    found.extend(source.rust.iter().flat_map(|rust| own_terms(&source.path, rust)));
    found
}

/// Identifiers for which the field has a term.
fn own_terms<'a>(path: &'a str, rust: &'a Rust) -> impl Iterator<Item = Finding> + 'a {
    rust.tokens.iter().filter_map(move |token| {
        let (word, instead) = IDENTIFIERS.iter().find(|(word, _)| token.text == *word)?;
        Some(Finding::new(path, token.line, format!("word {word}"), format!("the field says {instead:?}")))
    })
}

/// Whether `word` stands in `line` by itself, as it is or with a capital.
fn has_word(line: &str, word: &str) -> bool {
    let capital = word[..1].to_ascii_uppercase() + &word[1..];
    // A tag of XML is a foreign word.
    let is_part = |c: char| c.is_alphanumeric() || "_</".contains(c);
    [word, &capital].into_iter().any(|word| {
        line.match_indices(word).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let after = line[at + word.len()..].chars().next();
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
    })
}

/// Whether a line names somebody's home.
fn has_home(line: &str) -> bool {
    let is_name = |at: usize| line[at..].starts_with(|next: char| next.is_ascii_lowercase());
    line.match_indices("/home/").any(|(at, text)| is_name(at + text.len()))
}

/// Whether `text` stands in `line` and is not the rest of a longer path.
fn has_start(line: &str, text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    line.match_indices(text).any(|(at, _)| !line[..at].ends_with(is_part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_are_found_and_parts_are_not() {
        assert!(has_word("a test case here", "test case"));
        assert!(has_word("Testcases.", "testcases"));
        assert!(!has_word("TestCaseError", "testcase"));
        assert!(!has_word("KVM works", "VM"));
        assert!(!has_word("VM_FAULT_OOM", "VM"));
        assert!(!has_word("</testcase>", "testcase"));
    }

    #[test]
    fn identifiers_of_our_own_are_found_in_code_only() {
        let source = |text: &str| Source::new("a.rs", text.to_string()).unwrap();
        let (word, _) = IDENTIFIERS[0];
        let keys: Vec<String> =
            look(&source(&format!("fn {word}() {{}}"))).into_iter().map(|found| found.key).collect();
        assert_eq!(keys, [format!("word {word}")]);
        assert!(look(&source(&format!("// {word}\nfn a() {{\n    b(\"{word}\");\n}}\n"))).is_empty());
        assert!(look(&source(&format!("fn un{word}() {{}}"))).is_empty());
    }
}

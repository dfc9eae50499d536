//! What is cited exists.

use std::path::Path;

use super::Finding;
use super::source::{Repository, Source, normal};

/// Endings by which a word is known to be one of our files.
const ENDINGS: &[&str] = &[".rs", ".md", ".toml"];

/// Paths in documents and comments that lead nowhere.
pub(super) fn look(source: &Source, repository: &Repository) -> Vec<Finding> {
    let is_document = source.path.ends_with(".md");
    let mut found = Vec::new();
    for (index, line) in source.text.lines().enumerate() {
        let is_comment = line.trim_start().starts_with("//") || line.trim_start().starts_with('#');
        if !is_document && !is_comment {
            continue;
        }
        for path in cited(line) {
            if !exists(path, &source.path, repository) {
                found.push(Finding::new(
                    &source.path,
                    index + 1,
                    format!("path {path}"),
                    "there is no such file",
                ));
            }
        }
    }
    found
}

/// Words of a line that look like paths of this repository.
fn cited(line: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    line.split(move |c| !is_part(c))
        .map(|word| word.trim_end_matches(['.', '-']))
        .filter(|word| looks_ours(word))
}

fn looks_ours(word: &str) -> bool {
    const TOPS: [&str; 6] = ["crates/", "xtask/", "benches/", "fuzz/", "scripts/", ".ci/"];
    let plain = !word.starts_with('/') && !word.contains("//");
    let is_ours =
        TOPS.iter().any(|top| word.starts_with(top)) || ENDINGS.iter().any(|end| word.ends_with(end));
    let has_stem = word.rsplit('/').next().is_some_and(|file| !file.starts_with('.') || word.contains('/'));
    plain && is_ours && has_stem
}

/// Whether a path leads to a file or folder from the top, from where it is cited, or from its crate.
fn exists(cited: &str, from: &str, repository: &Repository) -> bool {
    let here = Path::new(from).parent().unwrap_or(Path::new(""));
    here.ancestors().any(|base| {
        let path = normal(&base.join(cited.trim_end_matches('/')));
        let folder = format!("{path}/");
        repository.names.contains(&path)
            || repository.names.range(folder.clone()..).next().is_some_and(|name| name.starts_with(&folder))
            || repository.names.contains(&normal(&base.join("src").join(cited)))
            || is_ignored(&path)
    })
}

/// Folders that git does not follow and that the tools make.
fn is_ignored(path: &str) -> bool {
    path.starts_with("target") || path.starts_with("fuzz/corpus") || path.starts_with("fuzz/artifacts")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_in_prose() {
        let found: Vec<&str> =
            cited("see `docs/a.md`, crates/kiln/src/run.rs and a/b or (lib.rs).").collect();
        assert_eq!(found, ["docs/a.md", "crates/kiln/src/run.rs", "lib.rs"]);
    }
}

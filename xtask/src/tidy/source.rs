//! The files of the repository, and which parts of them are tests.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result};
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Attribute, Item, ItemMod};

use super::Finding;
use crate::program::{output, program, root};

/// The files that git follows or would follow.
pub(super) struct Repository {
    /// Files of text.
    pub(super) sources: Vec<Source>,
    /// All files, also those that are no text.
    pub(super) names: BTreeSet<String>,
}

/// A file of text.
pub(super) struct Source {
    /// From the top of the repository.
    pub(super) path: String,
    /// What is in it.
    pub(super) text: String,
    /// What it is as Rust.
    pub(super) rust: Option<Rust>,
}

/// A file of Rust.
pub(super) struct Rust {
    /// Its items.
    pub(super) file: syn::File,
    /// Its words.
    pub(super) tokens: Vec<Token>,
    /// Whether all of it is compiled for tests only.
    pub(super) is_test: bool,
    /// Lines that are compiled for tests only.
    pub(super) test_lines: Vec<RangeInclusive<usize>>,
}

/// One word of Rust.
pub(super) struct Token {
    /// As it is written.
    pub(super) text: String,
    /// Where it stands, from 1.
    pub(super) line: usize,
    /// Which bytes of the file it takes.
    pub(super) bytes: std::ops::Range<usize>,
}

/// Parts of the paths of what was recorded, and of texts that are not ours.
const FOREIGN: &[&str] = &["/tests/corpus/", "/snapshots/", "LICENSE-", "Cargo.lock"];

impl Repository {
    /// Reads all files.
    pub(super) fn read() -> Result<Self> {
        let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let names = output(&mut program("git", &arguments))?;
        // A file that was removed is in git's list until the next commit.
        let names: BTreeSet<String> = names
            .split_terminator('\0')
            .filter(|name| root().join(name).exists())
            .map(String::from)
            .collect();
        let ours = names.iter().filter(|name| !FOREIGN.iter().any(|part| name.contains(part)));
        let mut sources = Vec::new();
        for name in ours {
            if let Ok(text) = String::from_utf8(std::fs::read(root().join(name))?) {
                sources.push(Source::new(name, text)?);
            }
        }
        let mut repository = Self { sources, names };
        repository.mark_tests();
        Ok(repository)
    }

    /// The text of a file.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.sources.iter().find(|source| source.path == path).map(|source| source.text.as_str())
    }

    /// Rust files that no other declares as a module.
    pub(super) fn dead_files(&self) -> Vec<Finding> {
        let mut reached = BTreeSet::new();
        for source in &self.sources {
            if is_root(&source.path) {
                self.reach(&source.path, false, &mut reached);
            }
        }
        let reached: BTreeSet<&str> = reached.iter().map(|(path, _)| path.as_str()).collect();
        let rust = self.sources.iter().filter(|source| source.rust.is_some());
        rust.filter(|source| !reached.contains(source.path.as_str()))
            .map(|source| Finding::new(&source.path, 1, "dead file", "no file declares it as a module"))
            .collect()
    }

    fn mark_tests(&mut self) {
        let mut reached = BTreeSet::new();
        for source in &self.sources {
            if is_root(&source.path) {
                self.reach(&source.path, source.path.contains("/tests/"), &mut reached);
            }
        }
        for source in &mut self.sources {
            let key = (source.path.clone(), false);
            if let Some(rust) = &mut source.rust {
                rust.is_test = !reached.contains(&key);
            }
        }
    }

    /// Notes a file and the files of its modules, each with whether it is for tests only.
    fn reach(&self, path: &str, is_test: bool, reached: &mut BTreeSet<(String, bool)>) {
        let Some(source) = self.sources.iter().find(|source| source.path == path) else { return };
        let Some(rust) = &source.rust else { return };
        if !reached.insert((path.to_string(), is_test)) {
            return;
        }
        for item in &rust.file.items {
            if let Item::Mod(module) = item
                && module.content.is_none()
            {
                for child in places(path, module) {
                    self.reach(&child, is_test || is_for_tests(&module.attrs), reached);
                }
            }
        }
    }
}

impl Source {
    /// A file with this text.
    pub(super) fn new(path: &str, text: String) -> Result<Self> {
        let rust = path.ends_with(".rs").then(|| Rust::new(&text)).transpose();
        Ok(Self { rust: rust.with_context(|| path.to_string())?, path: path.to_string(), text })
    }
}

impl Rust {
    fn new(text: &str) -> Result<Self> {
        let file = syn::parse_file(text)?;
        let mut tokens = Vec::new();
        flatten(text.parse::<TokenStream>().map_err(|error| anyhow::anyhow!("{error}"))?, &mut tokens);
        let mut tests = Tests::default();
        tests.visit_file(&file);
        Ok(Self { file, tokens, is_test: false, test_lines: tests.lines })
    }

    /// Whether a line is compiled for tests only.
    pub(super) fn is_test_line(&self, line: usize) -> bool {
        self.is_test || self.test_lines.iter().any(|lines| lines.contains(&line))
    }
}

/// Finds what is compiled for tests only.
#[derive(Default)]
struct Tests {
    lines: Vec<RangeInclusive<usize>>,
}

impl<'ast> Visit<'ast> for Tests {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = match item {
            Item::Mod(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            _ => return syn::visit::visit_item(self, item),
        };
        if is_for_tests(attributes) {
            let span = item.span();
            self.lines.push(span.start().line..=span.end().line);
        } else {
            syn::visit::visit_item(self, item);
        }
    }
}

/// Whether attributes say `#[cfg(test)]` or `#[test]`.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let path = attribute.path();
        let is_test = || attribute.parse_args::<syn::Ident>().is_ok_and(|word| word == "test");
        path.is_ident("test") || (path.is_ident("cfg") && is_test())
    })
}

fn flatten(stream: TokenStream, tokens: &mut Vec<Token>) {
    for tree in stream {
        let TokenTree::Group(group) = tree else {
            tokens.push(Token::new(&tree.to_string(), tree.span()));
            continue;
        };
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::None => ("", ""),
        };
        tokens.push(Token::new(open, group.span_open()));
        flatten(group.stream(), tokens);
        tokens.push(Token::new(close, group.span_close()));
    }
}

impl Token {
    fn new(text: &str, span: Span) -> Self {
        Self { text: text.to_string(), line: span.start().line, bytes: span.byte_range() }
    }
}

/// Whether cargo finds a file by itself.
fn is_root(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    match parts[..] {
        [.., "src", "lib.rs" | "main.rs"] | [.., "src", "bin", _] => true,
        [.., "build.rs"] => !path.contains("/src/"),
        [.., "tests" | "fuzz_targets" | "examples", file] => file.ends_with(".rs") && !path.contains("/src/"),
        [.., "tests", _, "main.rs"] => true,
        _ => false,
    }
}

/// Where the file of a module may be.
fn places(declared_in: &str, module: &ItemMod) -> Vec<String> {
    let file = Path::new(declared_in);
    let directory = file.parent().unwrap_or(Path::new(""));
    if let Some(path) = module.attrs.iter().find_map(path_attribute) {
        return vec![normal(&directory.join(path))];
    }
    let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let is_top = is_root(declared_in) || stem == "mod";
    let below = if is_top { directory.to_path_buf() } else { directory.join(stem) };
    let name = module.ident.to_string();
    vec![normal(&below.join(format!("{name}.rs"))), normal(&below.join(name).join("mod.rs"))]
}

/// What `#[path = "..."]` says.
pub(super) fn path_attribute(attribute: &Attribute) -> Option<String> {
    let syn::Meta::NameValue(pair) = &attribute.meta else { return None };
    match &pair.value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) if pair.path.is_ident("path") => {
            Some(text.value())
        }
        _ => None,
    }
}

/// A path without `..`.
pub(super) fn normal(path: &Path) -> String {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                parts.pop();
            }
            Component::CurDir => {}
            other => parts.push(other),
        }
    }
    parts.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_tests_are_told_from_others() {
        let rust =
            Rust::new("fn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n").unwrap();
        let tests: Vec<usize> = (1..=7).filter(|&line| rust.is_test_line(line)).collect();
        assert_eq!(tests, [3, 4, 5, 6]);
    }

    #[test]
    fn modules_are_looked_for_where_rustc_does() {
        let module = |text: &str| syn::parse_str::<ItemMod>(text).unwrap();
        let found = |file: &str, text: &str| places(file, &module(text)).remove(0);
        assert_eq!(found("crates/a/src/lib.rs", "mod b;"), "crates/a/src/b.rs");
        assert_eq!(found("crates/a/src/b.rs", "mod c;"), "crates/a/src/b/c.rs");
        assert_eq!(found("crates/a/src/b/mod.rs", "mod c;"), "crates/a/src/b/c.rs");
        assert_eq!(found("fuzz/fuzz_targets/x.rs", r#"#[path = "../../y.rs"] mod y;"#), "y.rs");
    }
}

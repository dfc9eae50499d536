//! Lengths of functions and files.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{ImplItemFn, ItemFn, Signature, TraitItemFn};

use super::Finding;
use super::source::{Rust, Source};

/// Longest function, from its signature to its closing brace.
const FUNCTION: usize = 60;

/// Longest file, without its tests.
const FILE: usize = 400;

/// Longest file that is all tests.
const TEST_FILE: usize = 600;

/// Most arguments of a function.
const ARGUMENTS: usize = 5;

/// Functions and files that are too long.
pub(super) fn look(source: &Source, rust: &Rust) -> Vec<Finding> {
    let mut functions = Functions { source, rust, found: Vec::new() };
    functions.visit_file(&rust.file);
    let mut found = functions.found;
    let lines = source.text.lines().count();
    let (limit, counted) = if rust.is_test {
        (TEST_FILE, lines)
    } else {
        (FILE, lines - rust.test_lines.iter().map(|lines| lines.clone().count()).sum::<usize>())
    };
    if counted > limit {
        let advice = format!("{counted} lines, at most {limit}: a file holds one idea");
        found.push(Finding::new(&source.path, 1, "file", advice).sized(counted));
    }
    found
}

struct Functions<'a> {
    source: &'a Source,
    rust: &'a Rust,
    found: Vec<Finding>,
}

impl Functions<'_> {
    fn measure(&mut self, signature: &Signature, end: Span) {
        let line = signature.span().start().line;
        if self.rust.is_test_line(line) {
            return;
        }
        let name = &signature.ident;
        let lines = end.end().line - line + 1;
        if lines > FUNCTION {
            let advice = format!("{lines} lines, at most {FUNCTION}: a part of it deserves a name");
            let finding = Finding::new(&self.source.path, line, format!("function {name}"), advice);
            self.found.push(finding.sized(lines));
        }
        let arguments = signature.inputs.len();
        if arguments > ARGUMENTS {
            let advice = format!("{arguments} arguments, at most {ARGUMENTS}: some of them are one thing");
            let finding = Finding::new(&self.source.path, line, format!("arguments {name}"), advice);
            self.found.push(finding.sized(arguments));
        }
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        self.measure(&function.sig, function.block.span());
        syn::visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        self.measure(&function.sig, function.block.span());
        syn::visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast TraitItemFn) {
        if let Some(block) = &function.default {
            self.measure(&function.sig, block.span());
        }
        syn::visit::visit_trait_item_fn(self, function);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::source::Source;

    fn keys(text: &str) -> Vec<String> {
        let source = Source::new("crates/x/src/lib.rs", text.to_string()).unwrap();
        look(&source, source.rust.as_ref().unwrap()).into_iter().map(|finding| finding.key).collect()
    }

    #[test]
    fn long_functions_are_found_and_long_tests_are_not() {
        let long = |name: &str| format!("fn {name}() {{\n{}}}\n", "    work();\n".repeat(FUNCTION - 1));
        assert_eq!(keys(&long("work")), ["function work"]);
        assert!(keys(&format!("#[cfg(test)]\nmod tests {{\n{}}}\n", long("work"))).is_empty());
        assert!(keys(&format!("fn a() {{\n{}}}\n", "    work();\n".repeat(FUNCTION - 2))).is_empty());
    }

    #[test]
    fn a_file_is_measured_without_its_tests() {
        let lines = "const A: u8 = 0;\n".repeat(FILE);
        assert!(keys(&format!("{lines}#[cfg(test)]\nmod tests {{\n{lines}}}\n")).is_empty());
        assert_eq!(keys(&format!("{lines}const B: u8 = 0;\n")), ["file"]);
    }

    #[test]
    fn many_arguments_are_found() {
        assert_eq!(keys("fn a(b: u8, c: u8, d: u8, e: u8, f: u8, g: u8) {}\n"), ["arguments a"]);
    }
}

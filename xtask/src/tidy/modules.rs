//! One kind of module file, beside the folder of its parts, with the tests of a module inside it or in that folder.

use syn::visit::Visit;
use syn::{ItemMod, spanned::Spanned};

use super::Finding;
use super::source::{Rust, Source, path_attribute};

/// Fuzz targets take in private modules of the crates that they test.
const MAY_NAME_PATHS: &str = "fuzz/";

/// Files and declarations of another kind.
pub(super) fn look(source: &Source, rust: &Rust) -> Vec<Finding> {
    let finding = |line, key: &str, advice: &str| Finding::new(&source.path, line, key, advice);
    let mut found = Vec::new();
    if source.path.ends_with("/mod.rs") {
        found.push(finding(1, "mod.rs", "name the file foo.rs and put it beside the folder foo/"));
    }
    if source.path.ends_with("_tests.rs") {
        found.push(finding(1, "tests beside", "put tests into foo.rs or foo/tests.rs"));
    }
    if !source.path.starts_with(MAY_NAME_PATHS) {
        let mut paths = Paths::default();
        paths.visit_file(&rust.file);
        let advice = "put the module's file where rustc looks for it";
        found.extend(paths.lines.into_iter().map(|line| finding(line, "#[path]", advice)));
    }
    found
}

/// Lines of modules whose file is named.
#[derive(Default)]
struct Paths {
    lines: Vec<usize>,
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if module.attrs.iter().any(|attribute| path_attribute(attribute).is_some()) {
            self.lines.push(module.span().start().line);
        }
        syn::visit::visit_item_mod(self, module);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(path: &str, text: &str) -> Vec<String> {
        let source = Source::new(path, text.to_string()).unwrap();
        let found = look(&source, source.rust.as_ref().unwrap());
        found.into_iter().map(|finding| finding.key).collect()
    }

    #[test]
    fn other_places_of_modules_are_found() {
        const NAMED: &str = "mod a {\n    #[path = \"c.rs\"]\n    mod b;\n}\n";
        assert_eq!(keys("crates/a/src/b/mod.rs", ""), ["mod.rs"]);
        assert_eq!(keys("crates/a/src/b_tests.rs", ""), ["tests beside"]);
        assert_eq!(keys("crates/a/src/b.rs", NAMED), ["#[path]"]);
        assert_eq!(keys("fuzz/fuzz_targets/b.rs", NAMED), [""; 0]);
        assert_eq!(keys("crates/a/src/b/tests.rs", "#[cfg(test)] mod c;"), [""; 0]);
    }
}

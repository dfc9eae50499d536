//! Warnings that are new.

use std::collections::{BTreeSet, HashMap};

use judge::signature::masked;
use kbuild::diagnostics::{Diagnostic, Diagnostics, Severity};

/// The file of a configuration.
const CONFIG: &str = ".config";

/// Most warnings of a commit that are named.
const NAMED_MAX: usize = 100;

/// What a warning is known by: lines move, and so do the numbers in a text. gcc names the function only above the first warning
/// in it.
#[derive(PartialEq, Eq, Hash)]
struct Key<'d> {
    file: &'d str,
    option: Option<&'d str>,
    text: String,
}

/// Warnings of `after` that are in none of `before`, as compilers write them. Of several that are alike the last ones are named.
pub(crate) fn new_in(after: &Diagnostics, before: &[&Diagnostics]) -> Vec<String> {
    let mut counted: HashMap<Key<'_>, usize> = HashMap::new();
    for diagnostics in before {
        for (key, count) in counts(diagnostics) {
            let known = counted.entry(key).or_default();
            *known = count.max(*known);
        }
    }
    let mut new = Vec::new();
    for warning in warnings(after) {
        match counted.get_mut(&key(warning)).filter(|count| **count > 0) {
            Some(count) => *count -= 1,
            None => new.push(warning.to_string()),
        }
    }
    new.truncate(NAMED_MAX);
    new
}

fn counts(diagnostics: &Diagnostics) -> HashMap<Key<'_>, usize> {
    let mut counted = HashMap::new();
    for warning in warnings(diagnostics) {
        *counted.entry(key(warning)).or_default() += 1;
    }
    counted
}

/// Those about the source: what Kconfig has against a configuration is said when it is asked, which it need not be.
fn warnings(diagnostics: &Diagnostics) -> impl Iterator<Item = &Diagnostic> {
    let is_of_source = |found: &&Diagnostic| found.file.as_deref() != Some(CONFIG);
    diagnostics.all.iter().filter(|found| found.severity == Severity::Warning).filter(is_of_source)
}

fn key(warning: &Diagnostic) -> Key<'_> {
    Key {
        file: warning.file.as_deref().unwrap_or_default(),
        option: warning.option.as_deref(),
        text: masked(&warning.text),
    }
}

/// The objects in which the same warnings would be seen: those of the files that warn. A file that was not compiled by itself, such as
/// a header, may be a part of any that was. Where no file is named, the whole kernel is at fault, and each build says it.
pub(crate) fn objects(after: &Diagnostics, compiled: &[String]) -> Vec<String> {
    let files = warnings(after).filter_map(|warning| warning.file.as_deref());
    let wanted: BTreeSet<Option<String>> = files.map(|file| object_of(file, compiled)).collect();
    match wanted.into_iter().collect::<Option<Vec<String>>>() {
        Some(objects) => objects,
        None => compiled.to_vec(),
    }
}

fn object_of(file: &str, compiled: &[String]) -> Option<String> {
    let stem = [".c", ".S", ".o"].iter().find_map(|ending| file.strip_suffix(ending))?;
    let object = format!("{stem}.o");
    compiled.contains(&object).then_some(object)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn diagnostics(log: &str) -> Diagnostics {
        Diagnostics::of(log, Path::new("/tree"), Path::new("/objects"))
    }

    const BEFORE: &str = "\
fs/x.c: In function 'one':
fs/x.c:10:5: warning: unused variable 'a' [-Wunused-variable]
fs/x.c: In function 'two':
fs/x.c:20:5: warning: array of 8 is too small [-Wodd]
";

    const LINKED: &str = "WARNING: modpost: missing MODULE_DESCRIPTION() in lib/x.o\n";

    fn news(after: &str) -> Vec<String> {
        new_in(&diagnostics(after), &[&diagnostics(BEFORE), &diagnostics(LINKED)])
    }

    #[test]
    fn what_kconfig_has_against_a_configuration_is_no_news() {
        let log = ".config:1309:warning: override: UNWINDER_GUESS changes choice state\n";
        assert_eq!(news(log), [""; 0]);
        assert_eq!(objects(&diagnostics(log), &["kernel/fork.o".to_owned()]), [""; 0]);
    }

    #[test]
    fn moved_lines_and_other_numbers_are_no_news() {
        assert_eq!(
            news(&BEFORE.replace(":10:", ":110:").replace(":20:", ":99:").replace("of 8", "of 16")),
            [""; 0]
        );
    }

    #[test]
    fn what_each_build_says_is_no_news() {
        assert_eq!(news(&format!("{BEFORE}{LINKED}")), [""; 0]);
        assert_eq!(news(&format!("{BEFORE}{}", LINKED.replace("lib/x", "lib/y"))).len(), 1);
    }

    #[test]
    fn another_file_or_one_more_is_new() {
        let other = "fs/y.c:20:5: warning: array of 8 is too small [-Wodd]";
        assert_eq!(news(&BEFORE.replace("fs/x.c:20", "fs/y.c:20")), [other]);
        let again = "fs/x.c:21:5: warning: array of 9 is too small [-Wodd]";
        assert_eq!(news(&format!("{BEFORE}{again}\n")), [again]);
        let renamed = BEFORE.replace("variable 'a'", "variable 'b'");
        assert_eq!(news(&renamed), ["fs/x.c:10:5: warning: unused variable 'b' [-Wunused-variable]"]);
    }

    #[test]
    fn errors_are_no_warnings() {
        assert_eq!(news(&format!("{BEFORE}fs/x.c:10:5: error: wrong\n")), [""; 0]);
    }

    #[test]
    fn objects_that_warn_are_compiled_again() {
        let compiled = ["fs/x.o", "fs/y.o"].map(str::to_owned);
        assert_eq!(objects(&diagnostics(BEFORE), &compiled), ["fs/x.o"]);
        let header = "include/linux/x.h:3:5: warning: odd [-Wodd]\n";
        assert_eq!(objects(&diagnostics(header), &compiled), compiled);
        let part = "fs/rt.c:3:5: warning: odd [-Wodd]\n";
        assert_eq!(objects(&diagnostics(part), &compiled), compiled, "another file includes it");
        let assembler = "fs/y.S:3: Warning: odd\n";
        assert_eq!(objects(&diagnostics(assembler), &compiled), ["fs/y.o"]);
        let objtool = "fs/y.o: warning: objtool: f() falls through to next function g()\n";
        assert_eq!(objects(&diagnostics(objtool), &compiled), ["fs/y.o"]);
        assert_eq!(objects(&diagnostics(""), &compiled), [""; 0]);
    }
}

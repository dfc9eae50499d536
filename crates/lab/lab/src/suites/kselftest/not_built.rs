//! Why tests of a group were not built, in a file beside what was installed.

use std::path::Path;

use kbuild::diagnostics::{Diagnostic, Diagnostics, Severity};

/// The file.
pub(super) const FILE: &str = "kiln-not-built.txt";

/// Most errors that are kept.
const ERRORS_MAX: usize = 200;

/// The errors of a build, a line each: what was compiled, a tab, and what is wrong.
pub(super) fn text(diagnostics: &Diagnostics) -> String {
    let errors = diagnostics.all.iter().filter(|one| one.severity == Severity::Error);
    errors.filter_map(line).take(ERRORS_MAX).collect()
}

fn line(error: &Diagnostic) -> Option<String> {
    let file = Path::new(error.file.as_deref()?).file_stem()?.to_string_lossy().into_owned();
    Some(format!("{file}\t{}\n", error.to_string().replace('\n', " ")))
}

/// Why the test of this name was not built, as far as such a text says.
pub(super) fn reason(text: &str, test: &str) -> Option<String> {
    let stem = Path::new(test).file_stem()?.to_str()?;
    let (_, error) = text.lines().filter_map(|line| line.split_once('\t')).find(|(file, _)| *file == stem)?;
    Some(format!("it was not built: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_known_by_its_source() {
        let log =
            "cap.c:10:10: fatal error: sys/capability.h: No such file or directory\nb.c:1:1: warning: odd\n";
        let text = text(&Diagnostics::of(log, Path::new("/tree"), Path::new("/out")));
        let wanted = "it was not built: cap.c:10:10: error: sys/capability.h: No such file or directory";
        let reason = |test| reason(&text, test);
        assert!(reason("cap").is_some_and(|reason| reason.starts_with(wanted)), "{text}");
        assert!(reason("cap").is_some_and(|reason| reason.ends_with("apt-get install libcap-dev")), "{text}");
        assert_eq!((reason("b"), reason("c")), (None, None));
    }
}

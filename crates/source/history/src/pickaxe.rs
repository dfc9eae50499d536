//! What a patch is in conflict with: git finds the commit that removed a line (`-S` of git-log(1), the pickaxe).

use kernel::Context;

use crate::Error;
use crate::conflict::Conflict;
use crate::scratch::ScratchRepository;

/// Longest line that is looked for or kept, in bytes.
const LINE_MAX: usize = 400;

/// What stands against `patch` on `commit`, where git says that it failed at `place`: `fs/x.c:118`. Nothing where that is no
/// matter of a missing line, or cannot be told without fetching.
pub(crate) fn conflict(
    scratch: &ScratchRepository<'_>,
    commit: &str,
    patch: &[u8],
    place: &str,
    context: &mut Context<'_>,
) -> Result<Option<Conflict>, Error> {
    let Some((file, line)) = place.rsplit_once(':') else { return Ok(None) };
    let text = String::from_utf8_lossy(patch);
    let Some(hunk) = hunk(&text, file, line) else { return Ok(None) };
    let object = format!("{commit}:{file}");
    let content = scratch.run(&["cat-file", "blob", &object], |_| {}, context)?;
    if !content.success || scratch.is_partial() {
        return Ok(None);
    }
    let Some(missing) = missing(&hunk, &content.output) else { return Ok(None) };
    context.progress(&format!("looking for the commit that changed {file}"));
    let whole = format!("-S^{}$", escaped(missing));
    let arguments = ["log", "-1", "-O/dev/null", "--no-show-signature", "--format=%H %s", "--pickaxe-regex"];
    let log = [&arguments[..], &[&whole, commit, "--", file]].concat();
    let found = scratch.must(&log, |_| {}, context)?;
    let removed_by = found.split_once(' ').map(|(commit, subject)| (commit.to_owned(), one_line(subject)));
    Ok(Some(Conflict { hunk: one_line(hunk.head), missing: one_line(missing), removed_by }))
}

/// Text of a stranger's that can stand in a line.
fn one_line(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(LINE_MAX).collect()
}

/// A hunk of a patch.
#[derive(Debug, PartialEq, Eq)]
struct Hunk<'p> {
    head: &'p str,
    /// What it expects of the file.
    expected: Vec<&'p str>,
}

/// The hunk of a file that begins at a line of it.
fn hunk<'p>(patch: &'p str, file: &str, line: &str) -> Option<Hunk<'p>> {
    let mut lines = patch.lines().skip_while(|it| it.strip_prefix("--- a/").map(str::trim_end) != Some(file));
    lines.next()?;
    let of_file = lines.take_while(|it| !it.starts_with("diff --git "));
    let begins = |it: &&str| {
        let range = it.strip_prefix("@@ -").and_then(|rest| rest.split([',', ' ']).next());
        range == Some(line)
    };
    let mut from_there = of_file.skip_while(|it| !begins(it));
    let head = from_there.next()?;
    let body = from_there.take_while(|it| !it.starts_with("@@ -") && !it.starts_with("-- "));
    let expected = body.filter_map(|it| it.strip_prefix(['-', ' ']));
    Some(Hunk { head, expected: expected.collect() })
}

/// The longest line that is expected and not there: short ones are in every file.
fn missing<'p>(hunk: &Hunk<'p>, content: &str) -> Option<&'p str> {
    let known: std::collections::HashSet<&str> = content.lines().collect();
    let plain =
        |line: &&&str| line.len() <= LINE_MAX && !line.trim().is_empty() && !line.contains('\u{fffd}');
    let gone = hunk.expected.iter().filter(plain).filter(|line| !known.contains(**line));
    gone.copied().max_by_key(|line| line.trim().len())
}

/// A line as an extended regular expression: regex(7).
fn escaped(line: &str) -> String {
    let special = |c: char| "\\^$.[]|()?*+{}".contains(c);
    line.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "\
diff --git a/b b/b
--- a/b
+++ b/b
@@ -7,2 +7,1 @@
 other
-other
diff --git a/fs/x.c b/fs/x.c
--- a/fs/x.c
+++ b/fs/x.c
@@ -1,1 +1,1 @@
-first
+second
@@ -7,4 +7,4 @@ int f(void)
 {
-\tint a = b[1];
+\tint a;
 }
-- 
2.39
";

    #[test]
    fn the_hunk_is_that_of_its_file_and_line() {
        let found = hunk(PATCH, "fs/x.c", "7").unwrap();
        assert_eq!(found.head, "@@ -7,4 +7,4 @@ int f(void)");
        assert_eq!(found.expected, ["{", "\tint a = b[1];", "}"]);
        assert_eq!(hunk(PATCH, "b", "7").unwrap().expected, ["other", "other"]);
        assert_eq!((hunk(PATCH, "b", "1"), hunk(PATCH, "c", "7")), (None, None));
    }

    #[test]
    fn the_longest_line_that_is_gone_is_looked_for() {
        let found = hunk(PATCH, "fs/x.c", "7").unwrap();
        assert_eq!(missing(&found, "}\n"), Some("\tint a = b[1];"));
        assert_eq!(missing(&found, "{\n\tint a = b[1];\n"), Some("}"));
        assert_eq!(missing(&found, "{\n\tint a = b[1];\n}\n"), None);
        assert_eq!(escaped("a = b[1]; /* (x) */"), "a = b\\[1\\]; /\\* \\(x\\) \\*/");
    }
}

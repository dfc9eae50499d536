//! Which line of make's output says what went wrong.

/// What a line says that names a cause, whoever wrote it: compiler, linker, make or a shell.
const CAUSES: &[&str] = &[
    ": error: ",
    ": fatal error: ",
    "undefined reference",
    "No rule to make target",
    ": not found",
    "cannot find -l",
];

/// What follows from a cause, and is shown only where there is none.
const CONSEQUENCES: &[&str] = &["*** ", "Error ", "error"];

/// Longest line that is shown, in bytes.
const LINE_MAX: usize = 300;

/// The first error in an output.
pub(super) fn first_error(output: &str) -> String {
    let with = |marks: &[&str]| output.lines().find(|line| marks.iter().any(|mark| line.contains(mark)));
    let last = || output.lines().rev().find(|line| !line.trim().is_empty());
    let line = with(CAUSES).or_else(|| with(CONSEQUENCES)).or_else(last);
    let line = line.map_or("make says nothing", str::trim);
    protocol::results::cut(line, LINE_MAX).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_comes_before_its_consequences() {
        let output = "gcc -Werror x.c\nmake[1]: *** [x] Error 1\nx.c:1:10: fatal error: y.h: No such file or directory\n\
                      z.c:2:1: error: other\n";
        assert_eq!(first_error(output), "x.c:1:10: fatal error: y.h: No such file or directory");
        assert_eq!(first_error("a\nmake: *** [all] Error 2\nb\n"), "make: *** [all] Error 2");
        assert_eq!(first_error("/bin/sh: 1: rsync: not found\n"), "/bin/sh: 1: rsync: not found");
        assert_eq!(first_error("a\n\n"), "a");
        assert_eq!(first_error(""), "make says nothing");
    }
}

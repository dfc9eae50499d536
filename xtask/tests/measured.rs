//! The judge of slow tests, on a test that is slow on purpose.

use std::process::Command;

/// A shell that ends only when it has used 0.3 s of CPU. The one that starts it ends at once; the test waits until
/// it is dead, and was waited for.
const SLOW: &str = r#"
spin='while read -r a b c d e f g h i j k l m user system rest </proc/self/stat; do
    [ $((user + system)) -lt 30 ] || exit; done'
(sh -c "$spin" & echo $! > "$0")
while kill -0 "$(cat "$0")" 2>/dev/null; do sleep 0.01; done; exit "$3""#;

/// What was recorded of a test with this script, which must end with this exit code.
fn recorded(script: &str, code: i32) -> String {
    let folder = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("writable");
    let (record, done) = (folder.path().join("record"), folder.path().join("done"));
    let status = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .arg("measured")
        .arg(&record)
        .args(["sh", "-c", script])
        .arg(&done)
        .args(["--exact", "planted::slow", &code.to_string()])
        .status()
        .expect("xtask was built");
    assert_eq!(status.code(), Some(code));
    std::fs::read_to_string(record).expect("it was written")
}

/// The milliseconds of a line.
fn milliseconds(line: &str) -> u64 {
    line.split(' ').next().and_then(|word| word.parse().ok()).expect("a number comes first")
}

#[test]
fn cpu_time_of_orphans_is_that_of_the_test() {
    let line = recorded(SLOW, 7);
    assert!(line.ends_with(" sh planted::slow\n"), "{line}");
    assert!(milliseconds(&line) >= 300, "{line}");
}

#[test]
fn a_test_that_waits_takes_no_cpu_time() {
    let line = recorded("sleep 0.5; exit $3", 0);
    assert!(milliseconds(&line) < 300, "{line}");
}

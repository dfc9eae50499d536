//! Bundles, where there is nothing of kiln.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::{Done, Place};

/// The folder out of a bundle of the last session.
pub(crate) fn unpacked(place: &Place, wanted: &str) -> PathBuf {
    let archive = place.path().join("bug.tar.zst");
    place.kiln(["bundle", wanted, "-o", archive.to_str().expect("UTF-8")]).run().expect(0);
    unpack(place, &archive)
}

/// The folder `bug` out of an archive, which goes.
pub(crate) fn unpack(place: &Place, archive: &Path) -> PathBuf {
    let packed = std::fs::File::open(archive).expect("written");
    let mut bytes = Vec::new();
    let mut decoder = ruzstd::decoding::StreamingDecoder::new(packed).expect("zstd");
    decoder.read_to_end(&mut bytes).expect("whole");
    tar::Archive::new(bytes.as_slice()).unpack(place.path()).expect("an archive");
    std::fs::remove_file(archive).expect("ours");
    place.path().join("bug")
}

/// Runs the script with nothing but the system's programs.
pub(crate) fn script(folder: &Path, shell: &[&str]) -> Output {
    let temporary = folder.join("tmp");
    std::fs::create_dir_all(&temporary).expect("writable");
    let mut command = Command::new(shell[0]);
    command.args(&shell[1..]).arg(folder.join("run.sh")).env_clear().env("PATH", "/usr/bin:/bin");
    let output = command.env("TMPDIR", &temporary).current_dir("/").output().expect("a shell");
    assert_eq!(std::fs::read_dir(&temporary).expect("readable").count(), 0, "nothing is left behind");
    output
}

/// The script of the last session's bundle, which must end as kiln did; all that it said.
pub(crate) fn says_the_same(place: &Place, done: &Done, case: &str) -> String {
    let run = done.document(case);
    let folder = unpacked(place, &format!("last/{case}"));
    let output = script(&folder, &["sh"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), done.code, "{text}{}", String::from_utf8_lossy(&output.stderr));
    let separator = if run.reason.is_empty() { "" } else { ": " };
    let verdict = format!("{:<6}  {case}{separator}{}", run.outcome.name(), run.reason);
    assert_eq!(text.lines().next(), Some(verdict.as_str()), "{text}");
    text
}

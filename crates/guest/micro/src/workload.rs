//! A program of the user instead of an operation: from its start to its end.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::process::CommandExt;
use std::process::{ExitStatus, Stdio};

use harness::check::{Checked, broken, fail, program_failed, skip};
use harness::execute::not_executed;
use harness::needs::missing;
use mark::Marker;
use protocol::Command;
use protocol::instrument::{BROKEN, SKIPPED};
use protocol::waiting::CASE_COMMAND;
use rustix::fs::{MemfdFlags, memfd_create};

use super::Meter;

/// So much of the end of a failed program's output goes into the report, in bytes.
const TAIL: u64 = 300;

/// Measures a program; it must end with 0 each time. Nobody sees what it prints, unless it is recorded: then the end of that says why it
/// failed.
pub(super) fn measure(command: &Command, meter: &mut Meter) -> Checked {
    let Some((program, arguments)) = command.argv.split_first() else { return fail("no program") };
    if let Some(text) = command.needs.iter().find_map(|need| missing(need.borrowed())) {
        return skip(&text);
    }
    let printed =
        meter.is_of_recording().then(|| memfd_create(c"output", MemfdFlags::CLOEXEC)).transpose()?;
    let printed = printed.map(File::from);
    let stream = || printed.as_ref().map_or(Ok(Stdio::null()), |file| file.try_clone().map(Stdio::from));
    let marker = meter.is_of_recording().then(Marker::open).flatten();
    // A recording without it is a recording.
    let mark = |text: String| drop(marker.as_ref().map(|marker| marker.mark(&text)));
    let is_case = program == CASE_COMMAND;
    let name = arguments.first().filter(|_| is_case).unwrap_or(program);
    let prepare = || {
        let mut started = std::process::Command::new(program);
        started.args(arguments).stdin(Stdio::null()).stdout(stream()?).stderr(stream()?);
        if marker.is_some() {
            // SAFETY: does nothing. With it std forks, and does not have posix_spawn(3) reset each signal by itself.
            unsafe { started.pre_exec(|| Ok(())) };
        }
        mark(format!("kiln: {name} begins"));
        Ok(started)
    };
    let run =
        |started: &mut std::process::Command| started.status().or_else(|error| not_executed(program, &error));
    meter.around(prepare, run, |_, status| {
        mark(format!("kiln: {name} ends: {status}"));
        let last_words = printed.as_ref().and_then(|file| tail(file).ok()).unwrap_or_default();
        judge(status, is_case, &last_words)
    })
}

/// What the end of a program says.
fn judge(status: ExitStatus, is_case: bool, last_words: &str) -> Checked {
    let because = |text: String| if last_words.is_empty() { text } else { format!("{text}: {last_words}") };
    match status.code() {
        Some(0) => Ok(()),
        Some(code) if code == i32::from(SKIPPED) => skip(&because("the program skips".to_owned())),
        Some(code) if is_case && code == i32::from(BROKEN) => {
            broken(&because("the case is broken".to_owned()))
        }
        _ => program_failed(&because(format!("the program ended with {status}"))),
    }
}

/// The end of what was printed, in one line.
fn tail(mut file: &File) -> io::Result<String> {
    let length = file.metadata()?.len();
    file.seek(io::SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use protocol::ReportKind;

    use super::*;

    #[test]
    fn a_program_ends_as_it_says() {
        let kind = |code: i32, is_case| {
            judge(ExitStatus::from_raw(code << 8), is_case, "so it is")
                .map_err(|stop| (stop.0.kind, stop.0.text))
        };
        assert_eq!(kind(0, false), Ok(()));
        assert_eq!(kind(4, false), Err((ReportKind::Skip, "the program skips: so it is".to_owned())));
        assert_eq!(kind(3, true), Err((ReportKind::Broken, "the case is broken: so it is".to_owned())));
        let failed = "the program ended with exit status: 3: so it is".to_owned();
        assert_eq!(kind(3, false), Err((ReportKind::Fail, failed)));
    }

    #[test]
    fn the_end_of_an_output_is_one_line() {
        let file = tempfile();
        std::io::Write::write_all(&mut &file, format!("{}\n a\t b\n", "x".repeat(1000)).as_bytes()).unwrap();
        let words = tail(&file).unwrap();
        assert!(words.ends_with("xx a b") && words.len() < 300, "{words}");
    }

    fn tempfile() -> File {
        File::from(memfd_create(c"output", MemfdFlags::CLOEXEC).unwrap())
    }
}

//! The program of an instrument: from its request to its exit status.

use std::ffi::{CString, OsStr};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use protocol::instrument::{BROKEN, DONE, FAULT, Line, SKIPPED, WRONG_REQUEST};
use protocol::{Report, ReportKind};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::page;

/// How an instrument ends.
#[derive(Debug)]
pub enum Ending<T> {
    /// It did what it was asked for, and this is what it concludes.
    Done(T, Report),
    /// It cannot do it: `skip` or `broken`; or `fail` if the kernel kept it from it.
    Stopped(Report),
    /// Its request is none, and why.
    WrongRequest(String),
}

/// Why an instrument does nothing: the machine or the user lacks something.
#[must_use]
pub fn skip(text: impl Into<String>) -> Report {
    Report { kind: ReportKind::Skip, text: text.into() }
}

/// Why an instrument does nothing: its own part failed.
#[must_use]
pub fn broken(text: impl Into<String>) -> Report {
    Report { kind: ReportKind::Broken, text: text.into() }
}

/// Takes what is known so far. An error says that nobody listens any more.
pub type Listener<'a, T> = &'a mut dyn FnMut(&T) -> io::Result<()>;

/// Carries out the request that the program's one argument is, and writes each report as a line. A results page, if there
/// is one, gets the conclusion.
pub fn run<Request: DeserializeOwned, T: Serialize>(
    carry_out: impl FnOnce(Request, Listener<'_, T>) -> Ending<T>,
) -> ExitCode {
    take_name();
    let mut arguments = std::env::args_os().skip(1);
    let argument = match (arguments.next(), arguments.next()) {
        (Some(argument), None) => argument,
        _ => Default::default(),
    };
    let ending = match read(&argument) {
        Ok(request) => carry_out(request, &mut |report| write(&Line::SoFar(report))),
        Err(why) => Ending::WrongRequest(why),
    };
    ExitCode::from(conclude(ending))
}

/// Writes a value in JSON on a line of its own.
///
/// # Errors
///
/// When standard output does not take it.
pub fn write(value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    let mut output = io::stdout().lock();
    output.write_all(&line)?;
    output.flush()
}

/// Executed from a descriptor, a program is known by the number of that: execveat(2).
fn take_name() {
    let path = std::env::args_os().next().unwrap_or_default();
    let name = Path::new(&path).file_name().and_then(|name| CString::new(name.as_encoded_bytes()).ok());
    // It is for people.
    let _ = name.map(|name| rustix::thread::set_name(&name));
}

fn read<Request: DeserializeOwned>(argument: &OsStr) -> Result<Request, String> {
    serde_json::from_slice(argument.as_encoded_bytes())
        .map_err(|error| format!("the one argument is no request in JSON: {error}"))
}

fn conclude<T: Serialize>(ending: Ending<T>) -> u8 {
    let (said, conclusion, is_wrong) = match ending {
        Ending::Done(report, conclusion) => (Line::Done(report), conclusion, false),
        Ending::Stopped(why) => (Line::Stopped(why.clone()), why, false),
        Ending::WrongRequest(text) => {
            let why = Report { kind: ReportKind::Broken, text };
            (Line::Stopped(why.clone()), why, true)
        }
    };
    // Only now, since cases that it ran have had pages of their own. On a host there is none.
    if page::adopt_from_environment().is_ok() {
        page::report(conclusion.kind, &conclusion.text);
    }
    match (write(&said), conclusion.kind) {
        (Err(_), _) => BROKEN,
        (Ok(()), _) if is_wrong => WRONG_REQUEST,
        (Ok(()), ReportKind::Pass) => DONE,
        (Ok(()), ReportKind::Fail) => FAULT,
        (Ok(()), ReportKind::Skip) => SKIPPED,
        (Ok(()), ReportKind::Broken) => BROKEN,
    }
}

#[cfg(test)]
mod tests {
    use protocol::instrument::SO_FAR;

    use super::*;

    #[test]
    fn what_is_known_so_far_can_be_told_from_the_rest() {
        let json = |line: Line<u8>| serde_json::to_string(&line).expect("plain data");
        assert!(json(Line::SoFar(1)).starts_with(SO_FAR));
        assert!(!json(Line::Done(1)).starts_with(SO_FAR));
    }
}

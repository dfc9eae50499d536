//! Judges the Run of a bundle: `judge CASE STATUS STOPPED` in a folder with `console.txt` and `control.txt`.
//!
//! CASE is the file that says what is true of the case, STATUS the exit status of QEMU, and STOPPED why the machine
//! was given up, or nothing. The exit code is the verdict's.

use std::io::Write;
use std::process::ExitCode;
use std::{env, fs, io};

use judge::Exit;
use judge::exit::{BROKEN, Speaker};
use judge::standalone::{About, Stop, Verdict, conclude};

/// It was called in another way.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let [case, status, stopped] = words.as_slice() else {
        let _ = writeln!(io::stderr(), "usage: judge CASE STATUS STOPPED");
        return ExitCode::from(USAGE);
    };
    let stop = Stop::read(status.parse().unwrap_or(-1), stopped);
    let verdict = match verdict(case, &stop) {
        Ok(verdict) => verdict,
        Err(error) => {
            let _ = writeln!(io::stderr(), "judge: {error}");
            return ExitCode::from(BROKEN);
        }
    };
    // Where nobody reads it the exit code is still right.
    let _ = io::stdout().write_all(verdict.text.as_bytes());
    let Exit { code, of } = verdict.exit();
    if of == Speaker::Program {
        let _ = writeln!(io::stderr(), "run.sh: exit status {code} is that of the program");
    }
    ExitCode::from(code)
}

fn verdict(case: &str, stop: &Stop) -> io::Result<Verdict> {
    let read = |path: &str| {
        let bytes = fs::read(path).map_err(|error| io::Error::other(format!("{path}: {error}")))?;
        Ok::<_, io::Error>(String::from_utf8_lossy(&bytes).into_owned())
    };
    Ok(conclude(&About::read(&read(case)?), stop, &read("console.txt")?, &read("control.txt")?))
}

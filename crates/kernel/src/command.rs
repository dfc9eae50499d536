//! Runs one program of the host with an end to the waiting.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::error::Error;

/// What a program left behind.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) success: bool,
    pub(crate) output: String,
    pub(crate) complaint: String,
}

/// More than apt prints about all kernels that there are.
const OUTPUT: u64 = 16 << 20;

/// Runs a program in a directory; `Err` if it could not be started or did not end.
pub(crate) fn run(
    program: &str,
    arguments: &[&str],
    directory: &Path,
    limit: Duration,
) -> Result<Finished, Error> {
    let failed = |error: &io::Error| Error::Command { action: program.to_owned(), reason: error.to_string() };
    // Files take any amount of output without a thread that reads.
    let mut output = tempfile::tempfile().map_err(|error| failed(&error))?;
    let mut complaint = tempfile::tempfile().map_err(|error| failed(&error))?;
    let handles = output.try_clone().and_then(|output| Ok((output, complaint.try_clone()?)));
    let (stdout, stderr) = handles.map_err(|error| failed(&error))?;
    let started = Command::new(program)
        .args(arguments)
        .current_dir(directory)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(stderr)
        .spawn();
    let child = match started {
        Ok(child) => child,
        Err(error) if error.kind() == io::ErrorKind::NotFound && directory.is_dir() => {
            return Err(Error::MissingProgram { program: program.to_owned() });
        }
        Err(error) => return Err(failed(&error)),
    };
    let success = wait(child, limit).map_err(|error| failed(&error))?;
    let text = |file: &mut File| text_of(file).map_err(|error| failed(&error));
    Ok(Finished { success, output: text(&mut output)?, complaint: text(&mut complaint)? })
}

fn wait(mut child: Child, limit: Duration) -> io::Result<bool> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Err(io::Error::other(format!("no end after {} seconds", limit.as_secs())));
        }
        sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

fn text_of(file: &mut File) -> io::Result<String> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.take(OUTPUT).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECONDS: Duration = Duration::from_secs(20);

    #[test]
    fn gives_both_outputs_and_the_success() {
        let here = Path::new("/");
        let done = run("sh", &["-c", "pwd; echo no $LC_ALL >&2; exit 3"], here, SECONDS).unwrap();
        assert_eq!((done.success, done.output.as_str(), done.complaint.as_str()), (false, "/\n", "no C\n"));
        assert!(run("true", &[], here, SECONDS).unwrap().success);
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = run("no-such-program-here", &[], Path::new("/"), SECONDS).unwrap_err();
        assert!(matches!(&error, Error::MissingProgram { program } if program == "no-such-program-here"));
        assert!(!error.is_usage());
    }

    #[test]
    fn waiting_ends() {
        let start = Instant::now();
        let error = run("sleep", &["60"], Path::new("/"), Duration::from_millis(100)).unwrap_err();
        assert!(error.to_string().contains("no end after"), "{error}");
        assert!(start.elapsed() < Duration::from_secs(30));
    }
}

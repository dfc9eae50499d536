//! Files of sysfs that get their contents back when this process ends, however it ends.
//!
//! A child keeps the contents, and waits until the pipe that it shares with this process has no writer any more. No
//! signal for this process concerns it: it has a session of its own.

use std::fs;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use harness::child::{exit, fork};
use rustix::io::retry_on_intr;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, WaitOptions, setsid, waitpid};

/// Puts the files back when it is dropped, or when this process dies.
#[derive(Debug)]
pub(crate) struct Restorer {
    /// The only writer of the pipe.
    pipe: Option<OwnedFd>,
    child: Pid,
}

impl Restorer {
    /// Keeps what the files hold now. This process must have one thread.
    ///
    /// # Errors
    ///
    /// When a file cannot be read, or there is no process to be had.
    pub(crate) fn keep(files: Vec<PathBuf>) -> io::Result<Self> {
        let kept = files
            .into_iter()
            .map(|file| fs::read(&file).map(|content| (file, content)))
            .collect::<io::Result<Vec<_>>>()?;
        // Programs that this process executes must not hold the pipe.
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        match fork()? {
            Some(child) => Ok(Self { pipe: Some(writer), child }),
            None => {
                drop(writer);
                exit(i32::from(!restore(reader, &kept)))
            }
        }
    }

    /// Puts the files back.
    ///
    /// # Errors
    ///
    /// When one of them was not taken.
    pub(crate) fn restore(mut self) -> io::Result<()> {
        if self.end() {
            Ok(())
        } else {
            Err(io::Error::other("the kernel did not take what was there before"))
        }
    }

    /// Has the child do its work, once; whether all went well.
    fn end(&mut self) -> bool {
        if self.pipe.take().is_none() {
            return true;
        }
        let ended = retry_on_intr(|| waitpid(Some(self.child), WaitOptions::empty()));
        matches!(ended, Ok(Some((_, status))) if status.exit_status() == Some(0))
    }
}

impl Drop for Restorer {
    fn drop(&mut self) {
        self.end();
    }
}

/// The life of the child: whether all files were taken.
fn restore(pipe: OwnedFd, kept: &[(PathBuf, Vec<u8>)]) -> bool {
    // It leads no group yet.
    let _ = setsid();
    // Nothing is ever written.
    let _ = fs::File::from(pipe).read(&mut [0]);
    kept.iter().fold(true, |all, (file, content)| fs::write(file, content).is_ok() && all)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use harness::child::{child, pause_forever};
    use rustix::process::Signal;

    use super::*;

    fn file(directory: &tempfile::TempDir) -> PathBuf {
        let file = directory.path().join("scaling_governor");
        fs::write(&file, "powersave\n").expect("there is room");
        file
    }

    #[test]
    fn what_was_there_comes_back() {
        let directory = tempfile::tempdir().expect("there is room");
        let file = file(&directory);
        let restorer = Restorer::keep(vec![file.clone()]).expect("there is a process");
        fs::write(&file, "performance").expect("it is ours");
        restorer.restore().expect("it is taken");
        assert_eq!(fs::read_to_string(&file).expect("it is there"), "powersave\n");
        let restorer = Restorer::keep(vec![file.clone()]).expect("there is a process");
        fs::remove_dir_all(directory.path()).expect("it is ours");
        restorer.restore().expect_err("the file is not there any more");
    }

    #[test]
    fn it_comes_back_also_when_the_process_is_killed() {
        let directory = tempfile::tempdir().expect("there is room");
        let file = file(&directory);
        let changes = child(|| {
            let restorer = Restorer::keep(vec![file.clone()]);
            let _ = fs::write(&file, if restorer.is_ok() { "performance" } else { "nothing keeps it" });
            pause_forever()
        })
        .expect("there is a process");
        let wait_for = |content: &str| {
            let end = Instant::now() + Duration::from_secs(60);
            while fs::read_to_string(&file).expect("it is there") != content {
                assert!(Instant::now() < end, "{content}");
                std::thread::sleep(Duration::from_millis(5));
            }
        };
        wait_for("performance");
        changes.kill(Signal::KILL).expect("it runs");
        wait_for("powersave\n");
    }
}

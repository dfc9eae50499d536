//! Programs: compiled, started, waited for.

use std::path::PathBuf;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::Duration;

/// Compiles one of `programs/` into a folder.
pub(crate) fn compile(folder: &tempfile::TempDir, name: &str) -> PathBuf {
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/programs/{name}.c"));
    let program = folder.path().join(name);
    let compiler =
        Command::new("cc").args(["-g", "-O1", "-pthread", "-o"]).arg(&program).arg(source).status();
    assert!(compiler.expect("a compiler").success());
    program
}

/// A program that is killed at the end, with what it started.
pub(crate) struct Running(pub(crate) Child);

impl Running {
    /// Starts a program in a process group of its own.
    pub(crate) fn start(command: &mut Command) -> Self {
        Self(std::os::unix::process::CommandExt::process_group(command, 0).spawn().expect("it starts"))
    }

    /// Its process.
    pub(crate) fn number(&self) -> i32 {
        i32::try_from(self.0.id()).expect("a number")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // SAFETY: a number and a signal.
        unsafe { libc::kill(-self.number(), libc::SIGKILL) };
        let _ = self.0.wait();
    }
}

/// Waits until something is found: a program needs some time to get there.
pub(crate) fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    for _ in 0..600 {
        if let Some(found) = look() {
            return found;
        }
        sleep(Duration::from_millis(100));
    }
    panic!("it never came");
}

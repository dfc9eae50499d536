//! Programs: execve(2), posix_spawn(3).

use std::ffi::{CStr, CString};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use harness::check::{Checked, broken, equal, fails, holds};
use harness::child::{child, exec};
use harness::page;
use protocol::results::{DESCRIPTOR_VARIABLE, PAGE_SIZE, PATH_VARIABLE};
use rustix::fd::AsRawFd;
use rustix::fs::{MemfdFlags, Mode, OFlags, ftruncate, memfd_create, open};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::stdio::dup2_stderr;

use crate::case::Case;

pub(super) const CASES: &[Case] = &[
    Case::new("exec/arguments", "execve(2) hands arguments and environment to the new program", arguments),
    Case::new(
        "exec/close-on-exec",
        "execve(2) closes the descriptors with FD_CLOEXEC and no others",
        close_on_exec,
    ),
    Case::new("exec/refusals", "execve(2) gives ENOENT, EACCES, ENOEXEC and E2BIG as promised", refusals),
    Case::new("exec/spawn", "posix_spawn(3) runs a program, or says why it could not", spawn),
];

/// The one program in the machine.
const AGENT: &CStr = c"/proc/self/exe";

/// Exit status of `kiln-report` when it does not understand its arguments or finds no page.
const WRONG_USAGE: Option<i32> = Some(2);

/// Exit status of `kiln-report` with these arguments and this environment.
fn report_status(arguments: &[&CStr], environment: &[&CStr]) -> Checked<Option<i32>> {
    let reporter = child(|| {
        // What it says about wrong usage is wanted and nobody's concern.
        dup2_stderr(open("/dev/null", OFlags::WRONLY, Mode::empty())?)?;
        exec(AGENT, &[&[c"kiln-report"], arguments].concat(), environment)?;
        Ok(())
    })?;
    Ok(reporter.wait()?.exit_status())
}

fn arguments() -> Checked {
    let Ok(path) = std::env::var(PATH_VARIABLE) else {
        return broken("the environment names no results page");
    };
    let environment = CString::new(format!("{PATH_VARIABLE}={path}")).unwrap_or_default();
    let report = [c"pass", c"after execve(2)"];
    equal("exit status with arguments and environment", report_status(&report, &[&environment])?, Some(0))?;
    equal("exit status without environment", report_status(&report, &[])?, WRONG_USAGE)?;
    equal("exit status without arguments", report_status(&[], &[&environment])?, WRONG_USAGE)
}

fn close_on_exec() -> Checked {
    let file = memfd_create("results", MemfdFlags::empty())?;
    ftruncate(&file, PAGE_SIZE as u64)?;
    let page = page::map(&file)?;
    page.prepare();
    let environment = CString::new(format!("{DESCRIPTOR_VARIABLE}={}", file.as_raw_fd())).unwrap_or_default();
    for (flags, status) in [(FdFlags::empty(), Some(0)), (FdFlags::CLOEXEC, WRONG_USAGE)] {
        fcntl_setfd(&file, flags)?;
        equal("exit status", report_status(&[c"pass"], &[&environment])?, status)?;
        equal("reports that came through the descriptor", page.counts().pass, 1)?;
    }
    Ok(())
}

fn refusals() -> Checked {
    let program = |name: &str, mode: u32, content: &[u8]| {
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true).mode(mode).open(name)?.write_all(content)
    };
    program("plain", 0o644, b"#!/proc/self/exe\n")?;
    program("garbage", 0o755, b"\0no program\n")?;
    program("script", 0o755, b"#!/missing/interpreter\n")?;
    let huge = CString::new(vec![b'x'; 8 << 20]).unwrap_or_default();
    let attempts: [(&CStr, &CStr, Errno); 7] = [
        (c"missing", c"", Errno::NOENT),
        (c"script", c"", Errno::NOENT),
        (c"plain/below", c"", Errno::NOTDIR),
        (c"plain", c"", Errno::ACCESS),
        (c".", c"", Errno::ACCESS),
        (c"garbage", c"", Errno::NOEXEC),
        (AGENT, &huge, Errno::TOOBIG),
    ];
    for (path, argument, error) in attempts {
        fails(&format!("execve(2) of {path:?}"), exec(path, &[path, argument], &[]), error)?;
    }
    Ok(())
}

fn spawn() -> Checked {
    let status =
        Command::new("/proc/self/exe").arg0("kiln-report").args(["pass", "after posix_spawn(3)"]).status()?;
    equal("exit status", status.code(), Some(0))?;
    let output =
        Command::new("/proc/self/exe").arg0("kiln-report").arg("nonsense").stdin(Stdio::null()).output()?;
    equal("exit status with a wrong argument", output.status.code(), WRONG_USAGE)?;
    holds("its standard error came through the pipe", !output.stderr.is_empty())?;
    fails("spawning a missing program", Command::new("./missing").spawn(), Errno::NOENT)
}

//! A program that makes processes of its own: none of them outlives it, and it does not outlive kiln.
//!
//! The program runs in a PID namespace, whose process 1 waits for it and reaps what others leave; with
//! the end of process 1 all in the namespace end: pid_namespaces(7). The program is not process 1
//! itself, since that cannot die by a signal of its own. Between kiln and process 1 stands a process that
//! ends as the program did. The kernel kills the one with kiln and the other with the first:
//! PR_SET_PDEATHSIG(2const).

use std::io;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::Signal;
use rustix::thread::UnshareFlags;

/// Makes `command` start its program in a PID namespace of its own.
///
/// Killing the child, or the death of the thread that spawned it, ends the program and all that it
/// started. It leads a process group, so that a terminal's Ctrl-C is not for it. The child exits with the
/// program's status, or dies by the same signal. Where this user may not make namespaces the program is
/// started without, and only itself dies with kiln.
pub fn contain(command: &mut Command) {
    let parent = std::process::id();
    let user = IdMaps::of_this_user();
    command.process_group(0);
    // SAFETY: between fork and exec only system calls are made and nothing is allocated.
    unsafe {
        command.pre_exec(move || {
            end_with_parent(parent, Signal::KILL)?;
            heed_interrupts();
            if enter_namespaces(&user).is_err() {
                return Ok(());
            }
            go_below_process_1()
        })
    };
}

/// Makes `command` start its program in a process group of its own, which gets this signal when the thread dies that spawned it.
/// A terminal's Ctrl-C is not for it, and what it starts is its own business.
pub fn end_with_thread(command: &mut Command, signal: Signal) {
    let parent = std::process::id();
    command.process_group(0);
    // SAFETY: between fork and exec only system calls are made and nothing is allocated.
    unsafe {
        command.pre_exec(move || {
            end_with_parent(parent, signal)?;
            heed_interrupts();
            Ok(())
        })
    };
}

/// A shell starts what runs in the background with interrupts ignored: kiln's programs would not stop when they are asked to.
pub(crate) fn heed_interrupts() {
    // SAFETY: a plain system call.
    unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
}

/// Orders the kernel to send this process a signal when the thread that made it dies; `parent` is its process.
///
/// # Errors
///
/// When the parent has died already.
pub fn end_with_parent(parent: u32, signal: Signal) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(signal))?;
    // The parent may have died before the order took effect.
    let now = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get().unsigned_abs());
    if now == parent { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
}

/// What goes into `uid_map` and `gid_map`: this user and nobody else.
struct IdMaps {
    is_root: bool,
    uid: String,
    gid: String,
}

impl IdMaps {
    fn of_this_user() -> Self {
        let line = |id: u32| format!("{id} {id} 1");
        Self {
            is_root: rustix::process::geteuid().is_root(),
            uid: line(rustix::process::geteuid().as_raw()),
            gid: line(rustix::process::getegid().as_raw()),
        }
    }
}

fn enter_namespaces(user: &IdMaps) -> Result<(), Errno> {
    // SAFETY: the process has one thread, and shares nothing that these flags take apart.
    let unshare = |flags| unsafe { rustix::thread::unshare_unsafe(flags) };
    if user.is_root && unshare(UnshareFlags::NEWPID).is_ok() {
        return Ok(());
    }
    unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWPID)?;
    // Without these lines the program would belong to nobody, and could still do all that it must.
    let _ = write(c"/proc/self/setgroups", b"deny");
    let _ = write(c"/proc/self/uid_map", user.uid.as_bytes());
    let _ = write(c"/proc/self/gid_map", user.gid.as_bytes());
    Ok(())
}

fn write(path: &std::ffi::CStr, content: &[u8]) -> Result<(), Errno> {
    let file = rustix::fs::open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, content).map(drop)
}

/// Makes process 1 of the new namespace and returns in its child; the caller stays behind and ends as
/// that does.
fn go_below_process_1() -> io::Result<()> {
    let (above, below) = UnixStream::pair()?;
    if let Some(process_1) = fork()? {
        drop(below);
        close_all_but(&above);
        wait_and_follow(process_1, above);
    }
    drop(above);
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    is_connected(&below)?;
    if let Some(program) = fork()? {
        close_all_but(&below);
        reap_until(program, below);
    }
    Ok(())
}

/// The id of the child, or nothing in the child.
fn fork() -> io::Result<Option<i32>> {
    // SAFETY: this process has one thread, so the child may go on as it likes.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(None),
        child => Ok(Some(child)),
    }
}

/// Whoever holds the other end may have died before the order took effect.
fn is_connected(socket: &UnixStream) -> io::Result<()> {
    let mut wait = [PollFd::new(socket, PollFlags::IN)];
    let closed = rustix::event::poll(&mut wait, Some(&Timespec::default()))? > 0;
    if closed { Err(io::ErrorKind::NotFound.into()) } else { Ok(()) }
}

/// What the program was given must close with it and not with a process that waits for it.
fn close_all_but(kept: &UnixStream) {
    let kept = kept.as_raw_fd().unsigned_abs();
    // SAFETY: nothing in this process uses the descriptors any more.
    unsafe {
        libc::close_range(3, kept - 1, 0);
        libc::close_range(kept + 1, u32::MAX, 0);
    }
}

/// The life of process 1: takes in every child, and tells how the program ended.
fn reap_until(program: i32, mut above: UnixStream) -> ! {
    loop {
        let (child, status) = wait(-1);
        // An error cannot come before the program has ended.
        if child == program || child < 0 {
            let _ = above.write_all(&status.to_ne_bytes());
            exit(0);
        }
    }
}

/// Waits for the program and ends as it did.
fn wait_and_follow(process_1: i32, mut below: UnixStream) -> ! {
    // SAFETY: plain system calls. An interrupt is for the program to follow.
    unsafe {
        libc::signal(libc::SIGINT, libc::SIG_IGN);
        libc::signal(libc::SIGTERM, libc::SIG_IGN);
    }
    let mut bytes = [0; 4];
    let known = below.read_exact(&mut bytes).is_ok();
    // With process 1 everything in the namespace has ended.
    let (_, status) = wait(process_1);
    let status = if known { i32::from_ne_bytes(bytes) } else { status };
    if libc::WIFSIGNALED(status) {
        die_by(libc::WTERMSIG(status));
    }
    exit(libc::WEXITSTATUS(status))
}

/// Waits for a child, or for any if `child` is -1; gives its id and its wait status.
fn wait(child: i32) -> (i32, i32) {
    let mut status = 0;
    loop {
        // SAFETY: plain system calls on a local.
        let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
        if ended >= 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return (ended, status);
        }
    }
}

fn die_by(signal: i32) {
    let no_core = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: plain system calls.
    unsafe {
        libc::setrlimit(libc::RLIMIT_CORE, &raw const no_core);
        libc::signal(signal, libc::SIG_DFL);
        libc::kill(libc::getpid(), signal);
    }
}

fn exit(code: i32) -> ! {
    // SAFETY: it only ends this process, without the clean-up that belongs to kiln.
    unsafe { libc::_exit(code) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdout(Stdio::piped());
        contain(&mut command);
        command
    }

    #[test]
    fn the_status_is_that_of_the_program() {
        assert_eq!(shell("exit 7").status().unwrap().code(), Some(7));
        for signal in [9, 6] {
            let status = shell(&format!("kill -{signal} $$; exit 3")).status().unwrap();
            assert_eq!(status.signal(), Some(signal), "it is not process 1, which would be immune");
        }
        assert_eq!(shell("sh -c 'exec sleep 0'; exit 0").status().unwrap().code(), Some(0));
        let mut missing = Command::new("/no/such/program");
        contain(&mut missing);
        assert_eq!(missing.spawn().unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn what_it_started_ends_with_it() {
        let mut child = shell("sleep 1000 & setsid sleep 1000 & echo started; wait").spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert_eq!(line, "started\n");
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(9));
        // Both sleeps hold the pipe: it ends when they are gone.
        let mut rest = String::new();
        output.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
    }

    #[test]
    fn orphans_are_reaped_while_it_runs() {
        let script = "(sleep 0 & echo $! > $F); while kill -0 $(cat $F); do :; done 2> /dev/null; echo gone";
        let file = std::env::temp_dir().join(format!("kiln-orphan-{}", std::process::id()));
        let output = shell(script).env("F", &file).output().unwrap();
        std::fs::remove_file(file).unwrap();
        assert_eq!(output.stdout, b"gone\n");
    }

    #[test]
    fn it_ends_with_the_thread_that_started_it() {
        let thread = std::thread::spawn(|| shell("sleep 1000 & echo started; wait").spawn().unwrap());
        let mut child = thread.join().unwrap();
        let mut output = String::new();
        child.stdout.take().unwrap().read_to_string(&mut output).unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(9));
    }
}

//! A person before a terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

use super::{KERNEL, Place, cache, processes, until};

/// A terminal with kiln on it.
pub(crate) struct Terminal {
    master: File,
    /// kept open, so that its settings can be looked at after the end.
    slave: OwnedFd,
    child: Child,
    shown: Arc<Mutex<Vec<u8>>>,
    seen: usize,
    mark: String,
}

impl Terminal {
    /// `kiln shell` on a terminal of this size.
    pub(crate) fn with_shell(place: &Place, rows: u16, columns: u16) -> Self {
        Self::with_kiln(place, &["shell", KERNEL], rows, columns)
    }

    /// kiln with these arguments on a terminal of this size.
    pub(crate) fn with_kiln(place: &Place, arguments: &[&str], rows: u16, columns: u16) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("the host has terminals");
        grantpt(&master).expect("ours");
        unlockpt(&master).expect("ours");
        let name = ptsname(&master, Vec::new()).expect("it has a name");
        let slave = rustix::fs::open(&*name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).expect("ours");
        tcsetwinsize(&slave, size(rows, columns)).expect("a terminal");
        let stream = || Stdio::from(slave.try_clone().expect("a descriptor is left"));
        let mark = place.path().display().to_string();
        // Only the terminal of a session tells its processes about a new size.
        let child = Command::new("setsid")
            .args(["--ctty", env!("CARGO_BIN_EXE_kiln")])
            .args(arguments)
            .env("XDG_STATE_HOME", place.path().join("state"))
            .env("XDG_CACHE_HOME", cache())
            .env("TERM", "vt100")
            .env(processes::MARK, &mark)
            .stdin(stream())
            .stdout(stream())
            .stderr(stream())
            .spawn()
            .expect("util-linux is there");
        let master = File::from(master);
        let shown = Arc::new(Mutex::new(Vec::new()));
        read_all(master.try_clone().expect("a descriptor is left"), Arc::clone(&shown));
        Self { master, slave, child, shown, seen: 0, mark }
    }

    pub(crate) fn types(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).expect("the terminal takes keys");
    }

    /// Waits until this text appears after what was waited for before.
    pub(crate) fn shows(&mut self, text: &str) {
        let (shown, seen) = (Arc::clone(&self.shown), self.seen);
        let find = |all: &[u8]| all[seen..].windows(text.len()).position(|window| window == text.as_bytes());
        let what = format!("{text:?} on the terminal");
        let at = until(&what, || find(&shown.lock().expect("the reader lives")));
        self.seen += at + text.len();
    }

    pub(crate) fn resize(&self, rows: u16, columns: u16) {
        tcsetwinsize(&self.master, size(rows, columns)).expect("a terminal");
    }

    pub(crate) fn settings(&self) -> Termios {
        tcgetattr(&self.slave).expect("a terminal")
    }

    /// Waits for the end of kiln and of all that it started; gives the exit code.
    pub(crate) fn end(&mut self) -> Option<i32> {
        let status = until("kiln ends", || self.child.try_wait().expect("our child"));
        until("all processes are gone", || processes::marked(&self.mark).is_empty().then_some(()));
        status.code()
    }
}

fn size(rows: u16, columns: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

/// Collects what is shown until the terminal is closed.
fn read_all(mut master: File, shown: Arc<Mutex<Vec<u8>>>) {
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = master.read(&mut buffer) {
            shown.lock().expect("the test lives").extend(&buffer[..count]);
        }
    });
}

//! A person before a terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use console::printk::{self, Line};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

use super::{DEADLINE, KERNEL, Place, cache, processes, until, until_within};

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
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
            .expect("the host has terminals");
        grantpt(&master).expect("ours");
        unlockpt(&master).expect("ours");
        let name = ptsname(&master, Vec::new()).expect("it has a name");
        let slave = rustix::fs::open(&*name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())
            .expect("ours");
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
        let find = || self.all()[self.seen..].find(text);
        let at = until_within(DEADLINE, find);
        let at =
            at.unwrap_or_else(|| panic!("{text:?} is not on the terminal, which shows:\n{}", self.all()));
        self.seen += at + text.len();
    }

    /// Waits until the screen shows this text, wherever, and gives all that it shows.
    pub(crate) fn displays(&self, text: &str) -> String {
        let screen = || super::screen::shown(&self.shown.lock().expect("the reader lives"));
        let found = until_within(DEADLINE, || Some(screen()).filter(|screen| screen.contains(text)));
        found.unwrap_or_else(|| panic!("{text:?} is not on the screen, which shows:\n{}", screen()))
    }

    /// Waits for these sequences, one after the other. Nothing is taken out: what a screen shows of a log may look as if the
    /// kernel wrote between.
    pub(crate) fn gets(&self, sequences: &[&str]) {
        let are_there = || {
            let shown = self.shown.lock().expect("the reader lives");
            let shown = String::from_utf8_lossy(&shown);
            let mut rest = shown.as_ref();
            sequences.iter().try_for_each(|sequence| {
                rest = rest.split_once(sequence)?.1;
                Some(())
            })
        };
        until(&format!("{sequences:?}"), are_there);
    }

    /// The process of kiln.
    pub(crate) fn id(&self) -> u32 {
        // setsid(1) becomes kiln: it leads no group that would keep it from a session of its own.
        self.child.id()
    }

    /// Waits for the end of kiln alone; gives the exit code.
    pub(crate) fn end_of_kiln(&mut self) -> Option<i32> {
        until("kiln ends", || self.child.try_wait().expect("our child")).code()
    }

    /// All but what the kernel writes between, even in the middle of a word.
    fn all(&self) -> String {
        let shown = String::from_utf8_lossy(&self.shown.lock().expect("the reader lives")).into_owned();
        let mut all = String::new();
        let mut rest = shown.as_str();
        while let Some(at) = rest.find('[') {
            let (before, bracket) = rest.split_at(at);
            all += before;
            rest = kernel_line(bracket).unwrap_or_else(|| {
                all.push('[');
                &bracket[1..]
            });
        }
        all + rest
    }

    pub(crate) fn resize(&self, rows: u16, columns: u16) {
        tcsetwinsize(&self.master, size(rows, columns)).expect("a terminal");
    }

    /// By which everything that kiln starts is known.
    pub(crate) fn mark(&self) -> &str {
        &self.mark
    }

    pub(crate) fn settings(&self) -> Termios {
        tcgetattr(&self.slave).expect("a terminal")
    }

    /// Waits for the end of kiln and of all that it started; gives the exit code.
    pub(crate) fn end(&mut self) -> Option<i32> {
        let code = self.end_of_kiln();
        until("all processes are gone", || processes::marked(&self.mark).is_empty().then_some(()));
        code
    }
}

fn size(rows: u16, columns: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

/// What follows a line of the kernel with which this begins: `[    2.197419] tsc: Refined`.
fn kernel_line(text: &str) -> Option<&str> {
    let Line { text, .. } = Some(printk::read(text)).filter(|line| line.time.is_some())?;
    // That of kiln's progress has no line feed.
    Some(text.split_once('\r').map_or("", |(_, next)| next.strip_prefix('\n').unwrap_or(next)))
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

#[test]
fn a_line_of_the_kernel_is_found_behind_its_bracket() {
    for (text, next) in [
        ("    2.197419] tsc: Refined TSC\r\nwo\r\n", Some("wo\r\n")),
        ("   12.000001] booting\r\x1b[K", Some("\x1b[K")),
        ("    2.197419] half a li", Some("")),
        ("    2.1974", None),
        ("6nkiln-case; exit 1] 2.5]", None),
        (" $1 = 2.5 ]; then", None),
    ] {
        assert_eq!(kernel_line(&format!("[{text}")), next, "{text:?}");
    }
}

//! kiln ends while it makes a root: nothing of it is left, and the next call makes the root and uses it.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::Signal;

use crate::support::held::{as_it_is, await_held, with_programs};
use crate::support::root::with_busybox;
use crate::support::stopping::{SIGNALS, await_program, half, stop, with_own_temporary};
use crate::support::{BUILD, Call, Place, Running, UML, text, until};

/// Unpacks a root directory with one package, in no time.
fn mmdebstrap(root: &Path) -> (&'static str, String) {
    let package = "Package: busybox\\nStatus: install ok installed\\nArchitecture: all\\nVersion: 1\\n";
    let body = format!(
        "while [ $# -gt 2 ]; do shift; done
        mkdir -p $1/var/lib/dpkg/info && printf '{package}' > $1/var/lib/dpkg/status && cp -a {}/. $1",
        root.display()
    );
    ("mmdebstrap", body)
}

/// A call that makes a root, in a cache of its own.
struct Making {
    place: Place,
    cache: PathBuf,
    root: String,
}

impl Making {
    /// Of this root, or of a directory.
    fn new(root: Option<&str>) -> Self {
        let place = Place::new();
        let (cache, directory) = (place.templates(), with_busybox(&place));
        Self { root: root.unwrap_or(text(&directory)).to_owned(), place, cache }
    }

    /// Whose program of that name waits.
    fn call(&self, held: &str) -> Call {
        let job = self.place.script("job", "busybox test -e /usr/bin/busybox");
        let call = self.place.exec_on(UML, &job, &["--root", &self.root]).env("XDG_CACHE_HOME", &self.cache);
        let mut programs = ["apt-get", "apt-config", "dpkg-query", "mkfs.erofs"].map(as_it_is).to_vec();
        programs.push(mmdebstrap(&self.place.path().join("root")));
        with_own_temporary(&self.place, with_programs(&self.place, call, &programs, held))
    }

    /// Stops it as soon as `is_time` comes, and makes the call again.
    fn survives(&self, held: &str, is_time: impl Fn(&Running), signal: Signal) {
        let running = self.call(held).start();
        is_time(&running);
        stop(&self.place, running, signal);
        self.call("").run_within(BUILD).expect(0);
        let roots = self.cache.join("kiln/roots");
        assert_eq!(half(&roots), [""; 0].map(PathBuf::from));
        let made = fs::read_dir(roots).expect("it was made").flatten();
        assert_eq!(made.filter(|entry| entry.file_name() != ".lock").count(), 1);
    }
}

#[test]
fn in_each_program_that_makes_a_root() {
    for held in ["apt-get", "apt-config", "mmdebstrap", "dpkg-query", "mkfs.erofs"] {
        for signal in SIGNALS {
            Making::new(Some("debian")).survives(held, await_held, signal);
        }
    }
}

#[test]
fn while_a_directory_is_packed() {
    for signal in SIGNALS {
        Making::new(None).survives("mkfs.erofs", await_held, signal);
    }
}

/// Its record is the last thing that is written.
#[test]
fn while_a_root_is_put_in_place() {
    for signal in SIGNALS {
        let making = Making::new(None);
        let roots = making.cache.join("kiln/roots");
        let is_recorded = |folder: &Path| {
            fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| {
                let path = entry.path();
                path.join("root.json").exists() || path.join("entry/root.json").exists()
            })
        };
        making.survives("", |_| until("it is recorded", || is_recorded(&roots).then_some(())), signal);
    }
}

/// As the host has it.
#[test]
fn while_packages_are_unpacked() {
    for signal in SIGNALS {
        let place = Place::new();
        let job = place.script("job", "exit 0");
        let call = place.exec_on(UML, &job, &["--root", "debian"]).env("XDG_CACHE_HOME", place.templates());
        let running = with_own_temporary(&place, call).start();
        await_program(&running, "mmdebstrap");
        stop(&place, running, signal);
    }
}

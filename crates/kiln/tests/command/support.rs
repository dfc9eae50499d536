//! The built command as a user calls it, and what it leaves behind.
//!
//! * [`guest`]: programs that are run inside; [`bundle`]: bundles that are run elsewhere
//! * [`cluster`]: a cluster of Slurm's
//! * [`planted`]: kernel modules that do harm; [`module`]: modules that are built
//! * [`image`]: images that are no kernels
//! * [`processes`]: who is still there; [`load`]: a host that has much else to do
//! * [`stopping`]: calls that are ended in the middle; [`held`]: programs of the host that wait there
//! * [`python`]: programs of PyPI
//! * [`small_room`]: a disk that is soon full
//! * [`source`]: trees that only look like a kernel; [`root`]: user spaces
//! * [`terminal`]: a person before a terminal; [`screen`]: what it shows
//! * [`serving`]: `kiln serve` at work; [`written`]: sessions that are written down
//! * [`web`]: a server that gives prepared answers

pub(crate) mod bundle;
pub(crate) mod cluster;
pub(crate) mod guest;
pub(crate) mod held;
pub(crate) mod image;
pub(crate) mod load;
pub(crate) mod module;
pub(crate) mod planted;
pub(crate) mod processes;
pub(crate) mod python;
pub(crate) mod root;
pub(crate) mod screen;
pub(crate) mod serving;
pub(crate) mod small_room;
pub(crate) mod source;
pub(crate) mod stopping;
pub(crate) mod terminal;
pub(crate) mod web;
pub(crate) mod written;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use judge::Run;
use lab::Event;
use serde_json::Value;
use tempfile::TempDir;

/// The kernel of all tests: stock, small, everything modular.
pub(crate) const KERNEL: &str = "deb:6.1.0-56-cloud-amd64";

/// A stock kernel with drivers for more than clouds have, and 9p.
pub(crate) const COMPLETE: &str = "deb:6.1.0-56-amd64";

/// A stock kernel of a newer series, for what takes long: it is another package to fetch.
pub(crate) const NEWER: &str = "deb:6.12.117+deb12-cloud-amd64";

/// The kernel that is a program: Debian's package `user-mode-linux`.
pub(crate) const UML: &str = "/usr/bin/linux.uml";

/// The oldest source that Debian still maintains, and the smaller one.
pub(crate) const SOURCE: &str = "deb-source:6.1";

/// In a script: the agent has the CPU to itself and takes what was written, which would go down with the kernel.
pub(crate) const TURN: &str = "sleep 1";

/// A build, or a comparison of everything, on a host that does much else.
pub(crate) const BUILD: Duration = Duration::from_secs(60 * 60);

/// Nothing takes this long unless it is broken, however slow CPUs and disks are.
const DEADLINE: Duration = Duration::from_secs(15 * 60);

/// A folder of its own for a test, kept when the test fails.
#[derive(Debug)]
pub(crate) struct Place {
    directory: TempDir,
}

/// A call of kiln that has not been made yet.
#[derive(Debug)]
pub(crate) struct Call {
    command: Command,
    mark: String,
    state: PathBuf,
    output: PathBuf,
}

/// A kiln at work.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    mark: String,
    state: PathBuf,
    output: PathBuf,
}

/// A kiln that has ended.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    state: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        let directory = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("cargo makes the folder");
        Self { directory }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// A file with this content.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, content).expect("the folder is writable");
        path
    }

    /// A cache with the packages of all tests, and with templates of its own.
    pub(crate) fn templates(&self) -> PathBuf {
        let (shared, own) = (cache().join("kiln"), self.path().join("cache"));
        std::fs::create_dir_all(own.join("kiln/templates")).expect("the folder is writable");
        // They are fetched first, or there would be nothing to share.
        kernel();
        for name in ["deb", "index", "kvm"] {
            let link = std::os::unix::fs::symlink(shared.join(name), own.join("kiln").join(name));
            assert!(link.is_ok() || own.join("kiln").join(name).is_symlink(), "{link:?}");
        }
        own
    }

    /// A folder of scripts, each a case by this name.
    pub(crate) fn suite(&self, cases: &[(&str, &str)]) -> String {
        let folder = self.path().join("suite");
        std::fs::create_dir_all(&folder).expect("the folder is writable");
        for (name, body) in cases {
            std::fs::rename(self.script(name, body), folder.join(name)).expect("the same disk");
        }
        folder.display().to_string()
    }

    /// kiln with these arguments. What it knows of other tests is only the cache of packages.
    pub(crate) fn kiln<S: AsRef<std::ffi::OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Call {
        let (state, mark) = (self.path().join("state"), self.path().display().to_string());
        let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
        command
            .args(arguments)
            .env("XDG_STATE_HOME", &state)
            .env("XDG_CACHE_HOME", cache())
            .env(processes::MARK, &mark)
            .env_remove("KILN_TIMEOUT_MUL")
            .stdin(Stdio::null());
        Call { command, mark, state, output: self.path().to_path_buf() }
    }

    /// The locator that a build of [`SOURCE`] prints, and nothing else.
    pub(crate) fn built(&self, more: &[&str]) -> String {
        self.kiln(["build", SOURCE].into_iter().chain(more.iter().copied())).builds()
    }

    /// `kiln run KERNEL --exec program --no-retry` with more arguments.
    pub(crate) fn exec(&self, program: &Path, more: &[&str]) -> Call {
        self.exec_on(KERNEL, program, more)
    }

    /// `kiln run kernel --exec program --no-retry` with more arguments: how a program ends shows the first time.
    pub(crate) fn exec_on(&self, kernel: &str, program: &Path, more: &[&str]) -> Call {
        let program = text(program);
        let first = ["run", kernel, "--no-retry", "--exec", program];
        self.kiln(first.into_iter().chain(more.iter().copied()))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.directory.disable_cleanup(std::thread::panicking());
    }
}

/// A path as an argument.
pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("paths of tests are UTF-8")
}

/// The packages, shared by all tests and kept from run to run; with them templates of the last few machines, so
/// that a test whose machine is another's, too, finds it booted. See [`Place::templates`] for those that look at it.
pub(crate) fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")
}

/// What kiln makes of [`KERNEL`], read by its own library from the same cache.
pub(crate) fn kernel() -> kernel::Kernel {
    kernel_of(KERNEL)
}

/// What it makes of another.
pub(crate) fn kernel_of(locator: &str) -> kernel::Kernel {
    let locator = locator.parse().expect("a locator");
    with_store(|context| kernel::resolve(&locator, context)).expect("apt has the package")
}

/// What kiln's own library does in the cache of all tests.
pub(crate) fn with_store<T>(work: impl FnOnce(&mut kernel::Context<'_>) -> T) -> T {
    let store = kernel::Store::new(cache().join("kiln"));
    let never = std::sync::atomic::AtomicBool::new(false);
    work(&mut kernel::Context { store: &store, listener: &mut |_| {}, interrupt: &never })
}

impl Call {
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// The same from this directory.
    pub(crate) fn from(mut self, directory: &str) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// Silence that counts as a hang comes soon; a boot has all the time it wants.
    pub(crate) fn impatient(mut self) -> Self {
        self.command.args(["--timeout", "120s"]);
        self.env("KILN_TIMEOUT_MUL", "0.2")
    }

    /// The same call by another program, whose last arguments it is.
    pub(crate) fn through(self, program: &[&str]) -> Self {
        let mut command = Command::new(program[0]);
        command.args(&program[1..]).arg(self.command.get_program()).args(self.command.get_args());
        for (name, value) in self.command.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.stdin(Stdio::null());
        Self { command, ..self }
    }

    /// The same call with this file as standard input.
    pub(crate) fn with_input(mut self, path: &Path) -> Self {
        self.command.stdin(std::fs::File::open(path).expect("it is readable"));
        self
    }

    pub(crate) fn start(mut self) -> Running {
        // Files take any amount of output without a thread that reads.
        let file = |name: &str| std::fs::File::create(self.output.join(name)).expect("writable");
        let (stdout, stderr) = (file("stdout"), file("stderr"));
        let child = self.command.stdout(stdout).stderr(stderr).spawn().expect("kiln was built");
        Running { child, mark: self.mark, state: self.state, output: self.output }
    }

    pub(crate) fn run(self) -> Done {
        self.start().wait()
    }

    /// The locator that a build prints, and nothing else.
    pub(crate) fn builds(self) -> String {
        let done = self.run_within(BUILD).expect(0);
        let locator = done.stdout.trim().to_owned();
        assert!(locator.starts_with("built:") && !locator.contains('\n'), "{locator}");
        locator
    }

    /// Something that may take long, such as a build.
    pub(crate) fn run_within(self, deadline: Duration) -> Done {
        self.start().wait_within(deadline)
    }
}

impl Running {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// By which everything that it starts is known.
    pub(crate) fn mark(&self) -> &str {
        &self.mark
    }

    /// QEMU, as soon as it runs.
    pub(crate) fn qemu(&self) -> u32 {
        self.program("qemu")
    }

    /// The first program whose name begins like this, as soon as it runs.
    pub(crate) fn program(&self, name: &str) -> u32 {
        until("the program is started", || {
            processes::marked(&self.mark).into_iter().find(|process| process.name.starts_with(name))
        })
        .id
    }

    /// The folder with the results, as soon as it is there.
    pub(crate) fn results(&self) -> PathBuf {
        until("the results folder is made", || sessions(&self.state).pop())
    }

    /// Waits until an event of this kind is recorded.
    pub(crate) fn await_event(&self, kind: &str) {
        let file = self.results().join("events.jsonl");
        let word = format!("{{\"event\":\"{kind}\"");
        until(kind, || std::fs::read_to_string(&file).ok()?.contains(&word).then_some(()));
    }

    /// Waits until this is said on standard error.
    pub(crate) fn await_stderr(&self, text: &str) {
        self.await_output("stderr", text);
    }

    /// Waits until this is printed.
    pub(crate) fn await_stdout(&self, text: &str) {
        self.await_output("stdout", text);
    }

    fn await_output(&self, name: &str, text: &str) {
        let output = || std::fs::read_to_string(self.output.join(name)).unwrap_or_default();
        until(text, || output().contains(text).then_some(()));
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        processes::signal(self.pid(), signal);
    }

    /// Waits for its end, and for that of everything it started.
    pub(crate) fn wait(self) -> Done {
        self.wait_within(DEADLINE)
    }

    pub(crate) fn wait_within(mut self, deadline: Duration) -> Done {
        let status = until_within(deadline, || self.child.try_wait().expect("it is our child"));
        let read = |name: &str| {
            let bytes = std::fs::read(self.output.join(name)).expect("it was made at the start");
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let (stdout, stderr) = (read("stdout"), read("stderr"));
        let Some(status) = status else {
            self.signal(rustix::process::Signal::KILL);
            panic!("kiln does not end\n{stdout}\n{stderr}");
        };
        until("all processes are gone", || processes::marked(&self.mark).is_empty().then_some(()));
        Done { code: status.code(), stdout, stderr, state: self.state }
    }
}

impl Done {
    /// Fails unless kiln ended with this exit code.
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "\n{}\n{}", self.stdout, self.stderr);
        self
    }

    /// Fails unless standard output has this text.
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(self.stdout.contains(text), "no {text:?} in\n{}\n{}", self.stdout, self.stderr);
        self
    }

    /// Standard output as one JSON document.
    pub(crate) fn stated<T: serde::de::DeserializeOwned>(&self) -> T {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in\n{}", self.stdout))
    }

    /// The folder with the results.
    pub(crate) fn results(&self) -> PathBuf {
        let mut all = sessions(&self.state);
        assert_eq!(all.len(), 1, "one session, one folder: {all:?}");
        all.remove(0)
    }

    /// Everything that was recorded; each line must be whole.
    pub(crate) fn events(&self) -> Vec<Event> {
        let text = std::fs::read_to_string(self.results().join("events.jsonl")).expect("recorded");
        text.lines().map(|line| serde_json::from_str(line).expect("a whole event")).collect()
    }

    /// The Runs that stand for their cases.
    pub(crate) fn finished(&self) -> Vec<Run> {
        let run = |event| if let Event::Finished(run) = event { Some(*run) } else { None };
        self.events().into_iter().filter_map(run).collect()
    }

    /// The Run of the only case.
    #[track_caller]
    pub(crate) fn only_run(&self) -> Run {
        self.finished().into_iter().next().expect("one case ran")
    }

    /// The document of a case, or else of the boot.
    pub(crate) fn document(&self, case: &str) -> Run {
        let name = format!("{case}.json");
        let of_case = self.results().join("cases").join(&name);
        let path = if of_case.is_file() { of_case } else { self.results().join(name) };
        let text = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        serde_json::from_slice(&text).expect("a Run")
    }

    pub(crate) fn session(&self) -> Value {
        let text = std::fs::read(self.results().join("session.json")).expect("written first");
        serde_json::from_slice(&text).expect("JSON")
    }

    /// The console of the clone in which a case ran.
    pub(crate) fn console(&self, case: &str) -> String {
        self.recorded(&format!("cases/{case}.console"))
    }

    pub(crate) fn recorded(&self, file: &str) -> String {
        std::fs::read_to_string(self.results().join(file)).expect("recorded")
    }
}

/// The folders of sessions below a state directory.
pub(crate) fn sessions(state: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(state.join("kiln/runs"));
    let is_session = |path: &PathBuf| path.is_dir() && !path.ends_with("artefacts");
    let folders = |entry: std::fs::DirEntry| Some(entry.path()).filter(is_session);
    entries.map(|entries| entries.flatten().filter_map(folders).collect()).unwrap_or_default()
}

/// Waits for something that is sure to come.
pub(crate) fn until<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    until_within(DEADLINE, look).unwrap_or_else(|| panic!("waited in vain: {what}"))
}

/// Looks again and again. Only its own sleep counts, so that a host that stops for minutes does not end it.
fn until_within<T>(deadline: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    const SLEEP: Duration = Duration::from_millis(10);
    for _ in 0..deadline.as_millis() / SLEEP.as_millis() {
        if let Some(found) = look() {
            return Some(found);
        }
        std::thread::sleep(SLEEP);
    }
    None
}

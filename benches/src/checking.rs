//! What a check of a patch of one file takes, beside what people do by hand: make in a tree that was built before, and a boot.

use std::cell::Cell;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use anyhow::{Context as _, Result};
use kbuild::{Recipe, source_tree};
use kernel::{Arch, Context, Store};
use tempfile::TempDir;

use crate::TRIVIAL;
use crate::clones::find;
use crate::kiln::{CONFIGURATION, PROGRAM, SOURCE, build, run};
use crate::promise::Promise;
use crate::race::{Racer, race, table};

/// The file that is changed, a part of any kernel.
const FILE: &str = "kernel/sys.c";

/// A check boots two kernels where people boot one.
const LIMIT: f64 = 1.5;

/// Times and promises of both, in so many rounds.
pub(crate) fn measure(rounds: usize) -> Result<(String, Vec<Promise>)> {
    eprintln!("bench: copying the source of a kernel and building it twice");
    let place = Place::new()?;
    place.make()?;
    let mut racers = [
        Racer::new("make after a change of one file, and one trivial case", || place.make_and_run())
            .after(|| place.change()),
        Racer::new("kiln check of the same, with the same case", || place.check("HEAD~1..HEAD"))
            .after(|| place.change().and_then(|()| place.commit())),
    ];
    race(&mut racers, rounds)?;
    let [by_hand, check] = &racers;
    Ok((table(&racers), vec![Promise::ratio(check, by_hand, Some(LIMIT))]))
}

/// A checkout of a kernel that can be changed.
struct Place {
    directory: TempDir,
    changes: Cell<u32>,
}

impl Place {
    fn new() -> Result<Self> {
        let users = Store::default_dir();
        let folder = users.parent().unwrap_or(&users);
        let directory = tempfile::Builder::new().prefix("kiln-bench-").tempdir_in(folder)?;
        let place = Self { directory, changes: Cell::new(0) };
        place.copy_source()?;
        place.git(&["init", "--quiet", "--initial-branch=main"])?;
        place.git(&["add", "--all", "--force"])?;
        place.commit()?;
        place.configure()?;
        Ok(place)
    }

    fn copy_source(&self) -> Result<()> {
        let recipe = Recipe {
            configurations: vec![CONFIGURATION.to_owned()],
            arch: Arch::X86_64,
            allow_unmet: false,
            variables: Vec::new(),
        };
        let (store, never) = (Store::new(Store::default_dir()), AtomicBool::new(false));
        let mut context = Context { store: &store, listener: &mut |_| {}, interrupt: &never };
        let source = source_tree(&SOURCE.parse()?, &recipe, &mut context)?;
        run(Command::new("cp").arg("-a").arg(&source.path).arg(self.tree()))
    }

    fn tree(&self) -> PathBuf {
        self.directory.path().join("linux")
    }

    fn objects(&self) -> PathBuf {
        self.directory.path().join("objects")
    }

    /// The same configuration as kiln's, whose kernel of the first commit is built for it.
    fn configure(&self) -> Result<()> {
        let tree = self.tree().display().to_string();
        let kernel = find(build(&tree, &[])?.trim(), &AtomicBool::new(false))?;
        let config = kernel.config.context("what kiln builds has its configuration")?;
        let text: String = config.options().map(|(name, value)| format!("CONFIG_{name}={value}\n")).collect();
        std::fs::create_dir(self.objects())?;
        std::fs::write(self.objects().join(".config"), text)?;
        self.run_make(&["olddefconfig"])
    }

    /// Another content of the file each time.
    fn change(&self) -> Result<()> {
        let path = self.tree().join(FILE);
        let number = self.changes.get() + 1;
        self.changes.set(number);
        let text = std::fs::read_to_string(&path)?;
        let kept = text.split("\nlong bench_").next().unwrap_or(&text);
        std::fs::write(&path, format!("{kept}\nlong bench_{number} = {number};\n"))?;
        Ok(())
    }

    fn commit(&self) -> Result<()> {
        let number = self.changes.get();
        self.git(&["commit", "--quiet", "--all", "--message", &format!("sys: change {number}")])
    }

    fn make(&self) -> Result<()> {
        self.run_make(&["bzImage"])
    }

    fn make_and_run(&self) -> Result<()> {
        self.make()?;
        let image = self.objects().join("arch/x86/boot/bzImage");
        run(self.kiln("run").arg(image).args(TRIVIAL))
    }

    fn check(&self, range: &str) -> Result<()> {
        let mut command = self.kiln("check");
        command.arg(range).arg("--tree").arg(self.tree()).args(["--config", CONFIGURATION]);
        run(command.args(TRIVIAL).args(["--analyse", "none", "--measure", "none"]))
    }

    fn kiln(&self, verb: &str) -> Command {
        let mut command = Command::new(PROGRAM);
        command.arg(verb).arg("--results").arg(self.directory.path().join("results"));
        command
    }

    fn run_make(&self, targets: &[&str]) -> Result<()> {
        let processors = std::thread::available_parallelism()?;
        let mut make = Command::new("make");
        make.arg(format!("--jobs={processors}")).arg(format!("O={}", self.objects().display()));
        run(make.arg("--silent").args(targets).current_dir(self.tree()))
    }

    fn git(&self, arguments: &[&str]) -> Result<()> {
        let identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.org"];
        run(Command::new("git").args(identity).args(arguments).current_dir(self.tree()))
    }
}

//! The kernel's own make, out of tree.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use host::Task;

use crate::Error;
use crate::failure::{self, Paths};
use crate::progress::Progress;
use crate::toolchain::Toolchain;
use kernel::Arch;
use kernel::Context;

/// Longer than any build on any machine that somebody waits at.
const LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

/// What of the user's environment make may see: everything else could change what is built.
const PASSED_ON: [&str; 9] = [
    "PATH",
    "HOME",
    "USER",
    "CCACHE_DIR",
    "CCACHE_CONFIGPATH",
    "CCACHE_DISABLE",
    "CCACHE_MAXSIZE",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
];

/// The same source gives the same image, whoever builds it and when.
const REPRODUCIBLE: [(&str, &str); 4] = [
    ("KBUILD_BUILD_USER", "kiln"),
    ("KBUILD_BUILD_HOST", "kiln"),
    ("KBUILD_BUILD_VERSION", "1"),
    ("KBUILD_BUILD_TIMESTAMP", "1970-01-01 00:00:00 UTC"),
];

/// Memory that a compiler takes at most, in MiB, but for a few files.
const COMPILER_MIB: u64 = 700;

/// Objects that one make is asked for: the kernel's makefiles pass their names on in one variable, of at most 128 KiB.
const OBJECTS: usize = 500;

/// make, for one tree and one directory of objects.
#[derive(Debug)]
pub(crate) struct Make<'a> {
    pub(crate) paths: Paths<'a>,
    pub(crate) arch: Arch,
    pub(crate) toolchain: &'a Toolchain,
    pub(crate) variables: &'a [String],
}

impl Make<'_> {
    /// The kernel's makefiles pass paths to shells as they are.
    pub(crate) fn check_paths(&self) -> Result<(), Error> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+@,=~".contains(&byte) || byte >= 0x80;
        let is_odd = |path: &&Path| path.to_str().is_none_or(|path| !path.bytes().all(plain));
        match [self.paths.tree, self.paths.objects].into_iter().find(is_odd) {
            Some(path) => Err(Error::OddPath { path: path.to_owned() }),
            None => Ok(()),
        }
    }

    /// Makes `targets`; what it prints is added to the log.
    pub(crate) fn run(&self, targets: &[&str], context: &mut Context<'_>) -> Result<bool, Error> {
        self.run_into(self.paths.objects, targets, context)
    }

    /// Makes these objects; one that does not compile leaves the others alone.
    pub(crate) fn objects(&self, objects: &[&str], context: &mut Context<'_>) -> Result<(), Error> {
        if self.run(&["prepare"], context)? {
            for objects in objects.chunks(OBJECTS) {
                // The makefiles may compile one in two places, such as arch/x86/pci/ and arch/x86/: one after the other.
                self.run(&[&["--keep-going", "--jobs=1"], objects].concat(), context)?;
            }
        }
        Ok(())
    }

    /// The same for targets that write to `place`.
    pub(crate) fn run_into(
        &self,
        place: &Path,
        targets: &[&str],
        context: &mut Context<'_>,
    ) -> Result<bool, Error> {
        let (log, _) = self.open_log()?;
        let done = self.task(place, targets, context)?.log(log).run(&mut || {}).map_err(Error::from)?;
        Ok(done.success)
    }

    /// Makes `target` and tells how far it is, of a `total` of files if that is known.
    pub(crate) fn watched(
        &self,
        target: &str,
        total: Option<usize>,
        context: &mut Context<'_>,
    ) -> Result<bool, Error> {
        let (log, position) = self.open_log()?;
        let mut progress = Progress::follow(self.paths.log, position, total);
        let task = self.task(self.paths.objects, &[target], context)?.log(log);
        let done = task.run(&mut || progress.emit(context)).map_err(Error::from)?;
        Ok(done.success)
    }

    /// What make writes without any work: the value of a variable of the tree's, for one.
    pub(crate) fn ask(&self, target: &str, context: &mut Context<'_>) -> Result<String, Error> {
        let done = self
            .task(self.paths.objects, &["--silent", target], context)?
            .run(&mut || {})
            .map_err(Error::from)?;
        if done.success { Ok(done.output.trim().to_owned()) } else { Err(failure::of(&self.paths)) }
    }

    /// How many files make would compile, link or generate, by a dry run.
    pub(crate) fn count(&self, target: &str, context: &mut Context<'_>) -> Result<usize, Error> {
        context.progress("counting the files to compile");
        let done = self
            .task(self.paths.objects, &["--dry-run", target], context)?
            .run(&mut || {})
            .map_err(Error::from)?;
        Ok(done.output.lines().filter(|line| is_announced(line)).count())
    }

    fn task<'t>(&self, place: &Path, targets: &[&str], context: &Context<'t>) -> Result<Task<'t>, Error> {
        let mut words = vec![
            format!("--directory={}", self.paths.tree.display()),
            format!("O={}", self.paths.objects.display()),
            format!("ARCH={}", self.arch),
            format!("--jobs={}", jobs()),
        ];
        if self.arch == Arch::Um {
            words.push("SUBARCH=x86_64".to_owned());
        }
        words.extend(self.toolchain.cc.iter().map(|cc| format!("CC={cc}")));
        words.extend(self.variables.iter().cloned());
        let words: Vec<&str> = words.iter().map(String::as_str).chain(targets.iter().copied()).collect();
        let task = Task::new("make", &words, context.interrupt).limit(LIMIT);
        let task = task.with(|command| self.surround(command));
        // Makefiles are programs, and whoever wrote the source wrote them.
        let Toolchain { installed, cache, .. } = self.toolchain;
        let written = [self.paths.objects, place].into_iter().chain(cache.as_deref());
        let read = [self.paths.tree].into_iter().chain(installed.iter().map(PathBuf::as_path));
        let (written, read): (Vec<&Path>, Vec<&Path>) = (written.collect(), read.collect());
        task.sandboxed(&written, &read).map_err(Error::io("work in", self.paths.objects))
    }

    fn surround(&self, command: &mut Command) {
        command.env_clear().env("LC_ALL", "C").envs(REPRODUCIBLE);
        for name in PASSED_ON {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        // Objects of two configurations are then the same to ccache.
        command.env("CCACHE_NOHASHDIR", "1");
    }

    /// The log, to be written at its end, and where that is.
    fn open_log(&self) -> Result<(File, u64), Error> {
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.paths.log)
            .map_err(Error::io("write", self.paths.log))?;
        let length = log.metadata().map_err(Error::io("look at", self.paths.log))?.len();
        Ok((log, length))
    }
}

/// The recipe of a step in a dry run: `echo '  CC      kernel/fork.o'`, among much else on its line.
fn is_announced(line: &str) -> bool {
    line.split("echo '  ").nth(1).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
}

/// As many compilers at a time as there are processors, and memory for them.
pub(crate) fn jobs() -> u64 {
    let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let memory = host::available_memory_mib().map_or(processors, |mib| mib / COMPILER_MIB);
    processors.min(memory).max(1)
}

/// The kernel that make leaves among its objects.
pub(crate) fn image_in(arch: Arch) -> &'static str {
    match arch {
        Arch::X86_64 => "arch/x86/boot/bzImage",
        Arch::Um => "linux",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_a_dry_run_are_counted() {
        assert!(is_announced(
            "set -e;  echo '  CC      kernel/fork.o'; gcc -c -o kernel/fork.o kernel/fork.c"
        ));
        assert!(is_announced("  echo '  LD      vmlinux';"));
        for other in ["make -f scripts/Makefile.build obj=kernel", "echo '  '", "echo '  kernel'", ""] {
            assert!(!is_announced(other), "{other}");
        }
    }

    #[test]
    fn there_is_always_one_job() {
        assert!(jobs() >= 1);
    }
}

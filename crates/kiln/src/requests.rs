//! From the command line to requests.

use std::path::Path;

use hardware::{Device, Hardware};
use kernel::{Arch, Locator};
use lab::request::{
    BuildOptions, ExperimentRequest, KernelRequest, KunitRequest, MachineRequest, MeasureRequest,
    ProgramRequest, RunPolicy, RunRequest, Selection, ShellRequest, Version,
};
use lab::suites::select::DEFAULT;
use protocol::trace::TraceRequest;
use script::Mode;

use crate::cli;

/// A program of this host as the only case.
fn program(path: &Path, arguments: &[String]) -> Selection {
    let (path, arguments) = (path.to_owned(), arguments.to_owned());
    Selection::Program(ProgramRequest { path, arguments, needs: Vec::new() })
}

/// A program with its arguments, or else the cases of a suite, the usual one if none is named, that match one of the patterns.
pub(crate) fn program_or_cases(
    (exec, arguments): (Option<&Path>, &[String]),
    (suite, patterns): (Option<&str>, &[String]),
) -> Selection {
    match exec {
        Some(path) => program(path, arguments),
        None => {
            Selection::Suite { suite: suite.unwrap_or(DEFAULT).to_owned(), patterns: patterns.to_owned() }
        }
    }
}

impl cli::Run {
    /// What is asked.
    pub(crate) fn request(&self) -> RunRequest {
        let program = self.exec.as_deref().map(|path| program(path, &self.arguments));
        RunRequest {
            version: Version,
            kernel: self.build.kernel(&self.kernel),
            cases: program.unwrap_or_else(|| self.choice.selection()),
            needs: self.need.clone(),
            case_limit: self.case_timeout,
            policy: self.policy.request(),
            machine: self.user_space.add_to(self.machine.request()),
            dump: self.dump,
            trace: (!self.trace.is_empty() || !self.flight.is_empty()).then(|| {
                let request = TraceRequest {
                    events: self.trace.iter().chain(&self.flight).cloned().collect(),
                    buffer_kib: self.trace_buffer,
                    ..TraceRequest::default()
                };
                request.until(self.trace_until.clone())
            }),
            flight: !self.flight.is_empty(),
        }
    }
}

impl cli::Kunit {
    /// What is asked.
    pub(crate) fn request(&self) -> KunitRequest {
        KunitRequest {
            version: Version,
            kernel: self.build.kernel(&self.kernel),
            suites: self.suite.clone(),
            machine: self.machine.request(),
        }
    }
}

impl cli::Measure {
    /// What is asked.
    pub(crate) fn request(&self) -> MeasureRequest {
        MeasureRequest {
            version: Version,
            kernel: self.build.kernel(&self.kernel),
            program: self.exec.as_deref().map(|path| self.figures.program(path)),
            figures: self.figures.request(),
            machine: self.root.add_to(self.machine.request()),
        }
    }
}

impl cli::ShellVerb {
    /// What is asked.
    pub(crate) fn request(&self) -> ShellRequest {
        ShellRequest {
            version: Version,
            kernel: self.build.kernel(&self.kernel),
            command: self.command.clone(),
            machine: self.user_space.add_to(self.machine.request()),
        }
    }
}

impl cli::BuildOptions {
    /// A Kernel that is built like this, if it is source.
    pub(crate) fn kernel(&self, locator: &Locator) -> KernelRequest {
        KernelRequest { locator: locator.clone(), build: self.request() }
    }

    /// How it is built.
    pub(crate) fn request(&self) -> BuildOptions {
        BuildOptions {
            configurations: self.config.clone(),
            arch: self.arch.map(|arch| match arch {
                cli::ArchName::X86_64 => Arch::X86_64,
                cli::ArchName::Um => Arch::Um,
            }),
            allow_unmet: self.allow_unmet,
            variables: self.make.clone(),
        }
    }
}

impl cli::Choice {
    /// Which cases.
    pub(crate) fn selection(&self) -> Selection {
        let patterns = self.case.clone();
        match &self.kselftest {
            Some(place) => Selection::Selftests { place: place.clone(), patterns },
            None => Selection::Suite { suite: self.suite.clone(), patterns },
        }
    }
}

impl cli::MachineOptions {
    /// What is fixed about the machine.
    pub(crate) fn request(&self) -> MachineRequest {
        MachineRequest {
            memory_mib: self.memory,
            cpus: self.cpus,
            append: self.append.clone(),
            accel: self.accel.into(),
            hardware: self.hardware(),
            boot_limit: self.timeout,
            ..MachineRequest::default()
        }
    }
}

impl cli::MachineOptions {
    /// Its disks, then its other devices, each in the order in which they were given.
    fn hardware(&self) -> Hardware {
        let disks = self.disk.iter().cloned().map(Device::Disk);
        Hardware { devices: disks.chain(self.device.iter().cloned()).collect() }
    }
}

impl cli::ExpRun {
    /// What is asked of the experiment in this folder.
    pub(crate) fn request(&self, folder: &Path) -> ExperimentRequest {
        ExperimentRequest {
            version: Version,
            folder: folder.to_path_buf(),
            kernels: self.kernel.iter().map(|kernel| self.build.kernel(kernel)).collect(),
            seed: self.seed,
            mode: if self.short { Mode::Short } else { Mode::Full },
            machine: self.user_space.add_to(self.machine.request()),
            no_clones: self.no_clones,
        }
    }
}

impl cli::RootOptions {
    /// A machine with this root.
    pub(crate) fn add_to(&self, machine: MachineRequest) -> MachineRequest {
        MachineRequest { root: self.root.clone(), ..machine }
    }
}

impl cli::UserSpaceOptions {
    /// A machine with this user space.
    pub(crate) fn add_to(&self, machine: MachineRequest) -> MachineRequest {
        MachineRequest { services: self.systemd, ..self.root.add_to(machine) }
    }
}

impl cli::Policy {
    /// How cases are run.
    pub(crate) fn request(&self) -> RunPolicy {
        RunPolicy {
            isolation: match self.isolation {
                cli::IsolationName::Case => lab::Isolation::Case,
                cli::IsolationName::Suite => lab::Isolation::Suite,
            },
            jobs: self.jobs,
            repeat: self.repeat,
            boots: self.boots,
            first_boot: self.first_boot,
            first_run: 0,
            until_fail: self.until_fail,
            no_retry: self.no_retry,
            seed: self.seed,
            settle: self.settle,
            resume: self.resume,
            golden: self.golden.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::Parser;
    use lab::Request;

    use crate::cli::{Cli, ExpVerb, Verb};

    fn request(words: &[String]) -> Request {
        let words = std::iter::once("kiln").chain(words.iter().map(String::as_str));
        match Cli::try_parse_from(words).unwrap().verb {
            Verb::Run(args) => Request::Run(Box::new(args.request())),
            Verb::Kunit(args) => Request::Kunit(Box::new(args.request())),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_words_of_an_experiment_ask_the_same() {
        let asked = |words: &[String]| {
            let words = std::iter::once("kiln").chain(words.iter().map(String::as_str));
            let Verb::Exp(exp) = Cli::try_parse_from(words).unwrap().verb else { panic!("an experiment") };
            let Some(ExpVerb::Run(args)) = exp.verb else { panic!("a run") };
            args.request(Path::new(&args.name))
        };
        for line in [
            "exp run ./dock --kernel ~/linux --kernel deb:latest",
            "exp run ./dock --kernel ~/linux --config tiny --arch um --make W=1 --short --seed 7 --no-clones --cpus 2 \
             --memory 2G --append 'quiet splash' --root debian:fio",
        ] {
            let typed = asked(&shlex::split(line).unwrap());
            assert_eq!(asked(&typed.words()), typed, "{line}");
        }
    }

    #[test]
    fn the_words_of_a_request_ask_the_same() {
        for line in [
            "run host",
            "run ~/linux --isolation suite --jobs 3 --repeat 20 --boots 4 --first-boot 2 --until-fail --seed 7 --settle 2s --resume --golden deb:latest \
             --case-timeout 1.5s --config tiny,./x.config --arch um --allow-unmet --make W=1 --make LLVM=1 --memory 2G \
             --cpus 2 --append=-a --append 'quiet splash' --accel tcg --timeout 90s --dump --suite full --case 'fs/*' \
             --case pipe/full",
            "run host --no-retry --kselftest timers --case 'timers/*' --need module=loop",
            "run host --root debian/trixie:fio,iproute2 --exec ./it",
            "run host --exec ./it --need 'module loop,2 CPUs' --need 'a disk of 64 MiB' -- -x 'a b'",
            "kunit git:linux@HEAD --suite 'list*,sort' --arch x86_64 --cpus 1",
        ] {
            let typed = request(&shlex::split(line).unwrap());
            assert_eq!(request(&typed.words()), typed, "{line}");
            let kept = serde_json::to_string(&typed).unwrap();
            assert_eq!(serde_json::from_str::<Request>(&kept).unwrap(), typed, "{kept}");
        }
    }
}

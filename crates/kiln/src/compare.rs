//! `kiln compare`: which kernel is slower, by how much, and why.

use anyhow::Result;
use compare::{CompareRequest, Compared, Conclusion, SideRequest, SidesRequest};
use lab::request::words::call;
use lab::request::{KernelRequest, ProgramRequest, Version, may_be_built};

use crate::cli::{Compare, Wanted};
use crate::exp::chosen;
use crate::failure::{FAULT, WrongUsage};
use crate::figures::looking_on;
use crate::report_file::write;
use judge::exit::{BROKEN, INTERRUPTED};

/// Compares kernels and gives the exit code.
pub(crate) fn compare(args: &Compare, color: bool) -> Result<u8> {
    let request = args.request()?;
    let compared = looking_on((args.figures.root(), args.has_program()), color, |environment, on_event| {
        compare::compare(&request, environment, on_event)
    })?;
    let Some(compared) = compared else { return Ok(INTERRUPTED) };
    args.write_page(&request, &compared)?;
    args.figures.print(&compared.comparison, color)?;
    args.figures.print_place(compared.kept.directory())?;
    Ok(match compared.conclusion {
        Conclusion::Worse => FAULT,
        Conclusion::NotWorse => 0,
        Conclusion::Nothing => BROKEN,
    })
}

impl Compare {
    /// What is asked.
    pub(crate) fn request(&self) -> Result<CompareRequest> {
        self.figures.check(self.has_program())?;
        let experiment = self.exp.as_deref().map(|name| chosen(name, self.short)).transpose()?;
        Ok(CompareRequest {
            version: Version,
            sides: self.sides()?,
            figures: if experiment.is_some() { self.figures.sampled() } else { self.figures.request() },
            why: self.why,
            experiment,
            allowed: self.fail_on.is_finite().then_some(self.fail_on),
            machine: self.root.add_to(self.machine.request()),
        })
    }

    fn has_program(&self) -> bool {
        self.exec.is_some() || self.exec_a.is_some()
    }

    /// What is compared.
    fn sides(&self) -> Result<SidesRequest> {
        let program = self.exec.as_deref().map(|path| self.figures.program(path));
        let with_itself = !self.params.is_empty() || self.exec_a.is_some();
        if !with_itself {
            let sides = self.kernels.iter().map(|wanted| self.side(wanted)).collect();
            return Ok(SidesRequest::Kernels { sides, program });
        }
        let [Wanted::Kernel(locator)] = self.kernels.as_slice() else {
            let text = "--params and --exec-a compare one kernel with itself: name only one kernel";
            return Err(WrongUsage(text.to_string()).into());
        };
        let kernel = self.build.kernel(locator);
        let programs: Vec<ProgramRequest> =
            self.exec_a.iter().chain(&self.exec_b).map(|path| self.figures.program(path)).collect();
        Ok(match programs.is_empty() {
            true => SidesRequest::Parameters { kernel, parameters: self.params.clone(), program },
            false => SidesRequest::Programs { kernel, programs },
        })
    }

    fn builds(&self) -> bool {
        self.kernels.iter().any(|wanted| matches!(wanted, Wanted::Kernel(locator) if may_be_built(locator)))
    }

    fn side(&self, wanted: &Wanted) -> SideRequest {
        match wanted {
            // Of a package and a tree only the tree is built; where nothing is, that is an error.
            Wanted::Kernel(locator) if self.builds() => {
                SideRequest::Kernel(KernelRequest::of(locator.clone(), &self.build.request()))
            }
            Wanted::Kernel(locator) => SideRequest::Kernel(self.build.kernel(locator)),
            Wanted::Measured(name) => SideRequest::Measured(name.clone()),
        }
    }

    /// Writes the page beside the figures, and where the user wants it.
    fn write_page(&self, request: &CompareRequest, compared: &Compared) -> Result<()> {
        let page = compared.kept.path(ledger::PAGE);
        let typed = call(&request.words());
        for path in [Some(&page), self.html.as_ref()].into_iter().flatten() {
            write(path, |out| report::comparison::html(&compared.comparison, &typed, out))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Verb};

    fn request(words: &[String]) -> Result<CompareRequest> {
        let words = std::iter::once("kiln").chain(words.iter().map(String::as_str));
        let Verb::Compare(args) = Cli::try_parse_from(words).unwrap().verb else { panic!("a comparison") };
        args.request()
    }

    #[test]
    fn the_words_of_a_request_ask_the_same() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("experiment.star"), "experiment(question = \"why?\")\n").unwrap();
        for line in [
            "compare deb:6.1.0-47-cloud deb:6.1.0-56-cloud --metric 'syscall/*' --boots 2 --why --fail-on 2%",
            "compare measured:last host measured:2026 --memory 512M --config tiny --fail-on never",
            "compare host --params quiet 'nosmt mitigations=off' --timed --seed 7 --budget 90s --min-effect 2%",
            "compare host --exec-a ./old --exec-b ./new --need 'module loop' -- -x 'a b'",
            "compare git:linux@v6.12 git:linux@v6.13 --exec ./it --arch x86_64 --timed --exclude-disturbed -- -x",
            "compare host --exec-a ./old --exec-b ./new --root debian:fio",
            &format!("compare host host --exp {} --short --boots 8 --seed 3", folder.path().display()),
            &format!(
                "compare host --params a b --exp {} --budget 90s --min-effect 2%",
                folder.path().display()
            ),
        ] {
            let typed = request(&shlex::split(line).unwrap()).unwrap();
            assert_eq!(request(&typed.words()).unwrap(), typed, "{line}");
            let kept = serde_json::to_string(&typed).unwrap();
            assert_eq!(serde_json::from_str::<CompareRequest>(&kept).unwrap(), typed, "{kept}");
        }
    }

    #[test]
    fn only_one_kernel_is_compared_with_itself() {
        for line in ["compare host host --params a b", "compare measured:last --exec-a a --exec-b b"] {
            let error = request(&shlex::split(line).unwrap()).unwrap_err();
            assert!(error.to_string().ends_with("name only one kernel"), "{error}");
        }
    }
}

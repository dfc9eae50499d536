//! The programs that build kernels.

use std::path::PathBuf;

use host::Task;
use host::task::Failure;

use crate::{Error, installed};
use kernel::Context;

/// What every build needs, and the package of Debian that has it.
const TOOLS: [(&str, &str); 4] = [("make", "make"), ("flex", "flex"), ("bison", "bison"), ("bc", "bc")];

/// The compiler of a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Toolchain {
    /// The compiler, as it is called.
    pub(crate) compiler: String,
    /// The value of make's `CC`, unless the user's variables choose the compiler.
    pub(crate) cc: Option<String>,
    /// Compiler and linker with their versions.
    pub(crate) identity: String,
    /// Where it may be with its settings, besides the system's own directories.
    pub(crate) installed: Vec<PathBuf>,
    /// What ccache writes to.
    pub(crate) cache: Option<PathBuf>,
}

impl Toolchain {
    /// Looks at this host. `variables` are those that the user gives to make.
    pub(crate) fn find(variables: &[String], context: &mut Context<'_>) -> Result<Self, Error> {
        for (program, package) in TOOLS {
            if !is_installed(program) {
                return Err(Error::MissingTool { program: program.to_owned(), package });
            }
        }
        let (compiler, linker) = programs(variables);
        let mut identity = format!("{}, {}", version(&compiler, context)?, version(&linker, context)?);
        if is_installed("pahole") {
            // What Kconfig grants of BTF depends on it.
            identity = format!("{identity}, pahole {}", version("pahole", context)?);
        }
        // Who has a say in the compiler gets that and nothing around it.
        let is_chosen = ["CC", "LLVM", "CROSS_COMPILE"].iter().any(|name| value(variables, name).is_some());
        let has_ccache = is_installed("ccache");
        let cc = (!is_chosen && has_ccache).then(|| format!("ccache {compiler}"));
        let mut installed = installed::directories_of([&compiler, &linker]);
        installed.extend(installed::settings_of_ccache());
        let cache = has_ccache.then(|| installed::cache_of_ccache(context)).flatten();
        Ok(Self { compiler, cc, identity, installed, cache })
    }
}

/// The last value that the user gives to a variable of make.
fn value<'a>(variables: &'a [String], name: &str) -> Option<&'a str> {
    variables.iter().rev().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

/// Compiler and linker as the kernel's Makefile chooses them: Documentation/kbuild/llvm.rst.
fn programs(variables: &[String]) -> (String, String) {
    let (compiler, linker) = match value(variables, "LLVM").filter(|llvm| *llvm != "0" && !llvm.is_empty()) {
        Some(directory) if directory.ends_with('/') => {
            (format!("{directory}clang"), format!("{directory}ld.lld"))
        }
        Some(suffix) if suffix.starts_with('-') => (format!("clang{suffix}"), format!("ld.lld{suffix}")),
        Some(_) => ("clang".to_owned(), "ld.lld".to_owned()),
        None => {
            let prefix = value(variables, "CROSS_COMPILE").unwrap_or_default();
            (format!("{prefix}gcc"), format!("{prefix}ld"))
        }
    };
    let named = |name: &str, otherwise: String| {
        let mut words = value(variables, name).unwrap_or_default().split_whitespace();
        words.find(|word| *word != "ccache").map_or(otherwise, str::to_owned)
    };
    (named("CC", compiler), named("LD", linker))
}

/// The first line that a program says about itself.
pub(crate) fn version(program: &str, context: &mut Context<'_>) -> Result<String, Error> {
    let done = Task::new(program, &["--version"], context.interrupt).run(&mut || {});
    let done = done.map_err(|failure| match failure {
        Failure::Missing(program) => {
            let packages = [("clang", "clang"), ("ld.lld", "lld"), ("ld", "binutils")];
            let package = packages.iter().find(|(name, _)| program.starts_with(name));
            let package = package.map_or("gcc", |(_, package)| package);
            Error::MissingTool { program, package }
        }
        failure => failure.into(),
    })?;
    Ok(done.output.lines().next().unwrap_or_default().to_owned())
}

fn is_installed(program: &str) -> bool {
    host::find_program(program).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiler_and_linker_are_those_that_the_makefile_takes() {
        for (variables, compiler, linker) in [
            (&[][..], "gcc", "ld"),
            (&["LLVM=1"], "clang", "ld.lld"),
            (&["LLVM=-15"], "clang-15", "ld.lld-15"),
            (&["LLVM=/opt/llvm/bin/"], "/opt/llvm/bin/clang", "/opt/llvm/bin/ld.lld"),
            (&["LLVM=0"], "gcc", "ld"),
            (&["CROSS_COMPILE=x86_64-linux-gnu-"], "x86_64-linux-gnu-gcc", "x86_64-linux-gnu-ld"),
            (&["CC=ccache gcc-12 -m64"], "gcc-12", "ld"),
            (&["CC=gcc-11", "CC=gcc-12", "LD=ld.gold"], "gcc-12", "ld.gold"),
        ] {
            let variables: Vec<String> = variables.iter().map(|&word| word.to_owned()).collect();
            assert_eq!(programs(&variables), (compiler.to_owned(), linker.to_owned()), "{variables:?}");
        }
    }
}

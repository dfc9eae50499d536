//! The programs that build kernels.

use host::Task;
use host::task::Failure;

use crate::build::error::BuildError;
use crate::context::Context;
use crate::error::Error;

/// What every build needs, and the package of Debian that has it.
const TOOLS: [(&str, &str); 5] =
    [("make", "make"), ("flex", "flex"), ("bison", "bison"), ("bc", "bc"), ("ld", "binutils")];

/// The compiler of a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Toolchain {
    /// The value of make's `CC`, unless the user's variables choose the compiler.
    pub(crate) cc: Option<String>,
    /// Compiler and linker with their versions.
    pub(crate) identity: String,
}

impl Toolchain {
    /// Looks at this host. `variables` are those that the user gives to make.
    pub(crate) fn find(variables: &[String], context: &mut Context<'_>) -> Result<Self, Error> {
        for (program, package) in TOOLS {
            if !is_installed(program) {
                return Err(BuildError::MissingTool { program: program.to_owned(), package }.into());
            }
        }
        let value =
            |name: &str| variables.iter().rev().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        let llvm = value("LLVM").filter(|value| *value != "0");
        let compiler = match (value("CC"), llvm) {
            (Some(compiler), _) => compiler.split_whitespace().next_back().unwrap_or("gcc").to_owned(),
            (None, Some(version)) if version.starts_with('-') => format!("clang{version}"),
            (None, Some(_)) => "clang".to_owned(),
            (None, None) => "gcc".to_owned(),
        };
        let linker = if llvm.is_some() { "ld.lld" } else { "ld" };
        let identity = format!("{}, {}", version(&compiler, context)?, version(linker, context)?);
        // Who names the compiler gets that and nothing around it.
        let cc = (value("CC").is_none() && llvm.is_none() && is_installed("ccache"))
            .then(|| format!("ccache {compiler}"));
        Ok(Self { cc, identity })
    }
}

/// The first line that a program says about itself.
fn version(program: &str, context: &mut Context<'_>) -> Result<String, Error> {
    let done = Task::new(program, &["--version"], context.interrupt).run(&mut || {});
    let done = done.map_err(|failure| match failure {
        Failure::Missing(program) => {
            let package = if program.starts_with("clang") {
                "clang"
            } else if program == "ld.lld" {
                "lld"
            } else {
                "gcc"
            };
            BuildError::MissingTool { program, package }
        }
        failure => failure.into(),
    })?;
    Ok(done.output.lines().next().unwrap_or_default().to_owned())
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

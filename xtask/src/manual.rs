//! `docs/command-line.md`: what `--help` says, for those who read before they build.

use std::fmt::Write;

use anyhow::{Context, Result, bail};

use crate::program::{cargo, output, program, root, succeed};

const PAGE: &str = "docs/command-line.md";

const HEAD: &str = "\
# The command line

Written by `cargo xtask manual` from kiln's own `--help`.
";

const VERBS: &[&str] = &[
    "run",
    "build",
    "kunit",
    "replay",
    "bundle",
    "bisect",
    "compare",
    "measure",
    "exp",
    "exp run",
    "exp show",
    "exp new",
    "exp check",
    "cases",
    "kernels",
    "kernels prune",
    "shell",
    "doctor",
    "completions",
    "manual",
];

/// Writes the page anew.
pub(crate) fn write() -> Result<()> {
    succeed(&mut cargo(&["build", "--locked", "--quiet", "--package", "kiln"]))?;
    std::fs::write(root().join(PAGE), page()?).context(PAGE)
}

/// The page must be what would be written by the program that was built for the tests.
pub(crate) fn check() -> Result<()> {
    let there = std::fs::read_to_string(root().join(PAGE)).context(PAGE)?;
    if there != page()? {
        bail!("{PAGE} is not what kiln's --help says: run `cargo xtask manual`");
    }
    Ok(())
}

fn page() -> Result<String> {
    let mut page = format!("{HEAD}\n## kiln\n\n```text\n{}```\n", help(&["--help"])?);
    for verb in VERBS {
        write!(
            page,
            "\n## kiln {verb}\n\n```text\n{}```\n",
            help(&verb.split(' ').chain(["--help"]).collect::<Vec<_>>())?
        )?;
    }
    Ok(page)
}

fn help(arguments: &[&str]) -> Result<String> {
    let mut kiln = program("target/debug/kiln", arguments);
    // Lines are as long on every terminal.
    let text = output(kiln.env("COLUMNS", "100").env("NO_COLOR", "1"))?;
    Ok(text.lines().map(|line| line.trim_end().to_string() + "\n").collect())
}

//! `docs/command-line.md`: what `--help` says, for those who read before they build.

use std::fmt::Write;

use anyhow::{Context, Result, bail};

use crate::program::{cargo, output, program, root, succeed};

const PAGE: &str = "docs/command-line.md";

const HEAD: &str = "\
# The command line

Written by `cargo xtask manual` from kiln's own `--help`.
";

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
    let mut page = HEAD.to_string();
    add(&mut page, &["kiln"])?;
    Ok(page)
}

/// Adds a command and those below it.
fn add(page: &mut String, command: &[&str]) -> Result<()> {
    let text = help(&command[1..])?;
    write!(page, "\n## {}\n\n```text\n{text}```\n", command.join(" "))?;
    for below in commands(&text) {
        add(page, &[command, &[below]].concat())?;
    }
    Ok(())
}

/// The commands that a help text lists.
fn commands(text: &str) -> impl Iterator<Item = &str> {
    let list =
        text.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = list.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty() && *name != "help")
}

fn help(arguments: &[&str]) -> Result<String> {
    let mut kiln = program("target/debug/kiln", &[arguments, &["--help"]].concat());
    // Lines are as long on every terminal.
    let text = output(kiln.env("COLUMNS", "100").env("NO_COLOR", "1"))?;
    Ok(text.lines().map(|line| line.trim_end().to_string() + "\n").collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_in_the_help() {
        let text = "It does.\n\nUsage: kiln [COMMAND]\n\nCommands:\n  run   Run\n        more of it\n  exp   Experiments\n  help  Print\n\n\
                    Options:\n  -h, --help  Print\n";
        assert_eq!(commands(text).collect::<Vec<_>>(), ["run", "exp"]);
        assert_eq!(commands("Usage: kiln run\n").count(), 0);
    }
}

//! From a configuration that was asked for to the one that Kconfig gives.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use crate::Error;
use crate::failure::{self, made};
use crate::make::Make;
use crate::recipe::{Base, Configuration, Part};
use kconfig::{Assignment, Symbols, Tree, Variables};
use kernel::Arch;
use kernel::Config;
use kernel::Context;
use kernel::files;

/// The file of the objects with the configuration.
const CONFIG: &str = ".config";

/// What a comment begins with that makes the option below it one that a tree may lack.
const OPTIONAL: &str = "# optional:";

/// What Kconfig made of a configuration.
#[derive(Debug)]
pub(crate) struct Configured {
    /// The text of `.config`.
    pub(crate) text: String,
    /// Options that were asked for and not granted, a line for each.
    pub(crate) unmet: Vec<String>,
    /// What has changed in the source since Kconfig gave it, if that is known and Kconfig need not be asked again.
    pub(crate) changed: Option<Vec<String>>,
}

/// All that the parts ask for, read and checked before anything is run.
#[derive(Debug)]
pub(crate) struct Asked {
    assignments: Vec<Assignment>,
    /// Part and line of those that a tree may lack.
    optional: BTreeSet<(String, usize)>,
}

impl Asked {
    /// Reads the parts; a typo in one is an error.
    pub(crate) fn read(parts: &[Part]) -> Result<Self, Error> {
        let mut optional = BTreeSet::new();
        let mut all = Vec::new();
        for part in parts {
            optional.extend(optional_lines(&part.text).map(|line| (part.name.clone(), line)));
            all.push(
                kconfig::fragment::parse(&part.name, &part.text)
                    .map_err(|error| Error::Fragment(error.to_string()))?,
            );
        }
        Ok(Self { assignments: kconfig::fragment::combine(all), optional })
    }

    fn is_optional(&self, assignment: &Assignment) -> bool {
        let origin = &assignment.origin;
        self.optional.contains(&(origin.file.to_string(), origin.line))
    }
}

/// Lines that stand right below the mark, counted from 1.
fn optional_lines(text: &str) -> impl Iterator<Item = usize> {
    let marks = text.lines().enumerate().filter(|(_, line)| line.starts_with(OPTIONAL));
    marks.map(|(index, _)| index + 2)
}

/// Makes `.config` among the objects.
pub(crate) fn configure(
    make: &Make<'_>,
    configuration: &Configuration,
    asked: &Asked,
    context: &mut Context<'_>,
) -> Result<Configured, Error> {
    context.progress("configuring");
    // Of an earlier build, from which some targets would begin.
    remove(make.paths.objects)?;
    if let Base::Target(target) = &configuration.base {
        must(make, target, context).map_err(|error| error.or_no_target(target))?;
    }
    let base = match &configuration.base {
        Base::Target(_) => read(make)?,
        Base::File(text) => text.clone(),
    };
    let text = completed(make, &merged(&base, &asked.assignments), context)?;
    let symbols = symbols(make.paths.tree, make.arch)?;
    let unmet = kconfig::unmet(&symbols, &asked.assignments, &Config::parse(&text));
    let unmet = unmet.iter().filter(|unmet| !asked.is_optional(&unmet.assignment));
    let mut unmet: Vec<String> = unmet.map(ToString::to_string).collect();
    if let Some(place) = symbols.passed_over().first().filter(|_| !unmet.is_empty()) {
        unmet.push(format!("{place}: is a statement that kiln does not know, so a reason may be incomplete"));
    }
    Ok(Configured { text, unmet, changed: None })
}

/// Makes `text` the `.config`. What make has made of the same text stays up to date.
pub(crate) fn put(make: &Make<'_>, text: &str) -> Result<(), Error> {
    if is_still(make, text).unwrap_or(false) {
        return Ok(());
    }
    // A makefile may have put a link there.
    remove(make.paths.objects)?;
    let path = make.paths.objects.join(CONFIG);
    let write = || fs::File::create_new(&path)?.write_all(text.as_bytes());
    write().map_err(Error::io("write", &path))
}

/// Whether the `.config` has this text.
pub(crate) fn is_still(make: &Make<'_>, text: &str) -> Result<bool, Error> {
    Ok(read(make)? == text)
}

/// What Kconfig makes of the text of a `.config`: it stands among the objects, too.
pub(crate) fn completed(make: &Make<'_>, text: &str, context: &mut Context<'_>) -> Result<String, Error> {
    put(make, text)?;
    must(make, "olddefconfig", context)?;
    read(make)
}

fn must(make: &Make<'_>, target: &str, context: &mut Context<'_>) -> Result<(), Error> {
    if make.run(&[target], context)? { Ok(()) } else { Err(failure::of(&make.paths)) }
}

fn remove(objects: &Path) -> Result<(), Error> {
    host::remove_beneath(objects, Path::new(CONFIG)).map_err(Error::io("remove", &objects.join(CONFIG)))
}

fn read(make: &Make<'_>) -> Result<String, Error> {
    let mut content = Vec::new();
    let file = made(&make.paths, Path::new(CONFIG))?;
    let path = make.paths.objects.join(CONFIG);
    let limit = files::CONFIG.bytes;
    file.take(limit + 1).read_to_end(&mut content).map_err(Error::io("read", &path))?;
    if content.len() as u64 > limit {
        return Err(kernel::Error::TooLarge { path, what: files::CONFIG.what, limit }.into());
    }
    Ok(String::from_utf8_lossy(&content).into_owned())
}

/// The base with the assignments in place of its own lines for the same options.
fn merged(base: &str, assignments: &[Assignment]) -> String {
    let names = assignments.iter().map(|assignment| assignment.name.as_str()).collect();
    replaced(base, &names, assignments.iter().map(Assignment::to_string))
}

/// A configuration with other lines in place of those for some options.
pub(crate) fn replaced(base: &str, names: &HashSet<&str>, by: impl Iterator<Item = String>) -> String {
    let is_kept = |line: &&str| option_of(line).is_none_or(|name| !names.contains(name));
    let lines = base.lines().filter(is_kept).map(str::to_owned);
    lines.chain(by).flat_map(|line| [line, "\n".to_owned()]).collect()
}

/// The option that a line of a `.config` is about.
pub(crate) fn option_of(line: &str) -> Option<&str> {
    let line = line.strip_prefix("# ").unwrap_or(line).strip_prefix("CONFIG_")?;
    line.split(['=', ' ']).next()
}

/// What the tree's Kconfig files say for an architecture.
pub(crate) fn symbols(tree: &Path, arch: Arch) -> Result<Symbols, Error> {
    let (srcarch, subarch) = match arch {
        Arch::X86_64 => ("x86", "x86"),
        Arch::Um => ("um", "x86_64"),
    };
    let variables: Variables = [
        ("ARCH", arch.to_string()),
        ("SRCARCH", srcarch.to_owned()),
        ("SUBARCH", subarch.to_owned()),
        ("HEADER_ARCH", "x86".to_owned()),
        ("srctree", ".".to_owned()),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect();
    let tree = Tree::new(tree).map_err(Error::io("look at", tree))?;
    let symbols = Symbols::read(&variables, &mut |path| tree.text(path));
    symbols.map_err(|error| Error::Kconfig(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(text: &str) -> Part {
        Part { name: "mine".to_owned(), text: text.to_owned() }
    }

    #[test]
    fn what_is_asked_for_replaces_what_the_base_says() {
        let asked =
            Asked::read(&[part("CONFIG_A=y\n# CONFIG_B is not set\n"), part("CONFIG_A=m\n")]).unwrap();
        let text = merged("# head\nCONFIG_A=n\nCONFIG_AB=y\n# CONFIG_B is not set\n", &asked.assignments);
        assert_eq!(text, "# head\nCONFIG_AB=y\nCONFIG_B=n\nCONFIG_A=m\n");
    }

    #[test]
    fn a_mark_makes_the_next_option_optional() {
        let asked = Asked::read(&[part("# optional: since 6.2\nCONFIG_NEW=y\nCONFIG_OLD=y\n")]).unwrap();
        let optional = asked.assignments.iter().map(|assignment| asked.is_optional(assignment));
        assert_eq!(optional.collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn a_typo_is_told_with_its_line() {
        let error = Asked::read(&[part("CONFIG_A=y\nCONFIG_B y\n")]).unwrap_err();
        assert!(error.to_string().contains("mine:2"), "{error}");
        assert!(error.is_usage());
    }
}

//! A build that was asked for: the same is built once.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::SignedDuration;
use kernel::store::{FORMAT, persist_json, read_json};
use kernel::{Context, Kernel, Locator, PartsHash, Record, builds, entry};

use crate::Error;
use crate::collect;
use crate::configure::{Asked, Configured, configure, is_still, put};
use crate::earlier::Earlier;
use crate::failure::{self, Paths};
use crate::make::{self, Make};
use crate::recipe::{Configuration, Recipe};
use crate::sandbox::note_missing_sandbox;
use crate::source::{Source, Tree};
use crate::toolchain::Toolchain;
use crate::warnings::Warnings;
use crate::work::Work;

/// Space below which no build is begun, in MiB: a checkout takes most of it.
const SPACE_MIB: u64 = 2048;

/// What is kept beside the objects of a work directory: another kiln that keeps less does not build in it.
const WORK_FORMAT: &str = "warnings";

/// What a build is made of.
pub(crate) struct Request {
    pub(crate) source: Source,
    pub(crate) recipe: Recipe,
    pub(crate) configuration: Configuration,
    asked: Asked,
    pub(crate) toolchain: Toolchain,
}

/// Builds what `locator` names, unless the very same is kept already.
///
/// # Errors
///
/// When there is no such source or configuration, when something that builds need is missing, and when
/// make fails.
pub fn build(locator: &Locator, recipe: &Recipe, context: &mut Context<'_>) -> Result<Kernel, Error> {
    let request = Request::new(locator, recipe, context)?;
    let kernel = request.build(context)?;
    Ok(Kernel { commit: request.source.commit, ..kernel })
}

/// The tree that a locator and a recipe name, checked out, for whoever builds something else from it.
///
/// # Errors
///
/// As [`build`], as far as it has to do with the source.
pub fn source_tree(
    locator: &Locator,
    recipe: &Recipe,
    context: &mut Context<'_>,
) -> Result<SourceTree, Error> {
    let source = Request::new(locator, recipe, context)?.source;
    let tree = source.place(context)?;
    Ok(SourceTree { path: tree.path.clone(), _source: source, _tree: tree })
}

/// A kernel's source that stays as it is as long as this lives.
#[derive(Debug)]
pub struct SourceTree {
    /// Its top.
    pub path: PathBuf,
    _source: Source,
    _tree: Tree,
}

/// Rounded up: no build takes 0 s.
fn whole_seconds(took: Duration) -> SignedDuration {
    SignedDuration::from_secs(took.as_secs().saturating_add(1).try_into().unwrap_or(i64::MAX))
}

fn require_space(context: &Context<'_>) -> Result<(), Error> {
    let path = context.store.builds().entry("");
    match host::free_mib(&path) {
        Some(free) if free < SPACE_MIB => Err(Error::NoSpace { path, free, needed: SPACE_MIB }),
        _ => Ok(()),
    }
}

impl Request {
    /// Checks the user's words and the host before anything is fetched.
    pub(crate) fn new(locator: &Locator, recipe: &Recipe, context: &mut Context<'_>) -> Result<Self, Error> {
        let configuration = Configuration::read(recipe)?;
        let asked = Asked::read(&configuration.parts)?;
        let toolchain = Toolchain::find(&recipe.variables, context)?;
        let source = Source::find(locator, context)?;
        Ok(Self { source, recipe: recipe.clone(), configuration, asked, toolchain })
    }

    /// What is equal here gives the same Kernel. That options may go unmet makes no difference: only where
    /// none did is an answer kept.
    fn key(&self) -> String {
        self.identity(&format!("{:?}", self.configuration))
    }

    /// What is equal here and has the same source gives the same `.config`.
    fn asked_of_kconfig(&self) -> String {
        let mut hash = PartsHash::default();
        hash.part(FORMAT.to_le_bytes());
        hash.part(format!("{:?}", self.configuration));
        self.hash_tools(&mut hash);
        hash.finish()
    }

    /// Where builds compile that may share objects.
    pub(crate) fn enter(&self, context: &mut Context<'_>) -> Result<Work, Error> {
        let mut hash = PartsHash::default();
        hash.part(WORK_FORMAT);
        hash.part(&self.source.origin);
        hash.part(self.recipe.configurations.join(","));
        self.hash_tools(&mut hash);
        Work::enter(&context.store.work(), hash, context)
    }

    fn hash_tools(&self, hash: &mut PartsHash) {
        hash.part(self.recipe.arch.to_string());
        hash.part(&self.toolchain.identity);
        self.recipe.variables.iter().for_each(|variable| hash.part(variable));
    }

    /// The same source and tools with this configuration, as Kconfig gave it for a Kernel.
    fn identity(&self, config: &str) -> String {
        let mut hash = PartsHash::default();
        hash.part(FORMAT.to_le_bytes());
        hash.part(&self.source.identity);
        hash.part(config);
        self.hash_tools(&mut hash);
        hash.finish()
    }

    fn build(&self, context: &mut Context<'_>) -> Result<Kernel, Error> {
        if let Some(kernel) = self.answer(context) {
            return Ok(kernel);
        }
        let begun = Instant::now();
        require_space(context)?;
        let work = self.enter(context)?;
        // Another kiln may have built it while this one waited.
        let built = match self.answer(context) {
            Some(kernel) => Ok(kernel),
            None => self.make(&work, begun, context),
        };
        work.leave(built)
    }

    /// The Kernel that an equal request got.
    fn answer(&self, context: &Context<'_>) -> Option<Kernel> {
        let identity: String = read_json(&context.store.asked(&self.key()))?;
        builds::open(&identity, context)
    }

    fn make(&self, work: &Work, begun: Instant, context: &mut Context<'_>) -> Result<Kernel, Error> {
        loop {
            if let Some(kernel) = self.attempt(work, begun, context)? {
                return Ok(kernel);
            }
        }
    }

    /// Builds it; nothing if it was configured as before, and not as it would be now.
    fn attempt(
        &self,
        work: &Work,
        begun: Instant,
        context: &mut Context<'_>,
    ) -> Result<Option<Kernel>, Error> {
        let tree = self.source.place(context)?;
        let (objects, log) = (work.objects()?, work.log());
        let make = self.begin(&tree.path, &objects, &log)?;
        let Configured { text, unmet, changed } = self.configure(&make, work, context)?;
        let (identity, is_granted) = (self.identity(&text), unmet.is_empty());
        let shelf = context.store.builds();
        let is_new = builds::open(&identity, context).is_none();
        if is_new {
            let compiled = self.compile(&make, changed.as_deref(), context);
            let diagnostics = failure::diagnostics(&make.paths)?;
            let warnings = Warnings::update(&work.warnings(), &make.paths, &diagnostics)?;
            compiled?;
            if changed.is_some() && !is_still(&make, &text)? {
                // A tool that Kconfig asks is another one by now, and make has asked Kconfig by itself.
                Earlier::forget(&work.earlier())?;
                return Ok(None);
            }
            self.source.is_unchanged(context)?;
            let record = self.record(&unmet, warnings.count());
            self.keep(&make, &record, &shelf.entry(&identity), context)?;
        }
        // What was not granted now may be granted once another tool is installed.
        if is_granted {
            let path = context.store.asked(&self.key());
            persist_json(&path, &identity).map_err(Error::io("write", &path))?;
        }
        let gone = || kernel::Error::NoSuchBuild { identity: identity.clone() };
        let kernel = builds::open(&identity, context).ok_or_else(gone)?;
        context.note(&self.summary(&kernel, is_new.then(|| begun.elapsed()), &unmet));
        Ok(Some(kernel))
    }

    /// What was built, in how long, and what it lacks of what was asked for.
    fn summary(&self, kernel: &Kernel, took: Option<Duration>, unmet: &[String]) -> String {
        let release = kernel.release.as_deref().unwrap_or(&kernel.locator);
        let built = format!("{release}, {}, {} as {}", self.recipe.named(), self.recipe.arch, kernel.locator);
        let built = match took {
            Some(took) => format!("built {built} in {:#}", whole_seconds(took)),
            None => format!("built earlier: {built}"),
        };
        // The reasons are in the record.
        let options: Vec<&str> = unmet.iter().map(|line| line.split(": ").next().unwrap_or(line)).collect();
        if options.is_empty() { built } else { format!("{built}; not granted: {}", options.join(", ")) }
    }

    /// make for this request, with an empty log.
    pub(crate) fn begin<'a>(
        &'a self,
        tree: &'a Path,
        objects: &'a Path,
        log: &'a Path,
    ) -> Result<Make<'a>, Error> {
        // Of an earlier build.
        let _ = std::fs::remove_file(log);
        let (toolchain, variables) = (&self.toolchain, &self.recipe.variables);
        let make = Make { paths: Paths { tree, objects, log }, arch: self.recipe.arch, toolchain, variables };
        make.check_paths()?;
        Ok(make)
    }

    pub(crate) fn configure(
        &self,
        make: &Make<'_>,
        work: &Work,
        context: &mut Context<'_>,
    ) -> Result<Configured, Error> {
        note_missing_sandbox(&mut context.caller());
        let asked = self.asked_of_kconfig();
        let known = self.source.git_tree().map(|tree| (tree, work.earlier()));
        if let Some((tree, path)) = &known
            && let Some((text, changed)) = Earlier::of(path, &asked, &self.source, context)?
        {
            put(make, &text)?;
            Earlier::keep(path, tree, &asked, &text)?;
            return Ok(Configured { text, unmet: Vec::new(), changed: Some(changed) });
        }
        let configured = configure(make, &self.configuration, &self.asked, context)?;
        if !configured.unmet.is_empty() && !self.recipe.allow_unmet {
            return Err(Error::Unmet { options: configured.unmet });
        }
        if let Some((tree, path)) = known.filter(|_| configured.unmet.is_empty()) {
            Earlier::keep(&path, tree, &asked, &configured.text)?;
        }
        Ok(configured)
    }

    /// Compiles everything. What differs `since` the last build here need not be prepared or counted if it is little.
    fn compile(
        &self,
        make: &Make<'_>,
        since: Option<&[String]>,
        context: &mut Context<'_>,
    ) -> Result<(), Error> {
        let image = make.paths.objects.join(make::image_in(self.recipe.arch));
        let is_little = since.is_some_and(|paths| !paths.iter().any(|path| path.ends_with(".h")));
        let total = match is_little && image.is_file() {
            true => None,
            false => Some(self.prepare(make, context)?),
        };
        let done = make.watched("all", total, context)?;
        if done && image.is_file() { Ok(()) } else { Err(failure::of(&make.paths)) }
    }

    /// Makes what everything else depends on, and gives the number of files that are left.
    fn prepare(&self, make: &Make<'_>, context: &mut Context<'_>) -> Result<usize, Error> {
        context.progress("preparing the tree");
        if make.run(&["prepare"], context)? {
            make.count("all", context)
        } else {
            Err(failure::of(&make.paths))
        }
    }

    fn keep(
        &self,
        make: &Make<'_>,
        record: &Record,
        place: &Path,
        context: &mut Context<'_>,
    ) -> Result<(), Error> {
        let shelf = context.store.builds();
        let lock = shelf.lock(&mut context.caller())?;
        if entry::open(place, "").is_some() {
            // Another configuration led another kiln to the same meanwhile.
            return Ok(());
        }
        let workshop = shelf.workshop(&lock)?;
        let entry = workshop.path().join("entry");
        collect::collect(make, &entry, record, context)?;
        Ok(shelf.publish(&lock, &entry, place)?)
    }

    fn record(&self, unmet: &[String], warnings: usize) -> Record {
        Record {
            source: self.source.title.clone(),
            source_identity: self.source.identity.clone(),
            configurations: self.recipe.configurations.clone(),
            unmet: unmet.to_vec(),
            compiler: self.toolchain.identity.clone(),
            variables: self.recipe.variables.clone(),
            all_warnings: Some(warnings as u64),
            date: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
            arch: self.recipe.arch,
        }
    }
}

#[cfg(test)]
mod tests;

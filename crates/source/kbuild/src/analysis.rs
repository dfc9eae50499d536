//! Static analysis of files of the source, by the analysers that are installed: Documentation/dev-tools/testing-overview.rst.
//!
//! A [`Tool`] is an analyser. `compiled` knows with which flags a compiler read a file, so that the others read it alike; `calls` are made
//! for each file, and `jobs` runs several at a time. Their `output` becomes [`Finding`]s, which are put together by `gather`.

mod calls;
mod compiled;
mod finding;
mod gather;
mod jobs;
mod output;
mod place;
mod tool;
mod unread;

use std::collections::BTreeSet;
use std::path::Path;

use kernel::{Context, Locator};

use crate::Error;
use crate::failure;
use crate::recipe::Recipe;
use crate::recompile::is_below;
use crate::request::{Request, source_tree};
use crate::warnings::Warnings;
use crate::work::Work;

use calls::{Call, of_file, of_semantic_patches};
use compiled::{Compiled, flags, including};
pub use finding::Finding;
use gather::gather;
use jobs::run;
use place::Place;
pub use tool::Tool;
pub use unread::Unread;

/// Most objects that are analysed because they include a header.
const INCLUDING_MAX: usize = 50;

/// Folders with programs of the host, which are compiled in other ways.
const NOT_OF_KERNEL: [&str; 2] = ["tools", "scripts"];

/// Why nothing is said of an object.
const NOT_COMPILED: &str = "it does not compile in this configuration";

/// Why nothing is said of a header.
const NOT_INCLUDED: &str = "no object that was compiled here includes it";

/// What is to be analysed.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// By which analysers.
    pub tools: &'a [Tool],
    /// Files, as paths below the tree; those that are not there say nothing.
    pub files: &'a [String],
    /// The objects of an earlier analysis, so that both can be compared. Without them they are those of the files, and up to 50
    /// that include one of the files.
    pub objects: Option<&'a [String]>,
}

/// What analysers found.
#[derive(Debug, Clone, Default)]
pub struct Analysed {
    /// By file and line.
    pub findings: Vec<Finding>,
    /// The analysers that ran, with what they say of their version.
    pub tools: Vec<(Tool, String)>,
    /// The objects that were compiled for it.
    pub objects: Vec<String>,
    /// What analysers could not read.
    pub unread: Vec<Unread>,
}

/// Analyses files of a source. Their objects are compiled with `recipe` for it, so that all that they include is there.
///
/// # Errors
///
/// As for [`build`](crate::build()), but for what compilers and analysers say.
pub fn analyse(
    locator: &Locator,
    recipe: &Recipe,
    scope: Scope<'_>,
    context: &mut Context<'_>,
) -> Result<Analysed, Error> {
    let request = Request::new(locator, recipe, context)?;
    let work = request.enter(context)?;
    let done = compile_and_analyse(&request, scope, &work, context);
    work.leave(done)
}

/// What checkpatch of a source says of patches in the form of mails, for each of them, and nothing of an empty one. Nothing
/// at all if the source has no such script.
///
/// # Errors
///
/// As for [`source_tree`].
pub fn checkpatch(
    locator: &Locator,
    recipe: &Recipe,
    patches: &[String],
    context: &mut Context<'_>,
) -> Result<Option<Vec<Analysed>>, Error> {
    let tree = source_tree(locator, recipe, context)?;
    if !Tool::Checkpatch.is_installed(&tree.path, "") {
        return Ok(None);
    }
    let place = Place { tree: &tree.path, objects: &tree.path, installed: &[] };
    let is_whole = |patch: &&String| !patch.is_empty();
    let calls = patches.iter().filter(is_whole).filter_map(|patch| Call::checkpatch(&tree.path, patch));
    let mut done = run(calls.collect(), place, context)?.into_iter();
    let read = |patch| {
        let of_patch = done.by_ref().take(usize::from(is_whole(&patch)));
        gather(of_patch.collect(), &tree.path)
    };
    Ok(Some(patches.iter().map(read).collect()))
}

fn compile_and_analyse(
    request: &Request,
    scope: Scope<'_>,
    work: &Work,
    context: &mut Context<'_>,
) -> Result<Analysed, Error> {
    let tree = request.source.place(context)?;
    let (place, log) = (work.objects()?, work.log());
    let make = request.begin(&tree.path, &place, &log)?;
    request.configure(&make, work, context)?;
    let (objects, unknown) = match scope.objects {
        Some(objects) => (objects.to_vec(), Vec::new()),
        None => objects_of(scope.files, &place),
    };
    let there: Vec<&str> =
        objects.iter().map(String::as_str).filter(|it| has_source(&tree.path, it)).collect();
    if !there.is_empty() {
        context.progress("compiling objects to analyse them");
        make.objects(&there, context)?;
        Warnings::update(&work.warnings(), &make.paths, &failure::diagnostics(&make.paths)?)?;
    }
    let place = Place { tree: &tree.path, objects: &place, installed: &request.toolchain.installed };
    let compiler = &request.toolchain.compiler;
    let is_installed = |tool: &Tool| tool.is_installed(place.tree, compiler);
    let tools: Vec<Tool> = scope.tools.iter().copied().filter(is_installed).collect();
    let compiled: Vec<Compiled> = there.iter().filter_map(|object| flags(place.objects, object)).collect();
    let of_tool = |tool: &Tool, it: &Compiled| Call::of_compiled(*tool, it, compiler);
    let of_object = |it| tools.iter().filter_map(move |tool| of_tool(tool, it));
    let mut calls: Vec<Call> = compiled.iter().flat_map(of_object).collect();
    let files = scope.files.iter().map(String::as_str).filter(|it| is_readable(&tree.path, it));
    calls.extend(of_files(&tools, &files.collect::<Vec<_>>(), place.tree));
    let done = run(calls, place, context)?;
    let ran: BTreeSet<Tool> =
        done.iter().filter(|done| done.result.failure.is_none()).map(|done| done.call.tool).collect();
    let mut found = gather(done, place.tree);
    let lost = there.iter().filter(|object| !compiled.iter().any(|it| it.object == ***object));
    let lost = lost.map(|object| (*object, NOT_COMPILED));
    let unknown = unknown.iter().map(|header| (header.as_str(), NOT_INCLUDED));
    found.unread.extend(lost.chain(unknown).flat_map(|(about, why)| unread(about, why, &tools)));
    found.tools = ran.into_iter().map(|tool| (tool, tool.version(compiler, context))).collect();
    Ok(Analysed { objects, ..found })
}

/// What analysers that read objects cannot read.
fn unread(about: &str, why: &str, tools: &[Tool]) -> Vec<Unread> {
    let one = |tool: &Tool| Unread { tool: *tool, about: about.to_owned(), why: why.to_owned() };
    tools.iter().filter(|tool| tool.reads_objects()).map(one).collect()
}

/// The objects of files of C and up to 50 that include one of the headers, and the headers that no known object includes.
fn objects_of(files: &[String], place: &Path) -> (Vec<String>, Vec<String>) {
    let own = files.iter().filter_map(|file| Some(format!("{}.o", file.strip_suffix(".c")?)));
    let own: BTreeSet<String> = own.filter(|object| is_of_kernel(object)).collect();
    let headers = files.iter().map(String::as_str).filter(|file| is_header(file) && is_of_kernel(file));
    let headers: Vec<&str> = headers.collect();
    let found = including(place, &headers, &NOT_OF_KERNEL);
    let unknown = headers.iter().zip(&found).filter(|(_, objects)| objects.is_empty());
    let unknown = unknown.map(|(header, _)| (*header).to_owned()).collect();
    let including_one: BTreeSet<String> = found.into_iter().flatten().collect();
    let others = including_one.into_iter().filter(|object| !own.contains(object)).take(INCLUDING_MAX);
    let all: BTreeSet<String> = others.chain(own.iter().cloned()).collect();
    (all.into_iter().filter(|object| is_below(object)).collect(), unknown)
}

fn is_of_kernel(path: &str) -> bool {
    !NOT_OF_KERNEL.iter().any(|folder| Path::new(path).starts_with(folder))
}

fn is_header(file: &str) -> bool {
    file.ends_with(".h")
}

fn has_source(tree: &Path, object: &str) -> bool {
    object.strip_suffix(".o").is_some_and(|stem| is_readable(tree, &format!("{stem}.c")))
}

/// A plain file of the tree: a link of a stranger's leads anywhere.
fn is_readable(tree: &Path, file: &str) -> bool {
    host::open_beneath(tree, Path::new(file)).is_ok()
}

/// All calls of analysers that read files by themselves.
fn of_files(tools: &[Tool], files: &[&str], tree: &Path) -> Vec<Call> {
    let sources: Vec<&str> =
        files.iter().copied().filter(|file| file.ends_with(".c") || is_header(file)).collect();
    let of_tool =
        |tool: &Tool| sources.iter().filter_map(|file| of_file(*tool, tree, file)).collect::<Vec<_>>();
    let mut calls: Vec<Call> = tools.iter().flat_map(of_tool).collect();
    if tools.contains(&Tool::Coccinelle) && !sources.is_empty() {
        calls.extend(of_semantic_patches(tree, &sources));
    }
    calls
}

#[cfg(test)]
mod tests;

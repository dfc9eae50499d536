//! What static analysers say of the files that patches touch, before and after.

use std::collections::BTreeMap;

use history::{Repository, blame, mail};
use judge::signature::masked;
use kbuild::analysis::{Analysed, Finding, Scope, Tool, Unread, analyse, checkpatch};
use kernel::Context;
use ledger::Progress;

use crate::Error;
use crate::document::{Analysis, Commit, NewFinding, SeriesCheck};
use crate::environment::{Emit, Environment};
use crate::findings::{Matched, matched};
use crate::request::CheckRequest;

/// Most new findings whose patch is looked for; each takes a call of git.
const BLAMED_MAX: usize = 100;

/// Most files that are analysed; cppcheck may take minutes for one.
const FILES_MAX: usize = 300;

/// What is analysed, and where.
pub(crate) struct Analysers<'a> {
    pub(crate) request: &'a CheckRequest,
    pub(crate) environment: &'a Environment<'a>,
}

impl Analysers<'_> {
    /// Analyses the files at the base and at the last patch, and the patches themselves; nothing if nothing is asked for.
    pub(crate) fn compare(&self, found: &SeriesCheck, emit: Emit<'_>) -> Result<Option<Analysis>, Error> {
        let wanted = self.request.analysers.tools();
        let Some(last) = found.patches.last().filter(|_| !wanted.is_empty()) else { return Ok(None) };
        let tree = self.request.patches.repository();
        let ends = [found.base.hash.as_str(), last.hash.as_str()];
        let (repository, all) =
            self.environment.with_store(emit, |context| -> Result<_, history::Error> {
                Ok((Repository::open(&tree, context)?.origin(), history::files(&tree, ends, context)?))
            })?;
        let mut files: Vec<String> = all.iter().filter(|file| is_source(file)).cloned().collect();
        let too_many = files.len().saturating_sub(FILES_MAX);
        files.truncate(FILES_MAX);
        let scope = Scope { tools: wanted, files: &files, objects: None };
        let after = self.at(last, scope, emit)?;
        let before = self.at(&found.base, Scope { objects: Some(&after.objects), ..scope }, emit)?;
        let unread = OnOneSide::of(before.unread, after.unread);
        let Matched { new, fixed, outstanding } =
            matched(unread.without_hidden(before.findings), unread.without_hidden(after.findings));
        let mut left_out = left_out(&unread.all);
        if too_many > 0 {
            left_out.push(format!("{too_many} of {} files are not analysed", files.len() + too_many));
        }
        left_out.extend(all.iter().find(|file| is_analyser(file)).map(|file| {
            format!("the patches change {file}: what is new or fixed may be so in the script alone")
        }));
        let ran = |tool: &Tool| after.tools.iter().any(|(ran, _)| ran == tool);
        let missing = wanted.iter().copied().filter(|tool| !tool.is_on_host() && !ran(tool)).collect();
        let mut analysis = Analysis {
            repository: repository.into(),
            missing,
            files: files.len(),
            new: self.with_patches(new, found, emit)?,
            fixed,
            outstanding,
            left_out,
            tools: after.tools,
        };
        if wanted.contains(&Tool::Checkpatch) {
            self.patches(found, &mut analysis, emit)?;
        }
        let (new, fixed) = (analysis.new.len(), analysis.fixed.len());
        emit(Progress::Known(format!("static analysis: {new} new findings, {fixed} fixed")));
        Ok(Some(analysis))
    }

    fn at(&self, commit: &Commit, scope: Scope<'_>, emit: Emit<'_>) -> Result<Analysed, Error> {
        let (wanted, recipe) = (self.request.kernel(&commit.hash), self.request.build.recipe());
        Ok(self.environment.with_store(emit, |context| analyse(&wanted.locator, &recipe, scope, context))?)
    }

    /// Names the patch that wrote the line of each finding.
    fn with_patches(
        &self,
        new: Vec<Finding>,
        found: &SeriesCheck,
        emit: Emit<'_>,
    ) -> Result<Vec<NewFinding>, Error> {
        let tree = self.request.patches.repository();
        let Some(last) = found.patches.last() else { return Ok(Vec::new()) };
        let patch_of = |finding: &Finding, context: &mut Context<'_>| -> Result<Option<usize>, Error> {
            let (Some(file), Some(line)) = (&finding.file, finding.line) else { return Ok(None) };
            let commit = blame(&tree, [&found.base.hash, &last.hash], (file, line), context)?;
            Ok(commit
                .and_then(|commit| found.patches.iter().position(|patch| patch.hash == commit))
                .map(|at| at + 1))
        };
        self.environment.with_store(emit, |context| {
            let with_patch = |(number, finding): (usize, Finding)| -> Result<NewFinding, Error> {
                let patch = if number < BLAMED_MAX { patch_of(&finding, context)? } else { None };
                Ok(NewFinding { finding, patch })
            };
            new.into_iter().enumerate().map(with_patch).collect()
        })
    }

    /// What checkpatch of the base says of each patch.
    fn patches(&self, found: &SeriesCheck, analysis: &mut Analysis, emit: Emit<'_>) -> Result<(), Error> {
        let tree = self.request.patches.repository();
        let (base, recipe) = (self.request.kernel(&found.base.hash), self.request.build.recipe());
        let said = self.environment.with_store(emit, |context| -> Result<Option<Vec<Analysed>>, Error> {
            let mails: Result<Vec<String>, history::Error> =
                found.patches.iter().map(|patch| mail(&tree, &patch.hash, context)).collect();
            Ok(checkpatch(&base.locator, &recipe, &mails?, context)?)
        })?;
        let Some(said) = said else { return Ok(()) };
        analysis.tools.push((Tool::Checkpatch, String::new()));
        for (number, said) in said.into_iter().enumerate() {
            let of_patch = |finding| NewFinding { finding, patch: Some(number + 1) };
            analysis.new.extend(said.findings.into_iter().map(of_patch));
            analysis.left_out.extend(left_out(&said.unread));
        }
        Ok(())
    }
}

/// Whether analysers can read a file by itself.
fn is_source(file: &str) -> bool {
    file.ends_with(".c") || file.ends_with(".h")
}

/// Whether a file is a part of an analyser that the tree brings.
fn is_analyser(file: &str) -> bool {
    file.contains("kernel-doc") || file.ends_with(".cocci")
}

/// What analysers could not read. What they could not read on one side alone is neither new nor fixed there.
struct OnOneSide {
    all: Vec<Unread>,
    on_one: Vec<Unread>,
}

impl OnOneSide {
    fn of(before: Vec<Unread>, after: Vec<Unread>) -> Self {
        let is_in = |one: &Unread, others: &[Unread]| others.iter().any(|other| is_same(one, other));
        let only_before = before.iter().filter(|one| !is_in(one, &after)).cloned();
        let only_after = after.iter().filter(|one| !is_in(one, &before)).cloned();
        let on_one = only_before.chain(only_after).collect();
        Self { all: after.into_iter().chain(before).collect(), on_one }
    }

    fn without_hidden(&self, findings: Vec<Finding>) -> Vec<Finding> {
        findings
            .into_iter()
            .filter(|finding| !self.on_one.iter().any(|unread| unread.hides(finding)))
            .collect()
    }
}

fn is_same(one: &Unread, other: &Unread) -> bool {
    (one.tool, &one.about, masked(&one.why)) == (other.tool, &other.about, masked(&other.why))
}

/// What analysers could not read: a line for each of them.
fn left_out(unread: &[Unread]) -> Vec<String> {
    let mut of_tools: BTreeMap<Tool, BTreeMap<&str, &str>> = BTreeMap::new();
    for Unread { tool, about, why } in unread {
        of_tools.entry(*tool).or_default().insert(about, why);
    }
    let line = |(tool, all): (Tool, BTreeMap<&str, &str>)| {
        let more = all.len() - 1;
        let (about, why) = all.into_iter().next()?;
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        Some(format!("{} cannot read all of {about}{more}: {why}", tool.name()))
    };
    of_tools.into_iter().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use kbuild::diagnostics::Severity;

    use super::*;

    #[test]
    fn what_was_not_read_has_a_line_for_each_analyser() {
        let unread =
            |tool, about: &str, why: &str| Unread { tool, about: about.to_owned(), why: why.to_owned() };
        let all = [
            unread(Tool::Coccinelle, "null/badzero", "no OCaml"),
            unread(Tool::Coccinelle, "api/odd", "no OCaml"),
            unread(Tool::Coccinelle, "api/odd", "no OCaml"),
            unread(Tool::Gcc, "fs/x.o", "no reason"),
        ];
        let expected = [
            "gcc cannot read all of fs/x.o: no reason",
            "coccinelle cannot read all of api/odd and 1 more: no OCaml",
        ];
        assert_eq!(left_out(&all), expected);
    }

    #[test]
    fn what_was_read_on_one_side_alone_is_neither_new_nor_fixed() {
        let unread =
            |about: &str, why: &str| Unread { tool: Tool::Gcc, about: about.to_owned(), why: why.to_owned() };
        let finding = |about: &str| {
            let about = about.to_owned();
            Finding { about, ..Finding::new(Tool::Gcc, Severity::Warning, "odd") }
        };
        let before =
            vec![unread("fs/x.o", "unknown macro in line 3"), unread("fs/y.o", "it does not compile")];
        let after = vec![unread("fs/x.o", "unknown macro in line 5"), unread("fs/z.o", "it takes too long")];
        let unread = OnOneSide::of(before, after);
        let kept = unread.without_hidden(["fs/x.o", "fs/y.o", "fs/z.o", "fs/a.o"].map(finding).into());
        assert_eq!(
            kept.iter().map(|finding| finding.about.as_str()).collect::<Vec<_>>(),
            ["fs/x.o", "fs/a.o"]
        );
        assert_eq!(
            left_out(&unread.all),
            ["gcc cannot read all of fs/x.o and 2 more: unknown macro in line 3"]
        );
    }
}

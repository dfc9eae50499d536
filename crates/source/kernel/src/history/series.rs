//! The patches of a series as commits.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::HistoryError;
use super::change::{Change, describe};
use super::mail::{self, Letter};
use super::workshop::{Draft, Workshop};
use crate::context::Context;
use crate::error::Error;
use crate::files::{self, Limit};
use crate::git::{self, Repository};

/// Most mails, and most patches, of a series.
const PATCHES_MAX: usize = 1000;

/// A series, or a mail of it.
const SERIES: Limit = Limit { what: "a patch series", bytes: 64 << 20 };

/// What holds patches in a folder; the rest of it is none of kiln's business.
const ENDINGS: [&str; 4] = ["patch", "diff", "mbox", "eml"];

/// A patch, and the name of the file in the workshop that holds it.
type Patch = (Letter, Filed);

/// What git took a mail apart into, as files of the workshop.
struct Filed {
    diff: String,
    message: String,
}

/// Applies the patches in `mail` to `base`, one after the other: a commit for each, the first one first, among
/// kiln's own objects. The same patches on the same base make the same commits.
///
/// `mail` is an mbox, a mail, a plain patch, or a folder of them in the order of their names. Where each
/// subject has a number of its own, as in `[PATCH 3/7]`, that is the order instead. Mails without a patch, such
/// as cover letters, and answers to patches are left out.
///
/// # Errors
///
/// [`HistoryError`] when there is no patch, too many, or one that does not apply; when `mail` cannot be read or
/// is larger than 64 MiB; when `tree` is no repository or lacks `base`.
pub fn apply_series(
    tree: &Path,
    base: &str,
    mail: &Path,
    context: &mut Context<'_>,
) -> Result<Vec<Change>, Error> {
    let repository = Repository::open(tree, context)?;
    let mut parent = repository.require(base, context)?;
    let workshop = Workshop::open(&repository, context)?;
    context.progress(&format!("reading the patches of {}", mail.display()));
    let patches = collect(mail, &workshop, context)?;
    let date = workshop.date_of(&parent, context)?;
    workshop.must(&["read-tree", &parent], |_| {}, context)?;
    let mut changes = Vec::new();
    for (index, (letter, filed)) in patches.iter().enumerate() {
        let (number, count) = (index + 1, patches.len());
        context.progress(&format!("applying patch {number} of {count}: {}", letter.subject));
        if let Some(reason) = refusal(&filed.diff, &workshop, context)? {
            let (subject, base) = (letter.subject.clone(), base.to_owned());
            return Err(HistoryError::DoesNotApply { number, count, subject, reason, base }.into());
        }
        let tree = workshop.must(&["write-tree"], |_| {}, context)?;
        let draft = Draft {
            tree: &tree,
            parent: Some(&parent),
            message: &message(letter, &workshop.path(&filed.message))?,
            author: Some((&letter.name, &letter.mail, letter.date.as_deref().unwrap_or(&date))),
            date: &date,
        };
        parent = workshop.commit(&draft, context)?;
        changes.push(describe(&repository, parent.clone(), context)?);
    }
    Ok(changes)
}

/// Applies a patch to the index, as `git am --3way` does; why not, if it does not fit.
fn refusal(diff: &str, workshop: &Workshop<'_>, context: &mut Context<'_>) -> Result<Option<String>, Error> {
    let exactly = ["apply", "--cached", "--whitespace=nowarn", diff];
    let merging = ["apply", "--cached", "--whitespace=nowarn", "--3way", diff];
    let first = workshop.run(&exactly, |_| {}, context)?;
    if first.success || workshop.run(&merging, |_| {}, context)?.success {
        return Ok(None);
    }
    let mut errors = first.complaint.lines().filter_map(|line| line.strip_prefix("error: "));
    let reason = errors.next().or_else(|| first.complaint.lines().next()).unwrap_or_default();
    Ok(Some(reason.strip_prefix("patch failed: ").unwrap_or(reason).to_owned()))
}

/// The subject and what the mail says below it; git takes no NUL in it.
fn message(letter: &Letter, body: &Path) -> Result<Vec<u8>, Error> {
    let body = if body.exists() { files::read(body, SERIES)? } else { Vec::new() };
    let mut message = format!("{}\n\n", letter.subject).into_bytes();
    message.extend(body.into_iter().filter(|&byte| byte != 0));
    Ok(message)
}

/// The patches of a file or a folder, in the order in which they apply.
fn collect(mail: &Path, workshop: &Workshop<'_>, context: &mut Context<'_>) -> Result<Vec<Patch>, Error> {
    let too_many = || HistoryError::TooManyPatches { path: mail.to_owned(), limit: PATCHES_MAX };
    let paths = if mail.is_dir() { listed(mail)? } else { vec![mail.to_owned()] };
    if paths.len() > PATCHES_MAX {
        return Err(too_many().into());
    }
    let mut reader = Reader { workshop, patches: Vec::new(), mails: 0 };
    let mut bytes = 0;
    for path in &paths {
        let content = files::read(path, SERIES)?;
        bytes += content.len() as u64;
        if bytes > SERIES.bytes {
            return Err(Error::TooLarge { path: mail.to_owned(), what: SERIES.what, limit: SERIES.bytes });
        }
        if reader.mails + mail::count(&content) > PATCHES_MAX {
            return Err(too_many().into());
        }
        reader.read(path, &content, context)?;
    }
    mail::order(&mut reader.patches);
    match reader.patches.len() {
        0 => Err(HistoryError::NoPatch { path: mail.to_owned() }.into()),
        _ => Ok(reader.patches),
    }
}

/// The patches and mails of a folder, by name.
fn listed(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let is_wanted = |path: &PathBuf| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| ENDINGS.contains(&ending)) && path.is_file()
    };
    let entries = fs::read_dir(folder).map_err(Error::io("list", folder))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_wanted).collect();
    paths.sort();
    Ok(paths)
}

/// Takes files apart, with git's own programs for mail.
struct Reader<'a> {
    workshop: &'a Workshop<'a>,
    patches: Vec<Patch>,
    /// How many mails or plain patches were read so far, by which files are named.
    mails: usize,
}

impl Reader<'_> {
    fn read(&mut self, path: &Path, content: &[u8], context: &mut Context<'_>) -> Result<(), Error> {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        if mail::is_mail(content) {
            return self.mailbox(path, &name, content, context);
        }
        let filed = self.file();
        if mail::is_patch(content) {
            self.workshop.write(&filed.diff, content)?;
            self.patches.push((Letter::read("", &name), filed));
        }
        Ok(())
    }

    fn mailbox(
        &mut self,
        path: &Path,
        name: &str,
        content: &[u8],
        context: &mut Context<'_>,
    ) -> Result<(), Error> {
        self.workshop.write("mailbox", content)?;
        let before = self.mails;
        let split = ["mailsplit", "-b", "-d5", &format!("-f{before}"), "-o.", "mailbox"];
        let count = self.workshop.must(&split, |_| {}, context)?;
        for number in 1..=count.parse().unwrap_or(0) {
            let file = self.workshop.path(&format!("{:05}", before + number));
            let mail = File::open(&file).map_err(Error::io("open", &file))?;
            let filed = self.file();
            let take = ["mailinfo", "-k", "--encoding=UTF-8", &filed.message, &filed.diff];
            let from_mail = |command: &mut Command| _ = command.stdin(mail);
            let done = self.workshop.run(&take, from_mail, context)?;
            if !done.success {
                let reason = git::refused(&take, &done.complaint).to_string();
                return Err(HistoryError::Mail { path: path.to_owned(), number, reason }.into());
            }
            if mail::is_patch(&files::read(&self.workshop.path(&filed.diff), SERIES)?) {
                self.patches.push((Letter::read(&done.output, name), filed));
            }
        }
        Ok(())
    }

    fn file(&mut self) -> Filed {
        self.mails += 1;
        Filed { diff: format!("diff-{}", self.mails), message: format!("message-{}", self.mails) }
    }
}

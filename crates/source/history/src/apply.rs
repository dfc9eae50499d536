//! The patches of a series as commits.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use kernel::Context;
use series::{MailInfo, PATCHES_MAX};

use crate::Error;
use crate::change::{Change, describe};
use crate::git::{self, Repository};
use crate::scratch::{Author, Draft, ScratchRepository};
use kernel::files;

/// A patch, and the name of the file in the scratch that holds it.
type Patch = (MailInfo, Filed);

/// What git took a mail apart into, as files of the scratch.
struct Filed {
    diff: String,
    message: String,
}

/// Applies the patches in `mail` to `base`, one after the other: a commit for each, the first one first, among
/// kiln's own objects. The same patches on the same base make the same commits.
///
/// `mail` is an mbox, a mail, a plain patch, or a folder of them in the order of their names. Where each
/// subject has a number of its own, as in `[PATCH 3/7]`, that is the order instead. Mails without a patch, such
/// as cover infos, and answers to patches are left out.
///
/// # Errors
///
/// [`Error`] when there is no patch, too many, or one that does not apply; when `mail` cannot be read or
/// is larger than 64 MiB; when `tree` is no repository or lacks `base`.
pub fn apply_series(
    tree: &Path,
    base: &str,
    mail: &Path,
    context: &mut Context<'_>,
) -> Result<Vec<Change>, Error> {
    let repository = Repository::open(tree, context)?;
    let mut parent = repository.require(base, context)?;
    let scratch = ScratchRepository::open(&repository, context)?;
    context.progress(&format!("reading the patches of {}", mail.display()));
    let patches = collect(mail, &scratch, context)?;
    let date = scratch.date_of(&parent, context)?;
    scratch.must(&["read-tree", &parent], |_| {}, context)?;
    let mut changes = Vec::new();
    for (index, (info, filed)) in patches.iter().enumerate() {
        let (number, count) = (index + 1, patches.len());
        context.progress(&format!("applying patch {number} of {count}: {}", info.subject));
        if let Some(reason) = refusal(&filed.diff, &scratch, context)? {
            let (subject, base) = (info.subject.clone(), base.to_owned());
            return Err(Error::DoesNotApply { number, count, subject, reason, base });
        }
        let tree = scratch.must(&["write-tree"], |_| {}, context)?;
        let draft = Draft {
            tree: &tree,
            parent: Some(&parent),
            message: &message(info, &scratch.path(&filed.message))?,
            author: Some(Author {
                name: &info.name,
                mail: &info.mail,
                date: info.date.as_deref().unwrap_or(&date),
            }),
            date: &date,
        };
        parent = scratch.commit(&draft, context)?;
        changes.push(describe(&repository, parent.clone(), context)?);
    }
    Ok(changes)
}

/// Applies a patch to the index, as `git am --3way` does; why not, if it does not fit.
fn refusal(
    diff: &str,
    scratch: &ScratchRepository<'_>,
    context: &mut Context<'_>,
) -> Result<Option<String>, Error> {
    let exactly = ["apply", "--cached", "--whitespace=nowarn", diff];
    let merging = ["apply", "--cached", "--whitespace=nowarn", "--3way", diff];
    let first = scratch.run(&exactly, |_| {}, context)?;
    if first.success || scratch.run(&merging, |_| {}, context)?.success {
        return Ok(None);
    }
    let mut errors = first.complaint.lines().filter_map(|line| line.strip_prefix("error: "));
    let reason = errors.next().or_else(|| first.complaint.lines().next()).unwrap_or_default();
    Ok(Some(reason.strip_prefix("patch failed: ").unwrap_or(reason).to_owned()))
}

/// The subject and what the mail says below it; git takes no NUL in it.
fn message(info: &MailInfo, body: &Path) -> Result<Vec<u8>, Error> {
    let body = if body.exists() { files::read(body, series::LIMIT)? } else { Vec::new() };
    let mut message = format!("{}\n\n", info.subject).into_bytes();
    message.extend(body.into_iter().filter(|&byte| byte != 0));
    Ok(message)
}

/// The patches of a file or a folder, in the order in which they apply.
fn collect(
    mail: &Path,
    scratch: &ScratchRepository<'_>,
    context: &mut Context<'_>,
) -> Result<Vec<Patch>, Error> {
    let mut reader = Reader { scratch, patches: Vec::new(), mails: 0 };
    for file in &series::read(mail)? {
        if reader.mails + file.mails_max() > PATCHES_MAX {
            return Err(series::Error::TooManyPatches { path: mail.to_owned(), limit: PATCHES_MAX }.into());
        }
        reader.read(file, context)?;
    }
    series::sort(&mut reader.patches);
    match reader.patches.len() {
        0 => Err(series::Error::NoPatch { path: mail.to_owned() }.into()),
        _ => Ok(reader.patches),
    }
}

/// Takes files apart, with git's own programs for mail.
struct Reader<'a> {
    scratch: &'a ScratchRepository<'a>,
    patches: Vec<Patch>,
    /// Mails and plain patches so far.
    mails: usize,
}

impl Reader<'_> {
    fn read(&mut self, file: &series::File, context: &mut Context<'_>) -> Result<(), Error> {
        if file.is_mail() {
            return self.mailbox(file, context);
        }
        let filed = self.file();
        if series::is_patch(&file.content) {
            self.scratch.write(&filed.diff, &file.content)?;
            self.patches.push((MailInfo::parse("", &file.name()), filed));
        }
        Ok(())
    }

    fn mailbox(&mut self, file: &series::File, context: &mut Context<'_>) -> Result<(), Error> {
        self.scratch.write("mailbox", &file.content)?;
        let before = self.mails;
        let split = ["mailsplit", "-b", "-d5", &format!("-f{before}"), "-o.", "mailbox"];
        let count = self.scratch.must(&split, |_| {}, context)?;
        for number in 1..=count.parse().unwrap_or(0) {
            let mail = self.scratch.path(&format!("{:05}", before + number));
            let mail = File::open(&mail).map_err(Error::io("open", &mail))?;
            let filed = self.file();
            let take = ["mailinfo", "-k", "--encoding=UTF-8", &filed.message, &filed.diff];
            let from_mail = |command: &mut Command| _ = command.stdin(mail);
            let done = self.scratch.run(&take, from_mail, context)?;
            if !done.success {
                let reason = git::refused(&take, &done.complaint).to_string();
                return Err(Error::Mail { path: file.path.clone(), number, reason });
            }
            if series::is_patch(&files::read(&self.scratch.path(&filed.diff), series::LIMIT)?) {
                self.patches.push((MailInfo::parse(&done.output, &file.name()), filed));
            }
        }
        Ok(())
    }

    fn file(&mut self) -> Filed {
        self.mails += 1;
        Filed { diff: format!("diff-{}", self.mails), message: format!("message-{}", self.mails) }
    }
}

//! An archive in git: public-inbox-v2-format(5).
//!
//! An archive is a row of repositories, its epochs `git/0.git`, `git/1.git` and so on. Each commit of an epoch brings one
//! mail, the file `m`, or takes one back, which is then the file `d`.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use history::{Object, Objects};
use kernel::Context;
use series::{Index, MAIL_MAX, MAILS_MAX, Mail, Mailbox};

use crate::Error;

/// The mail that a commit brings, and the mail that it takes back: each has one of them.
const NAMES: &str = "%H:m%n%H:d";

/// Most mails of an archive that are looked at, the newest ones: those of some years of the largest list.
const INDEXED_MAX: usize = 4_000_000;

/// After how many mails news of the progress are given.
const NEWS: usize = 20_000;

/// An archive on this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    path: PathBuf,
    /// Its repositories, the newest one first.
    epochs: Vec<PathBuf>,
}

/// Where a mail is.
struct Place {
    epoch: usize,
    object: String,
}

impl Folder {
    /// The archive at `path`: the folder with its epochs, or one epoch. Nothing if it is something else, such as a work tree.
    pub fn at(path: &Path) -> Option<Self> {
        let mut epochs = numbered(&path.join("git"));
        if epochs.is_empty() && is_repository(path) && is_epoch(path) {
            epochs.push(path.to_owned());
        }
        (!epochs.is_empty()).then(|| Self { path: path.to_owned(), epochs })
    }

    /// Its newest mails, as many as a mailbox holds.
    ///
    /// # Errors
    ///
    /// When git cannot read it, and when it has no mails.
    pub fn newest(&self, context: &mut Context<'_>) -> Result<Mailbox, Error> {
        let mut mailbox = Mailbox::default();
        self.each(context, |_, mails, _| {
            mailbox.extend(mails);
            !mailbox.is_full()
        })?;
        if mailbox.mails.is_empty() {
            return Err(Error::NoArchive { path: self.path.clone() });
        }
        if mailbox.is_full() {
            context.note(&format!(
                "{}: the newest {MAILS_MAX} mails are read: name one by its message id to look at all",
                self.path.display()
            ));
        }
        Ok(mailbox)
    }

    /// The thread of the mail with an id, and threads that may hold other revisions of its series; nothing if no mail has
    /// the id.
    ///
    /// # Errors
    ///
    /// When git cannot read it, when it has no mails, and when more belong to a series than a mailbox holds.
    pub fn related(&self, id: &str, context: &mut Context<'_>) -> Result<Option<Mailbox>, Error> {
        let (index, places) = self.index(context)?;
        if index.is_empty() {
            return Err(Error::NoArchive { path: self.path.clone() });
        }
        let Some(related) = index.related(id) else { return Ok(None) };
        drop(index);
        if related.len() > MAILS_MAX {
            return Err(Error::TooManyMails { id: id.to_owned(), limit: MAILS_MAX });
        }
        let places: Vec<&Place> = related.into_iter().filter_map(|place| places.get(place)).collect();
        self.read(&places, context.interrupt).map(Some)
    }

    fn index(&self, context: &mut Context<'_>) -> Result<(Index, Vec<Place>), Error> {
        let mut index = Index::default();
        let mut places = Vec::new();
        self.each(context, |epoch, mails, object| {
            // A mail in a mail is found with the mail around it.
            for mail in mails {
                index.add(&mail);
                places.push(Place { epoch, object: object.to_owned() });
            }
            index.len() < INDEXED_MAX
        })?;
        Ok((index, places))
    }

    /// Shows each mail that was not taken back, the newest ones first, until `look` has seen enough.
    fn each(
        &self,
        context: &mut Context<'_>,
        mut look: impl FnMut(usize, Vec<Mail>, &str) -> bool,
    ) -> Result<(), Error> {
        let mut deleted = HashSet::new();
        let mut seen = 0;
        for (number, epoch) in self.epochs.iter().enumerate() {
            let mut objects = Objects::of_log(NAMES, epoch, MAIL_MAX as u64, context.interrupt)?;
            while let Some(brought) = objects.read()? {
                if let Some(taken_back) = objects.read()?.flatten() {
                    deleted.extend(read(&taken_back, 0).into_iter().take(1).map(|mail| mail.id));
                }
                let Some(brought) = brought else { continue };
                seen += 1;
                if seen % NEWS == 1 {
                    context.progress(&format!("reading {}: {} mails", self.path.display(), seen - 1));
                }
                let mails = read(&brought, seen);
                let is_there = mails.first().is_some_and(|mail| !deleted.contains(&mail.id));
                if is_there && !look(number, mails, &brought.hash) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn read(&self, places: &[&Place], interrupt: &AtomicBool) -> Result<Mailbox, Error> {
        let mut of_epoch: HashMap<usize, Vec<&str>> = HashMap::new();
        for place in places {
            of_epoch.entry(place.epoch).or_default().push(&place.object);
        }
        let mut mailbox = Mailbox::default();
        for (number, epoch) in self.epochs.iter().enumerate() {
            let names = of_epoch.remove(&number).unwrap_or_default();
            let mut objects = Objects::named(names, epoch, MAIL_MAX as u64, interrupt)?;
            while let Some(object) = objects.read()? {
                if let Some(content) = object.and_then(|object| object.content) {
                    mailbox.add(&content);
                }
            }
        }
        Ok(mailbox)
    }
}

/// The mail that an object holds, and the mails in it.
fn read(object: &Object, number: usize) -> Vec<Mail> {
    object.content.as_deref().map_or_else(Vec::new, |content| Mail::read(content, number))
}

/// The repositories `N.git` in a folder, that with the largest number first.
fn numbered(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let number = |path: &Path| path.file_name()?.to_str()?.strip_suffix(".git")?.parse::<u32>().ok();
    let mut epochs: Vec<(u32, PathBuf)> =
        entries.filter(|path| is_repository(path)).filter_map(|path| Some((number(&path)?, path))).collect();
    epochs.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
    epochs.into_iter().map(|(_, path)| path).collect()
}

fn is_repository(path: &Path) -> bool {
    path.join("HEAD").is_file() && path.join("objects").is_dir()
}

/// Whether the newest commit of a repository brings a mail, or takes one back.
fn is_epoch(path: &Path) -> bool {
    // It takes no time that a user would want to stop.
    let never = AtomicBool::new(false);
    let Ok(mut objects) = Objects::named(["HEAD:m", "HEAD:d"], path, MAIL_MAX as u64, &never) else {
        return false;
    };
    std::iter::from_fn(|| objects.read().ok().flatten()).any(|object| object.is_some())
}

#[cfg(test)]
mod tests;

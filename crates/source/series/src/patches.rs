//! The patches of one series, as they apply one after the other.

use std::collections::HashMap;
use std::path::Path;

use crate::Error;
use crate::assemble::{Choice, assemble};
use crate::compose::Composed;
use crate::mail::Mail;
use crate::mailbox::Mailbox;
use crate::revision::Revision;
use crate::series::{Series, series};
use crate::thread::Threads;

/// Most patches of a series.
pub const PATCHES_MAX: usize = 1000;

/// Reads the only series of a mailbox: the patches of its latest revision that are there, in order. Single patches without
/// numbers are in the order in which they lie.
///
/// # Errors
///
/// When it cannot be read, has no patch or too many, and when it has several series.
pub fn patches(path: &Path) -> Result<Vec<Composed>, Error> {
    let mailbox = Mailbox::open(path)?;
    let order: HashMap<String, usize> =
        mailbox.mails.iter().enumerate().map(|(place, mail)| (mail.id.clone(), place)).collect();
    let threads = Threads::new(mailbox.mails);
    let all = series(&threads);
    let found: Vec<&Mail> = match all.as_slice() {
        [] => return Err(Error::NoPatch { path: path.to_owned() }),
        [only] => in_order(&threads, only),
        several if several.iter().all(|series| is_single(&threads, series)) => {
            let mut found: Vec<&Mail> =
                several.iter().flat_map(|series| in_order(&threads, series)).collect();
            found.sort_by_key(|mail| order.get(&mail.id));
            found
        }
        several => return Err(Error::Several { path: path.to_owned(), count: several.len() }),
    };
    if found.len() > PATCHES_MAX {
        return Err(Error::TooManyPatches { path: path.to_owned(), limit: PATCHES_MAX });
    }
    Ok(found.into_iter().map(Composed::of).collect())
}

fn in_order<'a>(threads: &'a Threads, series: &Series) -> Vec<&'a Mail> {
    let assembled = assemble(threads, series, Choice::default());
    assembled.map_or_else(Vec::new, |assembled| assembled.patches.values().map(|patch| patch.mail).collect())
}

/// Whether a series is one patch that has no number.
fn is_single(threads: &Threads, series: &Series) -> bool {
    let mut mails = series.revisions.iter().flat_map(Revision::mails);
    series.revisions.len() == 1 && mails.all(|mail| threads.mails[mail].subject.counter.is_none())
}

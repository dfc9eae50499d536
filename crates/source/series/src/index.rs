//! Which of very many mails belong together, without keeping them.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use crate::mail::Mail;
use crate::series::{links, names};
use crate::sets::Sets;

/// Most mails that a mail is known to answer; those nearest to it count.
const PARENTS_MAX: usize = 20;

/// What is remembered of mails: some dozens of bytes of each. A mail is its place, in the order in which they were added.
///
/// Ids and names are kept as 64-bit hashes with a key of this process, so that nobody can make two of them equal.
#[derive(Debug, Default)]
pub struct Index {
    hasher: RandomState,
    /// The id of each mail, and the ids of what it answers.
    mails: Vec<Refers>,
    /// What tells of which series a mail is, by the place of the mail.
    marks: Vec<(usize, u64)>,
}

#[derive(Debug)]
struct Refers {
    id: u64,
    parents: Box<[u64]>,
}

impl Index {
    /// Remembers a mail, and gives its place.
    pub fn add(&mut self, mail: &Mail) -> usize {
        let place = self.mails.len();
        let id = self.hasher.hash_one(&mail.id);
        let parents = mail.parents.iter().take(PARENTS_MAX).map(|id| self.hasher.hash_one(id)).collect();
        self.mails.push(Refers { id, parents });
        if mail.is_head() {
            let names = names(mail).into_iter().map(|name| self.hasher.hash_one(name));
            let links = links(mail).into_iter().map(|id| self.hasher.hash_one(id));
            self.marks.extend(names.chain(links).chain([id]).map(|mark| (place, mark)));
        }
        place
    }

    /// How many mails were added.
    pub fn len(&self) -> usize {
        self.mails.len()
    }

    /// Whether none was added.
    pub fn is_empty(&self) -> bool {
        self.mails.is_empty()
    }

    /// The places of all mails with an id.
    pub fn find(&self, id: &str) -> Vec<usize> {
        let id = self.hasher.hash_one(id);
        self.mails.iter().enumerate().filter_map(|(place, mail)| (mail.id == id).then_some(place)).collect()
    }

    /// The thread of a mail, and the threads that may hold other revisions of what it holds, in order of their places;
    /// nothing if no mail has the id.
    pub fn related(&self, id: &str) -> Option<Vec<usize>> {
        let mut sets = self.threads();
        let thread = sets.of(*self.find(id).first()?);
        let mut wanted = HashSet::from([thread]);
        let marks: HashSet<u64> =
            self.marks.iter().filter(|(place, _)| sets.of(*place) == thread).map(|&(_, mark)| mark).collect();
        for (place, _) in self.marks.iter().filter(|(_, mark)| marks.contains(mark)) {
            wanted.insert(sets.of(*place));
        }
        Some((0..self.mails.len()).filter(|&place| wanted.contains(&sets.of(place))).collect())
    }

    /// Mails that name one id, their own or another's, are of one thread.
    fn threads(&self) -> Sets {
        Sets::named(self.mails.iter().map(|mail| std::iter::once(&mail.id).chain(&mail.parents)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{Letter, threads};

    fn related(letters: &[Letter<'_>], id: &str) -> Option<String> {
        let mails = threads(letters).mails;
        let mut index = Index::default();
        for mail in &mails {
            index.add(mail);
        }
        assert_eq!(index.len(), mails.len());
        let mut ids: Vec<&str> =
            index.related(id)?.into_iter().map(|place| mails[place].id.as_str()).collect();
        ids.sort_unstable();
        Some(ids.join(" "))
    }

    fn letter<'a>(id: &'a str, subject: &'a str, parent: &'a str, text: &'a str) -> Letter<'a> {
        Letter { id, subject, parent, text, is_patch: subject.contains("1/1"), ..Letter::default() }
    }

    #[test]
    fn a_series_has_its_threads_and_no_other() {
        let letters = [
            letter("a0", "[PATCH 0/1] net: x", "", ""),
            letter("a1", "[PATCH 1/1] net: y", "a0", ""),
            letter("ar", "Re: [PATCH 1/1] net: y", "a1", ""),
            letter("b0@x", "[PATCH v2 0/1] net: x", "", ""),
            letter("br", "Re: [PATCH v2 0/1] net: x", "missing", ""),
            letter("b1", "[PATCH v2 1/1] net: y", "b0@x", ""),
            letter(
                "c0",
                "[PATCH v3 0/1] net: renamed",
                "",
                "Changes since https://lore.example/r/b0@x/ are none",
            ),
            letter("z0", "[PATCH 0/1] mm: z", "", ""),
            letter("zr", "Re: [PATCH 0/1] mm: z", "z0", "see https://lore.example/r/b0@x/"),
        ];
        assert_eq!(related(&letters, "ar").as_deref(), Some("a0 a1 ar b0@x b1"));
        assert_eq!(related(&letters, "b1").as_deref(), Some("a0 a1 ar b0@x b1 c0"));
        assert_eq!(related(&letters, "br").as_deref(), Some("br"), "nothing joins it to the others");
        assert_eq!(related(&letters, "zr").as_deref(), Some("z0 zr"));
        assert_eq!(related(&letters, "none"), None);
    }

    #[test]
    fn a_change_id_joins_what_is_named_otherwise() {
        let letters = [
            letter("a1", "[PATCH 1/1] net: y", "", "change-id: 20250101-thing"),
            letter("b1", "[PATCH v2 1/1] net: other", "", "change-id: 20250101-thing"),
            letter("c1", "[PATCH v2 1/1] net: third", "", "change-id: 20250101-another"),
        ];
        assert_eq!(related(&letters, "b1").as_deref(), Some("a1 b1"));
    }
}

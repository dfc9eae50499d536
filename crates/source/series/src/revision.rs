//! Which patches were sent together.

use std::collections::{BTreeMap, HashMap};

use crate::mail::Mail;
use crate::thread::Threads;

/// How long it takes to send a series, in seconds.
const SENDING_MAX: u64 = 60 * 60;

/// What was sent at once: a cover letter and patches, or one patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    /// 2 of `v2`.
    pub number: u32,
    /// It says `RESEND`.
    pub is_resend: bool,
    /// How many patches it has by its own account.
    pub total: u32,
    /// The mail with the cover letter.
    pub cover: Option<usize>,
    /// The mails with patches, by their number from 1 to `total`; some may be missing.
    pub patches: BTreeMap<u32, usize>,
    /// Mails that came twice, with the same number of a patch; the later one is taken.
    pub superseded: Vec<usize>,
}

impl Revision {
    /// Whether no patch is missing.
    pub fn is_complete(&self) -> bool {
        self.patches.len() == self.total as usize
    }

    /// The mail that speaks for it: the cover letter, or the first patch.
    pub fn head(&self) -> Option<usize> {
        self.cover.or_else(|| self.patches.values().next().copied())
    }

    /// All its mails.
    pub fn mails(&self) -> impl Iterator<Item = usize> + '_ {
        self.cover.into_iter().chain(self.patches.values().copied())
    }
}

/// What patches that were sent together have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    /// They are below one cover letter.
    Cover(usize),
    /// One sender sent them in a thread, with the same `vN` and `/M`. Without a thread they are mails that answer nothing; without
    /// a sender they were not sent yet, as `git format-patch` writes them.
    Loose { thread: Option<usize>, sender: String, number: u32, total: u32, text: String },
}

/// All that was sent at once, in the order in which it was sent.
pub(crate) fn revisions(threads: &Threads) -> Vec<Revision> {
    let mut found: Vec<Revision> = Vec::new();
    let mut places: HashMap<Key, usize> = HashMap::new();
    for mail in patches(threads) {
        let place = Place::of(threads, mail);
        let known = places.get(&place.key).copied().filter(|&known| place.fits(threads, mail, &found[known]));
        let revision = known.unwrap_or_else(|| {
            found.push(place.revision(threads));
            places.insert(place.key.clone(), found.len() - 1);
            found.len() - 1
        });
        found[revision].add(threads, mail, &place);
    }
    for mail in (0..threads.mails.len()).filter(|&mail| is_lone_cover(&threads.mails[mail])) {
        let key = Key::without_thread(&threads.mails[mail]);
        let Some(revision) = places.get(&key).map(|&place| &mut found[place]) else { continue };
        if revision.cover.is_none() && is_soon(threads, mail, revision) {
            revision.cover = Some(mail);
        }
    }
    found
}

/// A cover letter that neither answers nor has a thread.
fn is_lone_cover(mail: &Mail) -> bool {
    let is_numbered = mail.subject.counter.is_some_and(|counter| counter.number == 0 && counter.total > 1);
    is_numbered && !mail.has_patch() && !mail.subject.is_reply && mail.parents.is_empty()
}

/// Who sent a mail; nobody if it was never sent, as what `git format-patch` writes is of the authors.
fn sender(mail: &Mail) -> String {
    if mail.was_sent() { mail.from.address.to_lowercase() } else { String::new() }
}

/// Whether a mail was sent within an hour of those of a revision.
fn is_soon(threads: &Threads, mail: usize, revision: &Revision) -> bool {
    let mail = &threads.mails[mail];
    let mut others = revision.mails().map(|other| &threads.mails[other]);
    !mail.was_sent() || others.all(|other| mail.sent.abs_diff(other.sent) <= SENDING_MAX)
}

impl Key {
    /// That of patches without a thread, which have the sender and the count of this cover letter.
    fn without_thread(cover: &Mail) -> Self {
        Self::Loose {
            thread: None,
            sender: sender(cover),
            number: cover.subject.revision.unwrap_or(1),
            total: cover.subject.counter.map_or(1, |counter| counter.total),
            text: String::new(),
        }
    }
}

/// The mails with patches. An answer to a patch with another patch is a proposal, and counts only where there is nothing else.
fn patches(threads: &Threads) -> Vec<usize> {
    let with_patch = |(index, mail): (usize, &Mail)| mail.has_patch().then_some(index);
    let all: Vec<usize> = threads.mails.iter().enumerate().filter_map(with_patch).collect();
    let sent: Vec<usize> =
        all.iter().copied().filter(|&mail| !threads.mails[mail].subject.is_reply).collect();
    if sent.is_empty() { all } else { sent }
}

/// Where a patch belongs.
struct Place {
    key: Key,
    cover: Option<usize>,
    number: u32,
    total: u32,
}

impl Place {
    fn of(threads: &Threads, mail: usize) -> Self {
        let patch = &threads.mails[mail];
        let total = patch.subject.counter.map_or(1, |counter| counter.total.max(1));
        let (cover, first) = above(threads, mail);
        let said = [Some(mail), cover, first]
            .into_iter()
            .flatten()
            .find_map(|mail| threads.mails[mail].subject.revision);
        let number = said.unwrap_or(1);
        let sender = sender(patch);
        // A patch that is alone is itself again only under the same name.
        let text = if total == 1 { patch.subject.text.to_lowercase() } else { String::new() };
        let is_alone = total > 1 && cover.is_none() && !has_siblings(threads, mail);
        let thread = (!is_alone).then(|| threads.of(mail));
        let loose = Key::Loose { thread, sender, number, total, text };
        Self { key: cover.map_or(loose, Key::Cover), cover, number, total }
    }

    /// Whether a mail can be one more of a revision with the same key. Without a thread, it must have been sent within an hour,
    /// and have another number.
    fn fits(&self, threads: &Threads, mail: usize, revision: &Revision) -> bool {
        if !matches!(self.key, Key::Loose { thread: None, .. }) {
            return true;
        }
        let number = threads.mails[mail].subject.counter.map_or(1, |counter| counter.number.max(1));
        is_soon(threads, mail, revision) && !revision.patches.contains_key(&number)
    }

    fn revision(&self, threads: &Threads) -> Revision {
        let counted = |mail: usize| threads.mails[mail].subject.counter.map(|counter| counter.total);
        let total = self.cover.and_then(counted).unwrap_or_default().max(self.total);
        Revision {
            number: self.number,
            is_resend: false,
            total,
            cover: self.cover,
            patches: BTreeMap::new(),
            superseded: Vec::new(),
        }
    }
}

/// Whether other patches of the same sender and count are in the thread of a patch.
fn has_siblings(threads: &Threads, mail: usize) -> bool {
    let patch = &threads.mails[mail];
    let is_sibling = |&other: &usize| {
        let candidate = &threads.mails[other];
        other != mail
            && candidate.has_patch()
            && !candidate.subject.is_reply
            && is_beside(patch, candidate)
            && candidate.from.address.eq_ignore_ascii_case(&patch.from.address)
    };
    threads.mails_of(threads.of(mail)).iter().any(is_sibling)
}

/// The cover letter of a patch, and the first patch where it answers that.
fn above(threads: &Threads, mail: usize) -> (Option<usize>, Option<usize>) {
    let patch = &threads.mails[mail];
    let mut first = None;
    for above in threads.ancestors(mail) {
        let other = &threads.mails[above];
        if other.has_patch() && !other.subject.is_reply && is_beside(patch, other) {
            first = Some(above);
        } else if is_cover(threads, above, patch) {
            return (Some(above), first);
        } else {
            break;
        }
    }
    (None, first)
}

/// Whether two patches can be of one posting: `2/3` and `1/3`, of one revision as far as both say it.
fn is_beside(patch: &Mail, other: &Mail) -> bool {
    let (Some(one), Some(two)) = (patch.subject.counter, other.subject.counter) else { return false };
    let is_same = match (patch.subject.revision, other.subject.revision) {
        (Some(one), Some(two)) => one == two,
        (Some(number), None) => number == 1,
        (None, _) => true,
    };
    is_same && one.total == two.total && one.number != two.number
}

/// Whether a mail is the cover letter of a patch: it says so by `0/3`; or it shows what the series changes; or it begins
/// the thread, and the same person sent it.
fn is_cover(threads: &Threads, mail: usize, patch: &Mail) -> bool {
    let cover = &threads.mails[mail];
    if cover.has_patch() || cover.subject.is_reply {
        return false;
    }
    match (cover.subject.counter, patch.subject.counter) {
        (Some(cover), Some(patch)) => cover.number == 0 && cover.total == patch.total,
        (Some(cover), None) => cover.number == 0 && cover.total <= 1,
        (None, _) => {
            let is_first =
                cover.parents.is_empty() && cover.from.address.eq_ignore_ascii_case(&patch.from.address);
            cover.has_diffstat() || is_first
        }
    }
}

impl Revision {
    fn add(&mut self, threads: &Threads, mail: usize, place: &Place) {
        let subject = &threads.mails[mail].subject;
        self.is_resend |= subject.is_resend;
        // Patches without numbers, as attachments are, come one after the other.
        let number = subject.counter.map_or_else(|| self.next_free(), |counter| counter.number.max(1));
        self.total = self.total.max(number).max(place.total);
        self.superseded.extend(self.patches.insert(number, mail));
    }

    /// The first number without a patch; of a single patch always 1, since it was sent again.
    fn next_free(&self) -> u32 {
        if self.cover.is_none() {
            return 1;
        }
        (1..).find(|number| !self.patches.contains_key(number)).unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{Letter, threads};

    fn shown(letters: &[Letter<'_>]) -> Vec<String> {
        let threads = threads(letters);
        let name = |mail: Option<usize>| mail.map_or("-".to_owned(), |mail| threads.mails[mail].id.clone());
        let show = |revision: &Revision| {
            let patches: Vec<String> =
                (1..=revision.total).map(|number| name(revision.patches.get(&number).copied())).collect();
            format!("v{} {}: {}", revision.number, name(revision.cover), patches.join(" "))
        };
        revisions(&threads).iter().map(show).collect()
    }

    fn patch<'a>(id: &'a str, subject: &'a str, parent: &'a str) -> Letter<'a> {
        Letter { id, subject, parent, is_patch: true, ..Letter::default() }
    }

    fn talk<'a>(id: &'a str, subject: &'a str, parent: &'a str) -> Letter<'a> {
        Letter { id, subject, parent, ..Letter::default() }
    }

    #[test]
    fn patches_below_a_cover_letter_are_together() {
        let letters = [
            patch("2", "[PATCH 2/2] b", "0"),
            talk("0", "[PATCH 0/2] x", ""),
            talk("r", "Re: [PATCH 0/2] x", "0"),
            patch("1", "[PATCH 1/2] a", "0"),
            patch("p", "Re: [PATCH 1/2] a", "1"),
        ];
        assert_eq!(shown(&letters), ["v1 0: 1 2"]);
    }

    #[test]
    fn each_patch_may_answer_the_one_before() {
        let letters = [
            patch("1", "[PATCH v2 1/3] a", ""),
            patch("2", "[PATCH 2/3] b", "1"),
            patch("3", "[PATCH v2 3/3] c", "2"),
        ];
        assert_eq!(shown(&letters), ["v2 -: 1 2 3"]);
    }

    #[test]
    fn a_revision_in_answer_to_another_is_one_of_its_own() {
        let letters = [
            talk("0", "[PATCH 0/2] x", ""),
            patch("1", "[PATCH 1/2] a", "0"),
            patch("2", "[PATCH 2/2] b", "0"),
            talk("v0", "[PATCH v2 0/1] x", "0"),
            patch("v1", "[PATCH 1/1] a", "v0"),
            patch("w", "[PATCH v3 2/2] b", "2"),
        ];
        assert_eq!(shown(&letters), ["v1 0: 1 2", "v2 v0: v1", "v3 -: - w"]);
    }

    #[test]
    fn patches_without_a_thread_are_together_by_their_numbers() {
        let letters = [
            patch("1", "[PATCH 1/2] a", ""),
            talk("r", "Re: [PATCH 1/2] a", "1"),
            patch("2", "[PATCH 2/2] b", ""),
            patch("x", "[PATCH 1/3] x", ""),
            patch("v1", "[PATCH v2 1/2] a", ""),
            patch("again", "[PATCH 1/2] a", ""),
        ];
        assert_eq!(shown(&letters), ["v1 -: 1 2", "v1 -: x - -", "v2 -: v1 -", "v1 -: again -"]);
        let cover = talk("0", "[PATCH 0/2] x", "");
        assert_eq!(shown(&[cover, letters[0].clone(), letters[2].clone()]), ["v1 0: 1 2"]);
        let sent = patch("1@x", "[PATCH 1/2] a", "");
        let other = |id| Letter { from: "B <b@example.org>", ..patch(id, "[PATCH 2/2] b", "") };
        assert_eq!(shown(&[sent, other("2@x")]), ["v1 -: 1@x -", "v1 -: - 2@x"]);
        assert_eq!(
            shown(&[patch("1", "[PATCH 1/2] a", ""), other("2")]),
            ["v1 -: 1 2"],
            "authors of one tree"
        );
    }

    #[test]
    fn missing_mails_leave_gaps() {
        assert_eq!(
            shown(&[patch("2", "[PATCH 2/3] b", "0"), patch("3", "[PATCH 3/3] c", "0")]),
            ["v1 -: - 2 3"]
        );
        assert_eq!(shown(&[patch("7", "[PATCH 7/1000] b", "0")])[0].matches(" -").count(), 1000);
        assert_eq!(shown(&[patch("6", "[PATCH 6/5] b", "")]), ["v1 -: - - - - - 6"]);
    }

    #[test]
    fn a_patch_that_was_sent_twice_counts_once() {
        let again =
            [patch("1", "[PATCH] a", ""), patch("2", "[PATCH RESEND] a", "1"), patch("3", "[PATCH] b", "1")];
        assert_eq!(shown(&again), ["v1 -: 2", "v1 -: 3"]);
        assert_eq!(revisions(&threads(&again))[0].superseded.len(), 1);
    }

    #[test]
    fn a_letter_without_numbers_is_a_cover_letter_where_its_sender_sent_the_patches() {
        let other = Letter { from: "B <b@example.org>", ..patch("3", "[PATCH 1/1] c", "0") };
        let letters = [
            talk("0", "What I did", ""),
            patch("1", "[PATCH 1/2] a", "0"),
            patch("2", "[PATCH 2/2] b", "0"),
            other,
        ];
        assert_eq!(shown(&letters), ["v1 0: 1 2", "v1 -: 3"]);
    }

    #[test]
    fn answers_with_patches_count_where_there_is_nothing_else() {
        assert_eq!(shown(&[patch("1", "Re: [PATCH 1/1] a", "0")]), ["v1 -: 1"]);
        assert_eq!(shown(&[talk("1", "[PATCH 0/3] a", "")]), [""; 0]);
    }
}

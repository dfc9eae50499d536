//! Which revisions are of one series.

use std::collections::HashMap;

use crate::facts::Facts;
use crate::mail::Mail;
use crate::revision::{Revision, revisions};
use crate::sets::Sets;
use crate::thread::Threads;

/// Most links to other mails that are followed from one text.
const LINKS_MAX: usize = 200;

/// All revisions of a patch series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Series {
    /// By their number, and those of one number by when they were sent; never empty.
    pub revisions: Vec<Revision>,
}

impl Series {
    /// All revisions with a number, or with the highest one; the one to take comes last: it is complete, and was sent last.
    pub fn candidates(&self, number: Option<u32>) -> Vec<&Revision> {
        let number = number.or_else(|| self.revisions.last().map(|last| last.number));
        let mut found: Vec<&Revision> =
            self.revisions.iter().filter(|revision| Some(revision.number) == number).collect();
        found.sort_by_key(|revision| revision.is_complete());
        found
    }

    /// Whether it holds a mail, be it a patch, a cover letter or an answer to them.
    pub fn holds(&self, threads: &Threads, mail: usize) -> bool {
        let above = threads.ancestors(mail);
        let mails: Vec<usize> = self.revisions.iter().flat_map(Revision::mails).collect();
        std::iter::once(mail).chain(above).any(|mail| mails.contains(&mail))
    }
}

/// All series of a mailbox, in the order in which they were sent first.
pub fn series(threads: &Threads) -> Vec<Series> {
    let revisions = revisions(threads);
    let mut sets = joined(threads, &revisions);
    let mut found: Vec<Series> = Vec::new();
    let mut places: HashMap<usize, usize> = HashMap::new();
    for (index, revision) in revisions.into_iter().enumerate() {
        let place = *places.entry(sets.of(index)).or_insert_with(|| {
            found.push(Series { revisions: Vec::new() });
            found.len() - 1
        });
        found[place].revisions.push(revision);
    }
    for series in &mut found {
        series.revisions.sort_by_key(|revision| revision.number);
    }
    found
}

/// Revisions are of one series where they have the same change-id, or the same sender and title, or are different revisions
/// of one sender in one thread, or where one names a mail of the other.
fn joined(threads: &Threads, revisions: &[Revision]) -> Sets {
    let mut sets = Sets::new(revisions.len());
    let mut first: HashMap<String, usize> = HashMap::new();
    let mut in_thread: HashMap<(usize, String), usize> = HashMap::new();
    let mut of_mail: HashMap<usize, usize> = HashMap::new();
    for (index, revision) in revisions.iter().enumerate() {
        of_mail.extend(revision.mails().map(|mail| (mail, index)));
    }
    for (index, revision) in revisions.iter().enumerate() {
        let Some(head) = revision.head() else { continue };
        let mail = &threads.mails[head];
        let sender = mail.from.address.to_lowercase();
        for name in names(mail) {
            sets.join(*first.entry(name).or_insert(index), index);
        }
        let earlier = *in_thread.entry((threads.of(head), sender.clone())).or_insert(index);
        if revisions[earlier].number != revision.number {
            sets.join(earlier, index);
        }
        let linked = links(mail).into_iter().filter_map(|id| threads.find(&id));
        for other in linked.filter_map(|mail| of_mail.get(&mail)) {
            let is_own = revisions[*other]
                .head()
                .is_some_and(|head| threads.mails[head].from.address.to_lowercase() == sender);
            if is_own && revisions[*other].number < revision.number {
                sets.join(*other, index);
            }
        }
    }
    sets
}

/// By what the mail that speaks for a revision names its series: by change-id, and by sender and title.
pub(crate) fn names(mail: &Mail) -> Vec<String> {
    let titled = format!("{} {}", mail.from.address.to_lowercase(), mail.subject.text.to_lowercase());
    let change = Facts::of([mail]).change_id.map(|id| format!("change-id {id}"));
    change.into_iter().chain([titled]).collect()
}

/// The ids of mails that a cover letter or a first patch has links to, also below its `---`.
pub(crate) fn links(mail: &Mail) -> Vec<String> {
    let patch = String::from_utf8_lossy(&mail.patch);
    let below = patch.split("diff --git ").next().unwrap_or_default();
    let text = format!("{} {below}", mail.text).replace("%40", "@");
    let words = text.split(|c: char| c.is_whitespace() || "/<>()[]\"'".contains(c));
    words.filter(|word| word.contains('@')).take(LINKS_MAX).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{Letter, threads};

    fn shown(letters: &[Letter<'_>]) -> Vec<String> {
        let threads = threads(letters);
        let show = |series: &Series| {
            let heads = series.revisions.iter().map(|revision| {
                let head = revision.head().map(|mail| threads.mails[mail].id.as_str());
                format!("v{}={}", revision.number, head.unwrap_or_default())
            });
            heads.collect::<Vec<_>>().join(" ")
        };
        series(&threads).iter().map(show).collect()
    }

    fn patch<'a>(id: &'a str, subject: &'a str, text: &'a str) -> Letter<'a> {
        Letter { id, subject, text, is_patch: true, ..Letter::default() }
    }

    #[test]
    fn revisions_of_new_threads_are_found() {
        let first = patch("1@x", "[PATCH] a", "");
        assert_eq!(shown(&[first.clone(), patch("2@x", "[PATCH v2] A", "")]), ["v1=1@x v2=2@x"]);
        assert_eq!(shown(&[first.clone(), patch("2@x", "[PATCH v2] b", "")]), ["v1=1@x", "v2=2@x"]);
        let by_link = patch("2@x", "[PATCH v2] b", "v1: https://lore.kernel.org/r/1%40x/");
        assert_eq!(shown(&[first.clone(), by_link.clone()]), ["v1=1@x v2=2@x"]);
        let below = "Why.\n---\nv1: https://lore.kernel.org/r/1%40x\nv1 had no tests";
        let below = patch("2@x", "[PATCH v2] b", below);
        assert_eq!(
            shown(&[first.clone(), below]),
            ["v1=1@x v2=2@x"],
            "changes between revisions stand there"
        );
        let stranger = Letter { from: "B <b@example.org>", ..by_link };
        assert_eq!(shown(&[first, stranger]), ["v1=1@x", "v2=2@x"], "anyone can link to a series");
        let one = patch("1@x", "[PATCH] a", "change-id: 2025-a");
        assert_eq!(shown(&[one, patch("2@x", "[PATCH v2] b", "change-id: 2025-a")]), ["v1=1@x v2=2@x"]);
    }

    #[test]
    fn a_thread_may_hold_several_series() {
        let first = patch("1@x", "[PATCH] a", "");
        let second = Letter { parent: "1@x", ..patch("2@x", "[PATCH v2] other words", "") };
        let more = Letter { parent: "1@x", ..patch("3@x", "[PATCH] one more", "") };
        let theirs =
            Letter { parent: "1@x", from: "B <b@example.org>", ..patch("4@x", "[PATCH v3] mine", "") };
        assert_eq!(shown(&[first, second, more, theirs]), ["v1=1@x v2=2@x", "v1=3@x", "v3=4@x"]);
    }

    #[test]
    fn the_complete_one_of_two_is_taken() {
        let letters = [
            patch("1@x", "[PATCH 1/1] a", ""),
            Letter { parent: "0@x", ..patch("2@x", "[PATCH 1/2] a", "") },
        ];
        let threads = threads(&letters);
        let all = series(&threads);
        assert_eq!(all.len(), 1);
        let taken = all[0].candidates(None).pop().expect("one");
        assert_eq!(taken.mails().collect::<Vec<_>>(), [0]);
        assert_eq!(all[0].candidates(Some(2)), [] as [&Revision; 0]);
    }
}

//! One revision of a series as it is to be applied: its patches in order, with what others said of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::compose::Composed;
use crate::facts::Facts;
use crate::mail::Mail;
use crate::patch_id::changes;
use crate::person::Person;
use crate::revision::Revision;
use crate::series::Series;
use crate::thread::Threads;
use crate::trailer::{Trailer, given, trailers};

/// Longest name of files and branches, in characters.
const NAME_MAX: usize = 100;

/// What to take of a mailbox.
#[derive(Debug, Clone, Copy, Default)]
pub struct Choice {
    /// The revision; the latest without it.
    pub revision: Option<u32>,
    /// Take trailers also from mails of other people than they name.
    pub takes_foreign_trailers: bool,
    /// Give each patch the trailers that the cover letter got.
    pub applies_cover_trailers: bool,
    /// Do not fill a revision that lacks patches with those of the one before.
    pub no_partial_reroll: bool,
}

/// A revision, whole as far as its mails are there.
#[derive(Debug)]
pub struct Assembled<'a> {
    /// 2 of `v2`.
    pub number: u32,
    /// How many patches it should have.
    pub total: u32,
    /// The cover letter.
    pub cover: Option<&'a Mail>,
    /// What is there, by number.
    pub patches: BTreeMap<u32, Patch<'a>>,
    /// Trailers for the whole series.
    pub for_all: Vec<Given<'a>>,
    /// Trailers that were not taken.
    pub refused: Vec<Refused<'a>>,
    /// Its base, its name, what it needs.
    pub facts: Facts,
    /// Mails that came again later with the same number.
    pub superseded: Vec<&'a Mail>,
}

/// A patch, and the trailers it gets.
#[derive(Debug)]
pub struct Patch<'a> {
    /// Its mail.
    pub mail: &'a Mail,
    /// The earlier revision it was taken from, since this one leaves it out.
    pub from_revision: Option<u32>,
    /// What others gave for it, without what it has already.
    pub given: Vec<Given<'a>>,
}

/// A trailer that somebody gave.
#[derive(Debug, Clone)]
pub struct Given<'a> {
    /// What was given.
    pub trailer: Trailer,
    /// The answer in which.
    pub by: &'a Mail,
    /// The earlier revision for which it was given; the patch is the same.
    pub from_revision: Option<u32>,
}

/// A trailer that was not taken.
#[derive(Debug, Clone)]
pub struct Refused<'a> {
    /// What was given.
    pub trailer: Trailer,
    /// The answer in which.
    pub by: &'a Mail,
    /// Why not.
    pub reason: Reason,
}

/// Why a trailer was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// It names somebody else than the sender.
    Sender,
    /// It was given for a patch of an earlier revision, which has changed since or is gone.
    Changed(u32),
    /// It was given for all of another revision.
    Cover(u32),
    /// The user wants no trailers of this address.
    Ignored,
}

/// Where a mail stands in its series.
#[derive(Clone, Copy)]
struct Standing {
    revision: u32,
    is_cover: bool,
}

/// Assembles the revision that was chosen; nothing if the series has no such revision.
pub fn assemble<'a>(threads: &'a Threads, series: &Series, choice: Choice) -> Option<Assembled<'a>> {
    let candidates = series.candidates(choice.revision);
    let revision = *candidates.last()?;
    let mail = |index: usize| &threads.mails[index];
    let again = candidates[..candidates.len() - 1].iter().flat_map(|other| other.patches.values());
    let mut assembled = Assembled {
        number: revision.number,
        total: revision.total,
        cover: revision.cover.map(mail),
        patches: revision
            .patches
            .iter()
            .map(|(&number, &index)| (number, Patch::new(mail(index), None)))
            .collect(),
        for_all: Vec::new(),
        refused: Vec::new(),
        facts: Facts::of(revision.cover.into_iter().chain(revision.patches.get(&1).copied()).map(mail)),
        superseded: revision.superseded.iter().chain(again).map(|&index| mail(index)).collect(),
    };
    if !choice.no_partial_reroll {
        assembled.fill(threads, series, revision);
    }
    assembled.collect(threads, series, choice);
    Some(assembled)
}

impl<'a> Patch<'a> {
    fn new(mail: &'a Mail, from_revision: Option<u32>) -> Self {
        Self { mail, from_revision, given: Vec::new() }
    }
}

impl<'a> Assembled<'a> {
    /// The numbers of the patches that are not there.
    pub fn missing(&self) -> Vec<u32> {
        (1..=self.total).filter(|number| !self.patches.contains_key(number)).collect()
    }

    /// The mail that speaks for the series.
    pub fn head(&self) -> Option<&'a Mail> {
        self.cover.or_else(|| self.patches.values().next().map(|patch| patch.mail))
    }

    /// What stands before the subject of a patch, or of the cover letter, which is number 0: `[PATCH v2 1/3]`.
    pub fn prefix(&self, mail: &Mail, number: u32) -> String {
        let rfc = if mail.subject.is_rfc { " RFC" } else { "" };
        let revision = if self.number > 1 { format!(" v{}", self.number) } else { String::new() };
        let is_alone = self.total == 1 && self.cover.is_none();
        let digits = self.total.to_string().len();
        let counter = if is_alone { String::new() } else { format!(" {number:0digits$}/{}", self.total) };
        format!("[PATCH{rfc}{revision}{counter}]")
    }

    /// A name for files and branches, of revision, date and author: `v2_20250101_a_example_org`.
    pub fn name(&self) -> String {
        let Some(head) = self.head() else { return "series".to_owned() };
        let date = jiff::Timestamp::from_second(head.sent).unwrap_or_default().strftime("%Y%m%d");
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
        let author: String = head.from.address.chars().map(plain).collect();
        let revision = if self.number > 1 { format!("v{}_", self.number) } else { String::new() };
        format!("{revision}{date}_{author}").chars().take(NAME_MAX).collect()
    }

    /// A partial re-roll: each patch answers the patch with its number of an earlier revision. What is missing is taken
    /// from there.
    fn fill(&mut self, threads: &'a Threads, series: &Series, revision: &Revision) {
        let mut newer = revision;
        while self.patches.len() < self.total as usize {
            let Some(older) =
                newer.number.checked_sub(1).and_then(|number| series.candidates(Some(number)).pop())
            else {
                return;
            };
            let answers = |(number, mail): (&u32, &usize)| {
                older.patches.get(number).is_some_and(|other| threads.ancestors(*mail).contains(other))
            };
            if newer.total != older.total || newer.patches.is_empty() || !newer.patches.iter().all(answers) {
                return;
            }
            for (&number, &mail) in &older.patches {
                self.patches
                    .entry(number)
                    .or_insert_with(|| Patch::new(&threads.mails[mail], Some(older.number)));
            }
            newer = older;
        }
    }

    /// Gives each patch the trailers of all answers.
    fn collect(&mut self, threads: &'a Threads, series: &Series, choice: Choice) {
        let standing = standing(series);
        let places = Places::of(self);
        let mut taken = Vec::new();
        let of_series: BTreeSet<usize> = standing.keys().map(|&mail| threads.of(mail)).collect();
        for &index in of_series.iter().flat_map(|&thread| threads.mails_of(thread)) {
            let by = &threads.mails[index];
            if standing.contains_key(&index) || by.has_patch() && !by.subject.is_reply {
                continue;
            }
            let answered =
                threads.ancestors(index).into_iter().find_map(|mail| Some((mail, *standing.get(&mail)?)));
            // What came later says nothing of an earlier revision.
            let Some((mail, at)) = answered.filter(|(_, at)| at.revision <= self.number) else { continue };
            let place = places.find(&threads.mails[mail], at);
            for trailer in given(&by.text) {
                let is_own = choice.takes_foreign_trailers || is_of(&trailer, &by.from);
                match (is_own, place) {
                    (true, Ok((number, from_revision))) => {
                        taken.push((number, Given { trailer, by, from_revision }));
                    }
                    (true, Err(reason)) => self.refused.push(Refused { trailer, by, reason }),
                    (false, _) => self.refused.push(Refused { trailer, by, reason: Reason::Sender }),
                }
            }
        }
        self.give(taken, choice.applies_cover_trailers);
    }

    /// First what was given for a patch, then what was given for all.
    fn give(&mut self, taken: Vec<(Option<u32>, Given<'a>)>, to_all: bool) {
        let (for_one, for_all): (Vec<_>, Vec<_>) =
            taken.into_iter().partition(|(number, _)| number.is_some());
        for (_, given) in for_all {
            add(&mut self.for_all, &[], given);
        }
        let mut for_one: Vec<_> =
            for_one.into_iter().filter_map(|(number, given)| Some((number?, given))).collect();
        // What was given for this revision comes before what is carried over.
        for_one.sort_by_key(|(_, given)| given.from_revision.is_some());
        for (number, patch) in &mut self.patches {
            let own = trailers(&Composed::of(patch.mail).message);
            for (_, given) in for_one.iter().filter(|(of, _)| of == number) {
                add(&mut patch.given, &own, given.clone());
            }
            for given in self.for_all.iter().filter(|_| to_all) {
                add(&mut patch.given, &own, given.clone());
            }
        }
    }
}

/// What trailers can be for.
struct Places {
    cover: Option<String>,
    numbers: HashMap<String, u32>,
    /// By what a patch changes.
    same: HashMap<Vec<u8>, u32>,
}

impl Places {
    fn of(assembled: &Assembled<'_>) -> Self {
        let patches = || assembled.patches.iter();
        Self {
            cover: assembled.cover.map(|cover| cover.id.clone()),
            numbers: patches().map(|(&number, patch)| (patch.mail.id.clone(), number)).collect(),
            same: patches().map(|(&number, patch)| (changes(&patch.mail.patch), number)).collect(),
        }
    }

    /// The patch for which an answer to `mail` is, or all, and the revision from which it is carried over.
    fn find(&self, mail: &Mail, at: Standing) -> Result<(Option<u32>, Option<u32>), Reason> {
        if at.is_cover {
            let is_ours = self.cover.as_ref() == Some(&mail.id);
            return if is_ours { Ok((None, None)) } else { Err(Reason::Cover(at.revision)) };
        }
        if let Some(&number) = self.numbers.get(&mail.id) {
            return Ok((Some(number), None));
        }
        let same = self.same.get(&changes(&mail.patch));
        same.map(|&number| (Some(number), Some(at.revision))).ok_or(Reason::Changed(at.revision))
    }
}

fn add<'a>(list: &mut Vec<Given<'a>>, own: &[Trailer], given: Given<'a>) {
    let is_there =
        own.iter().chain(list.iter().map(|other| &other.trailer)).any(|other| other.is_same(&given.trailer));
    if !is_there {
        list.push(given);
    }
}

/// What names no person may come from anybody.
fn is_of(trailer: &Trailer, sender: &Person) -> bool {
    trailer.person().is_none_or(|person| person.matches(sender))
}

fn standing(series: &Series) -> HashMap<usize, Standing> {
    let mut found = HashMap::new();
    for revision in &series.revisions {
        let at = |is_cover| Standing { revision: revision.number, is_cover };
        found.extend(revision.cover.map(|mail| (mail, at(true))));
        found.extend(revision.patches.values().chain(&revision.superseded).map(|&mail| (mail, at(false))));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::series;
    use crate::tests::{Letter, threads};

    const ACK: &str = "Acked-by: B <b@example.org>";

    /// For each patch its id and what it gets, then what was refused.
    fn shown(letters: &[Letter<'_>], choice: Choice) -> Vec<String> {
        let threads = threads(letters);
        let all = series(&threads);
        let assembled = assemble(&threads, &all[0], choice).expect("there");
        let mut lines: Vec<String> = (1..=assembled.total)
            .map(|number| {
                let Some(patch) = assembled.patches.get(&number) else { return "missing".to_owned() };
                let names = patch
                    .given
                    .iter()
                    .map(|given| given.trailer.value.split('<').next().unwrap_or_default().trim());
                let line = format!("{} {}", patch.mail.id, names.collect::<Vec<_>>().join(" "));
                line.trim().to_owned()
            })
            .collect();
        lines.extend(
            assembled.refused.iter().map(|refused| format!("{:?}: {}", refused.reason, refused.by.id)),
        );
        lines
    }

    fn patch<'a>(id: &'a str, subject: &'a str, parent: &'a str) -> Letter<'a> {
        Letter { id, subject, parent, is_patch: true, change: id, ..Letter::default() }
    }

    fn answer<'a>(id: &'a str, parent: &'a str, text: &'a str) -> Letter<'a> {
        Letter { id, from: "B <b@example.org>", subject: "Re: x", parent, text, ..Letter::default() }
    }

    fn two<'a>() -> Vec<Letter<'a>> {
        let cover = Letter { id: "0", subject: "[PATCH 0/2] x", ..Letter::default() };
        vec![cover, patch("1", "[PATCH 1/2] a", "0"), patch("2", "[PATCH 2/2] b", "0")]
    }

    #[test]
    fn answers_give_trailers_to_what_they_answer() {
        let mut letters = two();
        letters.extend([
            answer("r", "1", ACK),
            answer("s", "r", "Tested-by: C <b@example.org>"),
            answer("t", "0", ACK),
        ]);
        assert_eq!(shown(&letters, Choice::default()), ["1 B C", "2"]);
        let to_all = Choice { applies_cover_trailers: true, ..Choice::default() };
        assert_eq!(shown(&letters, to_all), ["1 B C", "2 B"]);
    }

    #[test]
    fn a_trailer_counts_from_whom_it_names() {
        let mut letters = two();
        letters.push(answer("r", "1", "Acked-by: C <c@example.org>\nFixes: 0123456789ab (\"x\")"));
        assert_eq!(shown(&letters, Choice::default()), ["1 0123456789ab (\"x\")", "2", "Sender: r"]);
        let all = Choice { takes_foreign_trailers: true, ..Choice::default() };
        assert_eq!(shown(&letters, all), ["1 C 0123456789ab (\"x\")", "2"]);
    }

    #[test]
    fn a_trailer_is_carried_over_while_the_patch_stays_the_same() {
        let mut letters = two();
        let again = |id, subject, change| Letter { change, ..patch(id, subject, "c") };
        letters.extend([
            answer("r", "1", ACK),
            answer("s", "2", ACK),
            answer("t", "0", ACK),
            Letter { id: "c", subject: "[PATCH v2 0/2] x", ..Letter::default() },
            again("v1", "[PATCH v2 1/2] a", "1"),
            again("v2", "[PATCH v2 2/2] b", "new"),
        ]);
        assert_eq!(shown(&letters, Choice::default()), ["v1 B", "v2", "Changed(1): s", "Cover(1): t"]);
        let first = Choice { revision: Some(1), applies_cover_trailers: true, ..Choice::default() };
        assert_eq!(shown(&letters, first), ["1 B", "2 B"]);
    }

    #[test]
    fn what_a_patch_has_is_not_added_again() {
        let mut letters = two();
        letters[1].text = "Why.\n\nacked-by: B <B@example.org>";
        letters.extend([answer("r", "1", ACK), answer("s", "2", ACK), answer("t", "0", ACK)]);
        let to_all = Choice { applies_cover_trailers: true, ..Choice::default() };
        assert_eq!(shown(&letters, to_all), ["1", "2 B"]);
    }

    #[test]
    fn a_partial_reroll_is_filled_from_the_revision_before() {
        let mut letters = two();
        letters.extend([patch("v2", "[PATCH v2 2/2] b", "2"), patch("w1", "[PATCH v3 1/2] a", "1")]);
        assert_eq!(shown(&letters[..4], Choice::default()), ["1", "v2"]);
        assert_eq!(
            shown(&letters[..4], Choice { no_partial_reroll: true, ..Choice::default() }),
            ["missing", "v2"]
        );
        assert_eq!(shown(&letters, Choice::default()), ["w1", "missing"], "v3 answers v1, not v2");
        let loose = [patch("1", "[PATCH 1/2] a", ""), patch("2", "[PATCH v2 2/2] a", "")];
        assert_eq!(shown(&loose, Choice { revision: Some(1), ..Choice::default() }), ["1", "missing"]);
    }
}

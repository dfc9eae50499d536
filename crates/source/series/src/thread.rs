//! Which mail answers which.

use std::collections::{HashMap, HashSet};

use crate::mail::Mail;
use crate::sets::Sets;

/// How far up a thread is followed.
const ANCESTORS_MAX: usize = 1000;

/// Mails, and what they answer. A mail is its place in `mails`.
#[derive(Debug, Default)]
pub struct Threads {
    /// All mails, those sent first before the others.
    pub mails: Vec<Mail>,
    by_id: HashMap<String, usize>,
    /// The thread of each mail; the number means nothing else.
    threads: Vec<usize>,
    of_thread: HashMap<usize, Vec<usize>>,
}

impl Threads {
    /// Threads of mails in any order.
    pub fn new(mut mails: Vec<Mail>) -> Self {
        mails.sort_by_key(|mail| mail.sent);
        let by_id = mails.iter().enumerate().map(|(index, mail)| (mail.id.clone(), index)).collect();
        let threads = joined(&mails);
        let mut of_thread: HashMap<usize, Vec<usize>> = HashMap::new();
        for (mail, &thread) in threads.iter().enumerate() {
            of_thread.entry(thread).or_default().push(mail);
        }
        Self { mails, by_id, threads, of_thread }
    }

    /// The mail with an id.
    pub fn find(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// What a mail answers, and what that answers, nearest first; each once, also where mails answer each other in a circle.
    /// A missing mail is passed over by what its answer refers to besides.
    pub fn ancestors(&self, mail: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let mut known = HashSet::from([mail]);
        let mut at = mail;
        while found.len() < ANCESTORS_MAX {
            let mut parents = self.mails[at].parents.iter().filter_map(|id| self.find(id));
            let Some(parent) = parents.find(|parent| known.insert(*parent)) else { break };
            found.push(parent);
            at = parent;
        }
        found
    }

    /// The mails of a thread, those sent first before the others.
    pub fn mails_of(&self, thread: usize) -> &[usize] {
        self.of_thread.get(&thread).map_or(&[], Vec::as_slice)
    }

    /// The thread of a mail, though mails between it and others may be missing.
    pub fn of(&self, mail: usize) -> usize {
        self.threads[mail]
    }
}

/// Mails that name one id, their own or another's, are of one thread.
fn joined(mails: &[Mail]) -> Vec<usize> {
    let mut sets = Sets::named(mails.iter().map(|mail| std::iter::once(&mail.id).chain(&mail.parents)));
    (0..mails.len()).map(|index| sets.of(index)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mail(id: &str, parents: &[&str]) -> Mail {
        let parents: Vec<String> = parents.iter().map(|id| format!("<{id}>")).collect();
        let raw = format!("Message-ID: <{id}>\nReferences: {}\n\n", parents.join(" "));
        Mail::read(raw.as_bytes(), 1).remove(0)
    }

    fn ids(threads: &Threads, of: &str) -> String {
        let found = threads.find(of).expect("there");
        threads
            .ancestors(found)
            .into_iter()
            .map(|at| threads.mails[at].id.as_str())
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn a_thread_goes_up_over_missing_mails() {
        let threads = Threads::new(vec![
            mail("c@x", &["a@x", "b@x"]),
            mail("a@x", &[]),
            mail("d@x", &["c@x"]),
            mail("e@x", &["b@x"]),
        ]);
        assert_eq!(ids(&threads, "d@x"), "c@x a@x");
        let at = |id: &str| threads.find(id).expect("there");
        assert_eq!(threads.of(at("e@x")), threads.of(at("a@x")), "both answer b");
        assert_eq!(threads.of(at("e@x")), threads.of(at("d@x")));
    }

    #[test]
    fn mails_that_answer_each_other_end() {
        let threads = Threads::new(vec![mail("a@x", &["b@x"]), mail("b@x", &["a@x"]), mail("c@x", &["c@x"])]);
        assert_eq!(ids(&threads, "a@x"), "b@x");
        assert_eq!(ids(&threads, "c@x"), "");
        let of = |id: &str| threads.of(threads.find(id).expect("there"));
        assert_ne!(of("a@x"), of("c@x"));
    }

    proptest! {
        #[test]
        fn whatever_mails_refer_to_ancestors_are_distinct(edges in proptest::collection::vec((0u8..12, 0u8..12), 0..40)) {
            let mails = (0u8..12).map(|id| {
                let parents: Vec<String> = edges.iter().filter(|edge| edge.0 == id).map(|edge| format!("{}@x", edge.1)).collect();
                mail(&format!("{id}@x"), &parents.iter().map(String::as_str).collect::<Vec<_>>())
            });
            let threads = Threads::new(mails.collect());
            for index in 0..threads.mails.len() {
                let found = threads.ancestors(index);
                let distinct: HashSet<_> = found.iter().collect();
                prop_assert!(distinct.len() == found.len() && !found.contains(&index));
                prop_assert!(found.iter().all(|&other| threads.of(index) == threads.of(other)));
            }
        }
    }
}

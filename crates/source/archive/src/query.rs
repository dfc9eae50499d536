//! How other revisions of a series are searched for.

use series::{Facts, Mail};

/// Most series that are searched for at once; a thread has few.
const TERMS_MAX: usize = 20;

/// A search in public-inbox's language for all mails with the same change-id, or the same sender and title, as mails that
/// speak for a series; nothing if none does.
pub(crate) fn query(mails: &[Mail]) -> Option<String> {
    let mut terms: Vec<String> = Vec::new();
    for mail in mails.iter().filter(|mail| mail.is_head() && is_patch(mail)) {
        let titled = format!("(s:{} AND f:{})", quoted(&mail.subject.text), quoted(&mail.from.address));
        let change =
            Facts::of([mail]).change_id.map(|id| format!("nq:{}", quoted(&format!("change-id: {id}"))));
        for term in change.into_iter().chain([titled]) {
            if terms.len() < TERMS_MAX && !terms.contains(&term) {
                terms.push(term);
            }
        }
    }
    (!terms.is_empty()).then(|| terms.join(" OR "))
}

fn is_patch(mail: &Mail) -> bool {
    mail.has_patch() || mail.subject.counter.is_some() || !mail.subject.prefixes.is_empty()
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mails(raw: &[&str]) -> Vec<Mail> {
        raw.iter().flat_map(|raw| Mail::read(raw.as_bytes(), 1)).collect()
    }

    #[test]
    fn heads_are_searched_for_once() {
        let found = query(&mails(&[
            "From: A <a@x.org>\nSubject: [PATCH 0/2] net: \"it\"\n\nchange-id: 2025-it\n",
            "From: A <a@x.org>\nSubject: [PATCH 2/2] net: second\n\n",
            "From: B <b@x.org>\nSubject: Re: [PATCH 0/2] net: \"it\"\n\n",
            "From: A <a@x.org>\nSubject: [PATCH v2 0/2] net: \"it\"\n\n",
            "From: B <b@x.org>\nSubject: words\n\n",
        ]));
        assert_eq!(
            found.as_deref(),
            Some("nq:\"change-id: 2025-it\" OR (s:\"net:  it \" AND f:\"a@x.org\")")
        );
        assert_eq!(query(&mails(&["Subject: Re: [PATCH] x\n\n"])), None);
    }
}

//! Who vouches for the mails of a series.

use attestation::{Attested, Method, Signature, State};
use serde_json::{Value, json};
use series::{Assembled, Mail};

use crate::safe::safe_line;

/// What is written of a mail that nobody vouches for.
const MISSING: &str = "no";

/// What is the same for all patches of a series, if it is.
pub(crate) fn for_all(assembled: &Assembled<'_>, attested: &Attested) -> Option<Vec<String>> {
    let mut all = assembled.patches.values().map(|patch| lines(patch.mail, attested));
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

/// A line for each signature of a mail.
pub(crate) fn lines(mail: &Mail, attested: &Attested) -> Vec<String> {
    let signatures = attested.of(mail);
    if signatures.is_empty() { vec![MISSING.to_owned()] } else { signatures.iter().map(line).collect() }
}

fn line(signature: &Signature) -> String {
    let method = match signature.method {
        Method::Dkim => "DKIM",
        Method::Developer => "developer",
        Method::OpenPgp => "OpenPGP",
    };
    let (word, reason) = words(&signature.state);
    let reason = reason.map_or(String::new(), |reason| format!(", {reason}"));
    let key = if signature.key.is_empty() { String::new() } else { format!(" (key {})", signature.key) };
    let other = if signature.is_senders { "" } else { "; not the sender" };
    safe_line(&format!("{word}: {method} of {}{key}{reason}{other}", signature.signer))
}

fn words(state: &State) -> (&'static str, Option<&str>) {
    match state {
        State::Good => ("good", None),
        State::Stale(reason) => ("stale", Some(reason)),
        State::Bad(reason) => ("bad", Some(reason)),
        State::UnknownKey(reason) => ("unknown key", Some(reason)),
        State::NotChecked(reason) => ("not checked", Some(reason)),
    }
}

/// The signatures of a mail, for programs.
pub(crate) fn json(mail: &Mail, attested: &Attested) -> Value {
    let one = |signature: &Signature| {
        let method = match signature.method {
            Method::Dkim => "dkim",
            Method::Developer => "developer",
            Method::OpenPgp => "openpgp",
        };
        let (word, reason) = words(&signature.state);
        json!({
            "method": method,
            "signer": signature.signer,
            "key": signature.key,
            "state": word.replace(' ', "-"),
            "reason": reason,
            "is_senders": signature.is_senders,
        })
    };
    attested.of(mail).iter().map(one).collect()
}

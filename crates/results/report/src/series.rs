//! What `kiln series` prints.

use std::fmt::Write;

use ::attestation::Attested;
use history::Base;
use serde_json::{Value, json};
use series::{Assembled, Given, Mail, Pair, Patch, Reason, Refused, Series, Side, Threads};
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};

use crate::attestation;
use crate::safe::{safe, safe_line};
use crate::style::{BOLD, DIM, Paint};

/// What was found out beside the mails.
#[derive(Debug, Default)]
pub struct Findings<'a> {
    /// Who vouches for the patches, if somebody has looked.
    pub attested: Option<&'a Attested>,
    /// The base, if it was looked for, or why it was not found.
    pub base: Option<Result<Base, String>>,
}

/// Prints what was understood of a series: its revisions, the patches of one of them, trailers, and what is not as it should be.
#[must_use]
pub fn series_text(
    series: &Series,
    assembled: &Assembled<'_>,
    findings: &Findings<'_>,
    colour: bool,
) -> String {
    let paint = Paint { colour };
    let mut text = String::new();
    if let Some(head) = assembled.head() {
        let subject = safe_line(&format!("{} {}", assembled.prefix(head, 0), head.subject.text));
        line(&mut text, &paint.paint(BOLD, &subject));
        let date = head.date.as_deref().map_or(String::new(), |date| format!(", {date}"));
        field(&mut text, "from", &format!("{}{date}", head.from));
        if head.was_sent() {
            field(&mut text, "message", &head.id);
        }
    }
    field(&mut text, "revisions", &revisions(series));
    let facts = &assembled.facts;
    field(&mut text, "base", &base_words(assembled, findings));
    if let Some(id) = &facts.change_id {
        field(&mut text, "change-id", id);
    }
    if !facts.prerequisites.is_empty() {
        field(&mut text, "needs", &format!("{} patches before it", facts.prerequisites.len()));
    }
    text.push_str(&signed_text(assembled, findings));
    text.push('\n');
    text.push_str(&patches_text(assembled, findings, colour));
    text
}

/// What is known of a base: where it is in the tree and why, or what the series says.
#[must_use]
pub fn base_words(assembled: &Assembled<'_>, findings: &Findings<'_>) -> String {
    match &findings.base {
        None => assembled.facts.base_commit.clone().unwrap_or_else(|| "not given".to_owned()),
        Some(Err(reason)) => format!("not found: {reason}"),
        Some(Ok(base)) => {
            let why = match base.reason {
                history::Reason::Stated => "as the series says".to_owned(),
                history::Reason::Matching { of: 0, .. } => {
                    "a guess: the series only makes new files".to_owned()
                }
                history::Reason::Matching { found, of } => {
                    format!("a guess: {found} of {of} files are as the series expects")
                }
            };
            format!("{} ({}), {why}", base.commit, base.name)
        }
    }
}

/// Prints who vouches for all patches of a revision alike; nothing where they differ, or if nobody has looked.
#[must_use]
pub fn signed_text(assembled: &Assembled<'_>, findings: &Findings<'_>) -> String {
    let mut text = String::new();
    let lines = findings.attested.and_then(|attested| attestation::for_all(assembled, attested));
    lines.iter().flatten().for_each(|line| field(&mut text, "signed", line));
    text
}

/// Prints the patches of a revision, with the trailers that they get, and what is not as it should be.
#[must_use]
pub fn patches_text(assembled: &Assembled<'_>, findings: &Findings<'_>, colour: bool) -> String {
    let paint = Paint { colour };
    let differing = findings.attested.filter(|attested| attestation::for_all(assembled, attested).is_none());
    let mut text = String::new();
    let digits = assembled.total.to_string().len();
    let mut gap = None;
    for number in 1..=assembled.total + 1 {
        let patch = assembled.patches.get(&number);
        match (patch, gap) {
            // A series of a thousand of which three are there is not worth a thousand lines.
            (None, None) if number <= assembled.total => gap = Some(number),
            (None, _) if number <= assembled.total => {}
            (_, Some(first)) => {
                let numbers = if first == number - 1 {
                    first.to_string()
                } else {
                    format!("{first} to {}", number - 1)
                };
                line(&mut text, &format!("  {numbers} of {}: missing", assembled.total));
                gap = None;
            }
            _ => {}
        }
        if let Some(patch) = patch {
            patch_lines(&mut text, patch, &format!("{number:>digits$}/{}", assembled.total), paint);
            for signed in differing.map(|attested| attestation::lines(patch.mail, attested)).iter().flatten()
            {
                line(&mut text, &format!("      signed: {signed}"));
            }
        }
    }
    for_all(&mut text, assembled);
    refused(&mut text, &assembled.refused);
    for mail in &assembled.superseded {
        line(&mut text, &format!("  sent again, the later one is taken: {}", safe_line(&mail.subject.text)));
    }
    text
}

fn patch_lines(text: &mut String, patch: &Patch<'_>, number: &str, paint: Paint) {
    let from = patch.from_revision.map_or(String::new(), |revision| format!(" (from v{revision})"));
    line(text, &format!("  {number} {}{from}", safe_line(&patch.mail.subject.text)));
    for given in &patch.given {
        let carried =
            given.from_revision.map_or(String::new(), |revision| format!(" (given for v{revision})"));
        line(text, &paint.paint(DIM, &format!("      + {}{carried}", trailer(given))));
    }
}

/// What was given for the cover letter, unless each patch has it.
fn for_all(text: &mut String, assembled: &Assembled<'_>) {
    let is_left = |given: &&Given<'_>| {
        let mut patches = assembled.patches.values();
        !patches.any(|patch| patch.given.iter().any(|other| other.trailer.is_same(&given.trailer)))
    };
    let left: Vec<String> = assembled.for_all.iter().filter(is_left).map(trailer).collect();
    if !left.is_empty() {
        text.push_str(
            "\n  Trailers for the cover letter (--apply-cover-trailers adds them to all patches):\n",
        );
        left.iter().for_each(|trailer| line(text, &format!("    + {trailer}")));
    }
}

fn refused(text: &mut String, refused: &[Refused<'_>]) {
    if refused.is_empty() {
        return;
    }
    text.push_str("\n  Trailers that were not taken:\n");
    for refused in refused {
        let why = match refused.reason {
            Reason::Sender => format!("the mail is from {}; --sloppy-trailers takes it", refused.by.from),
            Reason::Changed(revision) => {
                format!("given for a patch of v{revision} that has changed or is gone")
            }
            Reason::Cover(revision) => format!("given for all of v{revision}"),
            Reason::Ignored => "b4.trailers-ignore-from names this address".to_owned(),
        };
        line(
            text,
            &format!("    ! {}: {}", safe_line(&refused.trailer.name), safe_line(&refused.trailer.value)),
        );
        line(text, &format!("      {}", safe_line(&why)));
    }
}

/// Prints what became of each patch of a revision in another, as `git range-diff` does: `=` the same, `!` changed, `<` gone,
/// `>` new; below a changed one how author, message and changes differ.
#[must_use]
pub fn series_difference(pairs: &[Pair], colour: bool) -> String {
    let paint = Paint { colour };
    let mut text = String::new();
    let number = |side: &Option<Side>| side.as_ref().map_or("-".to_owned(), |side| side.number.to_string());
    for pair in pairs {
        let (sign, subject) = match (&pair.older, &pair.newer) {
            (Some(_), Some(newer)) => (if pair.is_same() { '=' } else { '!' }, &newer.subject),
            (Some(older), None) => ('<', &older.subject),
            (None, Some(newer)) => ('>', &newer.subject),
            (None, None) => continue,
        };
        let head =
            format!("{:>4}: {sign} {:>4}: {}", number(&pair.older), number(&pair.newer), safe_line(subject));
        line(&mut text, &if sign == '=' { paint.paint(DIM, &head) } else { paint.paint(BOLD, &head) });
        if let (Some(older), Some(newer)) = (&pair.older, &pair.newer) {
            changed_lines(&mut text, &older.text, &newer.text);
        }
    }
    text
}

/// The lines that differ, with three around them.
fn changed_lines(text: &mut String, older: &str, newer: &str) {
    let (older, newer): (Vec<&str>, Vec<&str>) = (older.lines().collect(), newer.lines().collect());
    let operations = capture_diff_slices(Algorithm::Myers, &older, &newer);
    for group in group_diff_ops(operations, 3) {
        line(text, "    @@");
        for (tag, old, new) in group.iter().map(DiffOp::as_tag_tuple) {
            let (before, after) =
                if tag == DiffTag::Equal { (&[][..], &newer[new]) } else { (&older[old], &newer[new]) };
            let sign = if tag == DiffTag::Equal { ' ' } else { '+' };
            before.iter().for_each(|each| line(text, &format!("    -{}", safe(each))));
            after.iter().for_each(|each| line(text, &format!("    {sign}{}", safe(each))));
        }
    }
}

/// Lists several series of a mailbox, of which one has to be named.
#[must_use]
pub fn series_list(threads: &Threads, all: &[Series]) -> String {
    let mut text = String::new();
    for series in all {
        let Some(head) = series.candidates(None).last().and_then(|revision| revision.head()) else {
            continue;
        };
        let mail = &threads.mails[head];
        line(
            &mut text,
            &safe_line(&format!("{}  {} ({}; {})", mail.id, mail.subject.text, mail.from, revisions(series))),
        );
    }
    text
}

fn revisions(series: &Series) -> String {
    let each = series.revisions.iter().map(|revision| {
        let (there, total) = (revision.patches.len(), revision.total as usize);
        let count = if there == total { counted(total) } else { format!("{there} of {}", counted(total)) };
        let again = if revision.is_resend { ", resent" } else { "" };
        let cover = if revision.cover.is_some() { " and a cover letter" } else { "" };
        format!("v{} ({count}{cover}{again})", revision.number)
    });
    each.collect::<Vec<_>>().join(", ")
}

fn counted(patches: usize) -> String {
    if patches == 1 { "1 patch".to_owned() } else { format!("{patches} patches") }
}

fn trailer(given: &Given<'_>) -> String {
    safe_line(given.trailer.lines().trim_end())
}

fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

fn field(text: &mut String, name: &str, value: &str) {
    let _ = writeln!(text, "  {name:<10}{}", safe_line(value));
}

fn base_json(base: &Result<Base, String>) -> Value {
    match base {
        Err(reason) => json!({ "error": reason }),
        Ok(Base { commit, name, reason: history::Reason::Stated }) => {
            json!({ "commit": commit, "name": name, "reason": "stated" })
        }
        Ok(Base { commit, name, reason: history::Reason::Matching { found, of } }) => {
            json!({ "commit": commit, "name": name, "reason": "guessed", "found": found, "of": of })
        }
    }
}

/// The same as one JSON object.
#[must_use]
pub fn series_json(series: &Series, assembled: &Assembled<'_>, findings: &Findings<'_>) -> Value {
    let attested = findings.attested;
    let person = |person: &series::Person| json!({ "name": person.name, "address": person.address });
    let mail = |mail: &Mail| {
        json!({
            "message_id": mail.id,
            "subject": mail.subject.text,
            "from": person(&mail.from),
            "date": mail.date,
        })
    };
    let given = |given: &Given<'_>| {
        json!({
            "name": given.trailer.name,
            "value": given.trailer.value,
            "message_id": given.by.id,
            "from_revision": given.from_revision,
        })
    };
    let patch = |(number, patch): (&u32, &Patch<'_>)| {
        let mut value = mail(patch.mail);
        value["number"] = json!(number);
        value["signatures"] = json!(attested.map(|attested| attestation::json(patch.mail, attested)));
        value["from_revision"] = json!(patch.from_revision);
        value["trailers"] = patch.given.iter().map(given).collect();
        value
    };
    let refused = |refused: &Refused<'_>| {
        let reason = match refused.reason {
            Reason::Sender => "sender",
            Reason::Changed(_) => "changed",
            Reason::Cover(_) => "cover",
            Reason::Ignored => "ignored",
        };
        json!({
            "name": refused.trailer.name,
            "value": refused.trailer.value,
            "message_id": refused.by.id,
            "reason": reason,
        })
    };
    json!({
        "revision": assembled.number,
        "revisions": series.revisions.iter().map(|revision| revision.number).collect::<Vec<_>>(),
        "total": assembled.total,
        "missing": assembled.missing(),
        "cover": assembled.cover.map(mail),
        "patches": assembled.patches.iter().map(patch).collect::<Vec<_>>(),
        "refused": assembled.refused.iter().map(refused).collect::<Vec<_>>(),
        "base_commit": assembled.facts.base_commit,
        "base": findings.base.as_ref().map(base_json),
        "change_id": assembled.facts.change_id,
        "prerequisite_patch_ids": assembled.facts.prerequisites,
    })
}

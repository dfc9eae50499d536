//! What kiln reads in a mail must be what was signed: MIME lets a mail show another text than the one below its signature.

use history::MailParts;
use series::{Composed, Facts, Mail, Subject, is_patch};

use crate::canonical::lines;

/// All that a mail says, with its patch.
fn said(mail: &Mail) -> Vec<u8> {
    lines(&[mail.text.as_bytes(), &mail.patch].concat())
}

/// Lines without empty ones, of which readers put more or fewer between parts.
fn filled(text: &[u8]) -> Vec<u8> {
    let lines = lines(text);
    lines.split_inclusive(|&byte| byte == b'\n').filter(|line| *line != b"\r\n").flatten().copied().collect()
}

/// A list may have written something behind what is signed, but nothing that makes a patch or says on what it was made.
pub(crate) fn check_rest(rest: &[u8]) -> Result<(), String> {
    if is_patch(rest) {
        return Err("a patch follows what is signed".to_owned());
    }
    match Facts::parse(&String::from_utf8_lossy(rest)) == Facts::default() {
        true => Ok(()),
        false => Err("a base or an id follows what is signed".to_owned()),
    }
}

/// Whether a mail says what this signed part of it says, and nothing else.
pub(crate) fn check_part(mail: &Mail, part: &[u8]) -> Result<(), String> {
    let signed = Mail::read(part, 1).first().map(said);
    if signed == Some(said(mail)) { Ok(()) } else { Err("not all of its parts are signed".to_owned()) }
}

/// Whether a mail begins with what these signed lines of it say, and has no patch behind them.
pub(crate) fn check_start(mail: &Mail, start: &[u8]) -> Result<(), String> {
    let signed = Mail::read(start, 1).first().map(said).unwrap_or_default();
    let all = said(mail);
    let rest = all.strip_prefix(signed.as_slice()).ok_or("not all of its parts are signed")?;
    check_rest(rest)
}

/// Whether kiln reads a mail as git does. Lines of scissors do not matter, since nothing above them is applied.
pub(crate) fn check_git(mail: &Mail, git: &MailParts) -> Result<(), String> {
    let read = Composed::of(mail);
    let (message, patch) = match mail.has_patch() {
        true => (filled(&git.message), filled(&git.patch)),
        false => (filled(&[git.message.as_slice(), &git.patch].concat()), Vec::new()),
    };
    let (message, ours) = comparable(message, filled(read.message.as_bytes()));
    let above = message.strip_suffix(ours.as_slice());
    let is_whole = above.is_some_and(|above| above.is_empty() || above.ends_with(b"\n"));
    let subject = Subject::parse(&String::from_utf8_lossy(&git.subject)).text;
    let (subject, own_subject) = comparable(subject.into_bytes(), read.subject.clone().into_bytes());
    let is_same = is_whole
        && filled(&read.patch) == patch
        && own_subject == subject
        && read.author.address == git.address
        // Of a mail without a patch the header is shown.
        && (mail.has_patch() || read.subject == mail.subject.text);
    if is_same { Ok(()) } else { Err("git reads another text in it than kiln".to_owned()) }
}

/// What git leaves in the character set of the mail can be compared in its ASCII only.
fn comparable(mut git: Vec<u8>, mut ours: Vec<u8>) -> (Vec<u8>, Vec<u8>) {
    if std::str::from_utf8(&git).is_ok_and(|text| !text.contains(char::REPLACEMENT_CHARACTER)) {
        return (git, ours);
    }
    git.retain(u8::is_ascii);
    ours.retain(u8::is_ascii);
    (git, ours)
}

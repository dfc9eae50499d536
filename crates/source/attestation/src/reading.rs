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

/// A signature proves nothing of a text that nobody sees.
pub(crate) fn check_read(mail: &Mail, body: &[u8]) -> Result<(), String> {
    match said(mail).trim_ascii().is_empty() && !body.trim_ascii().is_empty() {
        true => Err("no text in it is read".to_owned()),
        false => Ok(()),
    }
}

/// Whether a clear-signed text is read as it was signed. Signing puts a mark before lines that begin with a dash: people read
/// over it, and a patch is another one with it.
pub(crate) fn check_clear(mail: &Mail, text: &[u8], signed: &[u8]) -> Result<(), String> {
    let lines = trimmed(text).into_iter().map(|line| if mail.has_patch() { line } else { unmarked(line) });
    match lines.eq(trimmed(signed)) {
        true => Ok(()),
        false => Err("it is read in another way than it was signed".to_owned()),
    }
}

/// A line without the mark, if it is one of those that need it: RFC 4880, 7.1.
fn unmarked(line: &[u8]) -> &[u8] {
    let needs_it = |rest: &&[u8]| rest.starts_with(b"-") || rest.starts_with(b"From ");
    line.strip_prefix(b"- ").filter(needs_it).unwrap_or(line)
}

/// Lines without white space at their ends, which is not signed in clear-signed texts.
fn trimmed(text: &[u8]) -> Vec<&[u8]> {
    text.trim_ascii_end().split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end).collect()
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
    let all = said(mail);
    let signed = Mail::read(start, 1).first().map(said).filter(|signed| !signed.trim_ascii().is_empty());
    let rest = signed.and_then(|signed| all.strip_prefix(signed.as_slice()));
    let rest = rest.ok_or("not all of its parts are signed")?;
    check_rest(rest)
}

/// Whether kiln reads a mail as git does, which leaves lines of scissors and what is above them, and takes fields off the head.
pub(crate) fn check_git(mail: &Mail, git: &MailParts) -> Result<(), String> {
    let read = Composed::of(mail);
    let (message, patch) = match mail.has_patch() {
        true => (filled(&git.message), filled(&git.patch)),
        false => (filled(&[git.message.as_slice(), &git.patch].concat()), Vec::new()),
    };
    let is_whole =
        [&mail.text, &read.message].into_iter().any(|text| is_same(&message, &filled(text.as_bytes())));
    let subject = Subject::parse(&String::from_utf8_lossy(&git.subject)).text;
    let is_read = is_whole
        && filled(&read.patch) == patch
        && is_same(subject.as_bytes(), read.subject.as_bytes())
        && read.author.address == git.address
        // Of a mail without a patch the header is shown.
        && (mail.has_patch() || read.subject == mail.subject.text);
    if is_read { Ok(()) } else { Err("git reads another text in it than kiln".to_owned()) }
}

/// Whether git has the same text. What it leaves in the character set of the mail can be compared in its ASCII only.
fn is_same(git: &[u8], ours: &[u8]) -> bool {
    let is_decoded = std::str::from_utf8(git).is_ok_and(|text| !text.contains(char::REPLACEMENT_CHARACTER));
    let is_compared = |byte: &&u8| is_decoded || byte.is_ascii();
    git.iter().filter(is_compared).eq(ours.iter().filter(is_compared))
}

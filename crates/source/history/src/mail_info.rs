//! What git makes of a mail: git-mailinfo(1).

use std::fs::{self, File};
use std::io::Read;
use std::process::Command;

use kernel::Context;

use crate::Error;
use crate::git::{refused, run};

/// A mail as git takes it apart, in UTF-8.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MailParts {
    /// The name of the author.
    pub author: String,
    /// The address of the author.
    pub address: String,
    /// The subject, without what stands in brackets.
    pub subject: String,
    /// The message of the commit.
    pub message: Vec<u8>,
    /// What follows it.
    pub patch: Vec<u8>,
}

/// Takes a mail apart, without heed to lines of scissors. Its lines may end with CRLF.
///
/// # Errors
///
/// When git is missing, or refuses the mail.
pub fn mail_info(raw: &[u8], context: &mut Context<'_>) -> Result<MailParts, Error> {
    let desk = tempfile::tempdir().map_err(Error::io("make a folder in", &std::env::temp_dir()))?;
    let place = desk.path();
    let path = |name: &str| place.join(name);
    fs::write(path("mail"), without_returns(raw)).map_err(Error::io("write", &path("mail")))?;
    let mail = File::open(path("mail")).map_err(Error::io("open", &path("mail")))?;
    let arguments = ["mailinfo", "--encoding=UTF-8", "--no-scissors", "message", "patch"];
    let reads_mail = |command: &mut Command| {
        command.stdin(mail);
    };
    let done = run(place, &arguments, reads_mail, context)?;
    if !done.success {
        return Err(refused(&arguments, &done.complaint));
    }
    let content = |name: &str| {
        let mut bytes = Vec::new();
        let read = File::open(path(name)).and_then(|mut file| file.read_to_end(&mut bytes));
        read.map(|_| bytes).map_err(Error::io("read", &path(name)))
    };
    let field = |name: &str| {
        let mut lines = done.output.lines().filter_map(|line| line.split_once(':'));
        let value = lines.find(|(key, _)| *key == name).map(|(_, value)| value.trim().to_owned());
        value.unwrap_or_default()
    };
    Ok(MailParts {
        author: field("Author"),
        address: field("Email"),
        subject: field("Subject"),
        message: content("message")?,
        patch: content("patch")?,
    })
}

fn without_returns(raw: &[u8]) -> Vec<u8> {
    let mut lines = Vec::with_capacity(raw.len());
    for line in raw.split_inclusive(|&byte| byte == b'\n') {
        match line.strip_suffix(b"\r\n") {
            Some(line) => lines.extend([line, b"\n"].concat()),
            None => lines.extend(line),
        }
    }
    lines
}

//! What git makes of a mail: git-mailinfo(1).

use std::fs::{self, File};
use std::io::Read;
use std::process::Command;

use kernel::Context;
use series::without_carriage_returns;

use crate::Error;
use crate::git::{refused, task};

/// A mail as git takes it apart: in UTF-8, or in the character set of the mail if git leaves it there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MailParts {
    /// The name of the author.
    pub author: Vec<u8>,
    /// The address of the author.
    pub address: String,
    /// The subject, without what stands in brackets.
    pub subject: Vec<u8>,
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
    fs::write(path("mail"), without_carriage_returns(raw)).map_err(Error::io("write", &path("mail")))?;
    let mail = File::open(path("mail")).map_err(Error::io("open", &path("mail")))?;
    let arguments = ["mailinfo", "--encoding=UTF-8", "--no-scissors", "message", "patch"];
    let reads_mail = |command: &mut Command| {
        command.stdin(mail);
    };
    let log = File::create(path("log")).map_err(Error::io("make", &path("log")))?;
    let done = task(place, &arguments, reads_mail, context).log(log).run(&mut || {})?;
    let content = |name: &str| {
        let mut bytes = Vec::new();
        let read = File::open(path(name)).and_then(|mut file| file.read_to_end(&mut bytes));
        read.map(|_| bytes).map_err(Error::io("read", &path(name)))
    };
    let log = content("log")?;
    if !done.success {
        return Err(refused(&arguments, &String::from_utf8_lossy(&log)));
    }
    let field = |name: &str| {
        let mut lines = log.split(|&byte| byte == b'\n');
        let value = lines.find_map(|line| line.strip_prefix(name.as_bytes())?.strip_prefix(b":"));
        value.map(|value| value.trim_ascii().to_vec()).unwrap_or_default()
    };
    Ok(MailParts {
        author: field("Author"),
        address: String::from_utf8_lossy(&field("Email")).into_owned(),
        subject: field("Subject"),
        message: content("message")?,
        patch: content("patch")?,
    })
}

//! What holds mails: mboxes, maildirs, folders of mails or patches.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use kernel::files::Limit;

use crate::Error;
use crate::files::{File, contents, is_patch, listed};
use crate::from_line::{is_gits, is_separator};
use crate::mail::{MAIL_MAX, Mail};

/// Most mails of a mailbox.
pub const MAILS_MAX: usize = 20_000;

/// Largest mailbox that is read, in bytes.
pub const BYTES_MAX: u64 = 256 << 20;

const LIMIT: Limit = Limit { what: "a mailbox", bytes: BYTES_MAX };

/// The mails of a mailbox.
#[derive(Debug, Default)]
pub struct Mailbox {
    /// Each id once: the first mail with it.
    pub mails: Vec<Mail>,
    /// How many mails were larger than 16 MiB, and so left out.
    pub too_large: usize,
    ids: HashSet<String>,
}

impl Mailbox {
    /// Reads an mbox or a single mail, a maildir, or a folder with files `*.mbox`, `*.eml`, `*.patch`.
    ///
    /// # Errors
    ///
    /// When something cannot be read, with more than 20,000 mails, and above 256 MiB.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let paths = if !path.is_dir() {
            vec![path.to_owned()]
        } else if path.join("cur").is_dir() && path.join("new").is_dir() {
            maildir(path)?
        } else {
            listed(path)?
        };
        Self::of(&contents(paths, path, LIMIT)?, path)
    }

    /// Reads what another program has piped into kiln.
    ///
    /// # Errors
    ///
    /// With more than 20,000 mails.
    pub fn parse(content: impl Into<Vec<u8>>) -> Result<Self, Error> {
        let path = PathBuf::from("-");
        Self::of(&[File { path: path.clone(), content: content.into() }], &path)
    }

    fn of(files: &[File], path: &Path) -> Result<Self, Error> {
        let mut mailbox = Self::default();
        let is_plain = |file: &&File| !file.is_mail() && is_patch(&file.content);
        let (plain, mails): (Vec<&File>, Vec<&File>) = files.iter().partition(is_plain);
        let raw: Vec<&[u8]> = mails.iter().flat_map(|file| split(&file.content)).collect();
        if raw.len() + plain.len() > MAILS_MAX {
            return Err(Error::TooManyMails { path: path.to_owned(), limit: MAILS_MAX });
        }
        for raw in raw {
            mailbox.add(&unescaped(raw));
        }
        for (index, file) in plain.iter().enumerate() {
            mailbox.extend([Mail::plain(&file.name(), &file.content, (index + 1, plain.len()))]);
        }
        Ok(mailbox)
    }

    /// Adds a mail as it was sent, and the mails in it.
    pub fn add(&mut self, raw: &[u8]) {
        self.too_large += usize::from(raw.len() > MAIL_MAX);
        self.extend(Mail::read(raw, self.mails.len() + 1));
    }

    /// Adds mails that have been read.
    pub fn extend(&mut self, mails: impl IntoIterator<Item = Mail>) {
        self.mails.extend(mails.into_iter().filter(|mail| self.ids.insert(mail.id.clone())));
    }

    /// Whether it has as many mails as a mailbox may have.
    pub fn is_full(&self) -> bool {
        self.mails.len() >= MAILS_MAX
    }
}

/// Mails that were read and mails that were not.
fn maildir(path: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut paths = Vec::new();
    for folder in ["cur", "new"] {
        let folder = path.join(folder);
        let entries = fs::read_dir(&folder).map_err(kernel::Error::io("list", &folder))?;
        paths.extend(entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()));
    }
    // Their names begin with when they came.
    paths.sort_by(|one, other| one.file_name().cmp(&other.file_name()));
    Ok(paths)
}

/// The mails of an mbox, each without its `From ` line; a file without such lines is one mail.
fn split(content: &[u8]) -> Vec<&[u8]> {
    let mut mails = Vec::new();
    let (mut start, mut at) = (0, 0);
    let mut was_blank = true;
    for line in content.split_inclusive(|&byte| byte == b'\n') {
        if (was_blank || is_gits(line)) && is_separator(line) {
            mails.push(&content[start..at]);
            start = at + line.len();
        }
        was_blank = line.trim_ascii().is_empty();
        at += line.len();
    }
    mails.push(&content[start..]);
    mails.retain(|mail| !mail.trim_ascii().is_empty());
    mails
}

/// Undoes what mboxes do to lines that begin with `From `.
fn unescaped(mail: &[u8]) -> Vec<u8> {
    let mut lines = Vec::with_capacity(mail.len());
    for line in mail.split_inclusive(|&byte| byte == b'\n') {
        let quotes = line.iter().take_while(|&&byte| byte == b'>').count();
        let is_escaped = quotes > 0 && line[quotes..].starts_with(b"From ");
        lines.extend_from_slice(if is_escaped { &line[1..] } else { line });
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LINE: &str = "From mboxrd@z Thu Jan  1 00:00:00 1970\n";

    fn subjects(content: &str) -> Vec<String> {
        let mails = Mailbox::parse(content.as_bytes()).expect("few").mails;
        mails.into_iter().map(|mail| mail.subject.text).collect()
    }

    #[test]
    fn an_mbox_is_split_where_mails_begin() {
        let two = format!("{LINE}Subject: a\n\nFrom here on: 12\n>From x\n\n{LINE}Subject: b\n\nx\n");
        assert_eq!(subjects(&two), ["a", "b"]);
        let mails = Mailbox::parse(two.as_bytes()).expect("few").mails;
        assert_eq!(mails[0].text, "From here on: 12\nFrom x\n\n");
        let gits = format!("From {} Mon Sep 17 00:00:00 2001\n", "0123456789".repeat(4));
        assert_eq!(
            subjects(&format!("{gits}Subject: a\n\nno blank line\n{gits}Subject: b\n\nx\n")),
            ["a", "b"]
        );
        assert_eq!(subjects("Subject: one\n\nx\n"), ["one"]);
        assert_eq!(subjects(&format!("{LINE}\n{LINE}\n")), [""; 0]);
        assert_eq!(subjects(""), [""; 0]);
    }

    #[test]
    fn each_id_is_read_once() {
        let mail = "Message-ID: <1@x>\nSubject: a\n\n";
        assert_eq!(subjects(&format!("{LINE}{mail}{LINE}\n\n{LINE}{mail}")).len(), 1);
    }

    #[test]
    fn a_maildir_is_read_in_the_order_of_its_mails() {
        let folder = tempfile::tempdir().expect("temporary");
        for (path, subject) in [("cur/2.x:2,S", "b"), ("new/1.x", "a")] {
            fs::create_dir_all(folder.path().join(path).parent().expect("a folder")).expect("writable");
            fs::write(folder.path().join(path), format!("Subject: {subject}\n\n")).expect("writable");
        }
        let mails = Mailbox::open(folder.path()).expect("a maildir").mails;
        assert_eq!(mails.iter().map(|mail| mail.subject.text.as_str()).collect::<String>(), "ab");
        assert!(Mailbox::open(&folder.path().join("none")).is_err());
    }

    proptest! {
        #[test]
        fn nothing_is_lost_between_separators(bodies in proptest::collection::vec("[a-z \n]{0,40}", 1..6)) {
            let mut content = String::new();
            for (index, body) in bodies.iter().enumerate() {
                content += &format!("{LINE}Message-ID: <{index}@x>\n\n{body}\n\n");
            }
            let mails = Mailbox::parse(content.as_bytes()).expect("few").mails;
            prop_assert_eq!(mails.len(), bodies.len());
            for (mail, body) in mails.iter().zip(&bodies) {
                prop_assert_eq!(mail.text.trim(), body.trim());
            }
        }
    }
}

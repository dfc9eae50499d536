//! The files of a mailbox, and what each of them is.

use std::fs;
use std::path::{Path, PathBuf};

use kernel::files::{self, Limit};

use crate::Error;

/// What holds patches in a folder; other files are passed over.
const ENDINGS: [&str; 4] = ["patch", "diff", "mbox", "eml"];

/// A file that may hold mails or a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct File {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// All of it.
    pub(crate) content: Vec<u8>,
}

impl File {
    /// Whether it is a mail or a box of mails, by its first line; otherwise it can only be a plain patch.
    pub(crate) fn is_mail(&self) -> bool {
        let content = self.content.trim_ascii_start();
        let line = content.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let name = line.iter().take_while(|&&byte| byte.is_ascii_graphic() && byte != b':').count();
        // What some tools write above a plain patch looks like a header.
        let is_header = name > 0 && line.get(name) == Some(&b':') && !line.starts_with(b"Index:");
        line.starts_with(b"From ") || is_header
    }

    /// The subject of a patch in it that has none.
    pub(crate) fn name(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// Whether a text holds a patch; quoted ones do not count.
pub fn is_patch(text: &[u8]) -> bool {
    text.split(|&byte| byte == b'\n')
        .any(|line| line.starts_with(b"diff --git ") || line.starts_with(b"@@ -"))
}

/// Files of `path`, all together within the limit.
pub(crate) fn contents(paths: Vec<PathBuf>, path: &Path, limit: Limit) -> Result<Vec<File>, Error> {
    let mut found = Vec::new();
    let mut bytes = 0;
    for file in paths {
        let content = files::read(&file, limit)?;
        bytes += content.len() as u64;
        if bytes > limit.bytes {
            let path = path.to_owned();
            return Err(kernel::Error::TooLarge { path, what: limit.what, limit: limit.bytes }.into());
        }
        found.push(File { path: file, content });
    }
    Ok(found)
}

/// The patches and mails of a folder, by name.
pub(crate) fn listed(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let is_wanted = |path: &PathBuf| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| ENDINGS.contains(&ending)) && path.is_file()
    };
    let entries = fs::read_dir(folder).map_err(kernel::Error::io("list", folder))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_wanted).collect();
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_mail(text: &str) -> bool {
        File { path: PathBuf::new(), content: text.into() }.is_mail()
    }

    #[test]
    fn mails_are_told_from_plain_patches() {
        for text in ["From 1234 Mon Sep 17\n", "\nFrom: x\n", "Subject: x\n", "Return-Path: <x>\n"] {
            assert!(is_mail(text), "{text}");
        }
        for text in ["diff --git a/x b/x\n", "--- a/x:y\n", "Index: x\n", "Some words: here\n", ": x", ""] {
            assert!(!is_mail(text), "{text}");
        }
    }

    #[test]
    fn patches_are_told_from_talk() {
        assert!(is_patch(b"x\n---\n a | 1 +\ndiff --git a/a b/a\n"));
        assert!(is_patch(b"--- a\n+++ a\n@@ -1 +1 @@\n"));
        assert!(!is_patch(b"> diff --git a/a b/a\n> @@ -1 +1 @@\n---\n a | 1 +\n"));
    }
}

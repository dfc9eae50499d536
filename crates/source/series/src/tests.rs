//! Threads for tests.

use crate::mail::Mail;
use crate::thread::Threads;

/// A mail in short; each is sent a minute after the one before it.
#[derive(Clone)]
pub(crate) struct Letter<'a> {
    pub(crate) id: &'a str,
    pub(crate) from: &'a str,
    pub(crate) subject: &'a str,
    /// The mail that it answers; empty if it begins a thread.
    pub(crate) parent: &'a str,
    pub(crate) text: &'a str,
    pub is_patch: bool,
    /// What the patch makes of the file.
    pub(crate) change: &'a str,
}

impl Default for Letter<'_> {
    fn default() -> Self {
        let from = "A <a@example.org>";
        Self { id: "", from, subject: "", parent: "", text: "", is_patch: false, change: "b" }
    }
}

impl Letter<'_> {
    pub(crate) fn mail(&self, minute: usize) -> Mail {
        let parent =
            if self.parent.is_empty() { String::new() } else { format!("In-Reply-To: <{}>\n", self.parent) };
        let change = self.change;
        let patch = format!(
            "---\n\ndiff --git a/a b/a\nindex 7898192..6178079 100644\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+{change}\n"
        );
        let raw = format!(
            "Message-ID: <{}>\nFrom: {}\n{parent}Date: Wed, 1 Jan 2025 10:{minute:02}:00 +0000\nSubject: {}\n\n{}\n{}",
            self.id,
            self.from,
            self.subject,
            self.text,
            if self.is_patch { patch.as_str() } else { "" },
        );
        Mail::read(raw.as_bytes(), minute).remove(0)
    }
}

pub(crate) fn threads(letters: &[Letter<'_>]) -> Threads {
    Threads::new(letters.iter().enumerate().map(|(minute, letter)| letter.mail(minute)).collect())
}

//! What a posting says of itself, in lines that git and b4 write.

use crate::mail::Mail;

/// Most patches that a series can need before it.
const PREREQUISITES_MAX: usize = 1000;

/// On what a series was made, and which series it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// `base-commit:`, in hexadecimal.
    pub base_commit: Option<String>,
    /// `change-id:`, the same for all revisions.
    pub change_id: Option<String>,
    /// `prerequisite-patch-id:`, in order.
    pub prerequisites: Vec<String>,
}

impl Facts {
    /// Reads them from mails; the first that says something holds.
    pub fn of<'a>(mails: impl IntoIterator<Item = &'a Mail>) -> Self {
        let mut facts = Self::default();
        for mail in mails {
            facts.read(&mail.text);
            facts.read(&String::from_utf8_lossy(&mail.patch));
        }
        facts
    }

    /// Reads them from a text.
    pub fn parse(text: &str) -> Self {
        let mut facts = Self::default();
        facts.read(text);
        facts
    }

    fn read(&mut self, text: &str) {
        for line in text.lines() {
            let Some((name, value)) = line.split_once(": ") else { continue };
            let value = value.trim();
            let word = || value.split_whitespace().next().map(str::to_owned);
            match name {
                "base-commit" => self.base_commit = self.base_commit.take().or_else(|| hash(value)),
                "change-id" => self.change_id = self.change_id.take().or_else(word),
                "prerequisite-patch-id" if self.prerequisites.len() < PREREQUISITES_MAX => {
                    self.prerequisites.extend(hash(value).filter(|id| !self.prerequisites.contains(id)));
                }
                _ => {}
            }
        }
    }
}

/// A hash of git, abbreviated or not.
fn hash(text: &str) -> Option<String> {
    let digits: String = text.chars().take_while(char::is_ascii_hexdigit).collect();
    (7..=64).contains(&digits.len()).then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_git_and_b4_are_read() {
        let raw = "Subject: [PATCH] x\n\nbase-commit: none\n change-id: x\n---\nbase-commit: 0123456789abcdef\n\
                   change-id: 2025-thing\nprerequisite-patch-id: aaaaaaaaaa\nprerequisite-patch-id: bbbbbbbbbb\n\
                   diff --git a/a b/a\n@@ -1 +1 @@\n+base-commit: 1111111\nbase-commit: 2222222\n";
        let facts = Facts::of(&Mail::read(raw.as_bytes(), 1));
        assert_eq!(facts.base_commit.as_deref(), Some("0123456789abcdef"));
        assert_eq!(facts.change_id.as_deref(), Some("2025-thing"));
        assert_eq!(facts.prerequisites, ["aaaaaaaaaa", "bbbbbbbbbb"]);
    }
}

//! The header of a mail: text that is not ASCII, as encoded words of RFC 2047, and what says that its body is plain text.

/// The fields that every mail of kiln ends its header with, and the empty line behind it.
pub(crate) const PLAIN_TEXT: &str = "\
MIME-Version: 1.0
Content-Type: text/plain; charset=UTF-8
Content-Transfer-Encoding: 8bit

";

/// Bytes of text in one encoded word: each takes up to three characters, and a word has at most 75.
const WORD: usize = 20;

/// The text as a header may have it. Encoded words are folded: each stands in a line of its own.
pub(crate) fn encoded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let mut words: Vec<String> = Vec::new();
    for c in text.chars() {
        match words.last_mut().filter(|word| word.len() + c.len_utf8() <= WORD) {
            Some(word) => word.push(c),
            None => words.push(c.to_string()),
        }
    }
    words.iter().map(|word| format!("=?UTF-8?Q?{}?=", quoted(word))).collect::<Vec<_>>().join("\n ")
}

/// The `Q` encoding, with only what is allowed wherever an encoded word is.
fn quoted(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b' ' => "_".to_owned(),
        _ if byte.is_ascii_alphanumeric() || b"!*+-/".contains(&byte) => char::from(byte).to_string(),
        _ => format!("={byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn plain_text_stays_and_the_rest_is_encoded() {
        assert_eq!(encoded("boot fails since v6.1"), "boot fails since v6.1");
        assert_eq!(encoded("Jörg Ü."), "=?UTF-8?Q?J=C3=B6rg_=C3=9C=2E?=");
    }

    /// What git reads in such a subject.
    fn read_by_git(header: &str) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let mail = format!("From: a <a@b>\nSubject: {header}\n\nbody\n---\ndiff --git a/x b/x\n");
        std::fs::write(folder.path().join("mail"), mail).expect("writable");
        let mail = std::fs::File::open(folder.path().join("mail")).expect("readable");
        let mut git = std::process::Command::new("git");
        let output =
            git.args(["mailinfo", "-k", "message", "patch"]).current_dir(&folder).stdin(mail).output();
        let said = String::from_utf8(output.expect("git").stdout).expect("UTF-8");
        let subject = said.lines().find_map(|line| line.strip_prefix("Subject: "));
        subject.expect("a subject").to_string()
    }

    #[test]
    fn a_reader_of_mail_gets_the_text_back() {
        for text in ["Ünïcode = a_b? since v6.1 (\"x, y\")", "世界".repeat(40).as_str()] {
            let header = encoded(text);
            assert!(header.is_ascii() && header.lines().all(|line| line.len() <= 76), "{header}");
            assert_eq!(read_by_git(&header), text);
        }
    }

    proptest! {
        #[test]
        fn any_text_becomes_short_lines_of_ascii(text in "[^\r\n]{0,200}") {
            let header = encoded(&text);
            prop_assert!(header.is_ascii());
            prop_assert!(text.is_ascii() || header.lines().all(|line| line.trim().len() <= 75));
        }
    }
}

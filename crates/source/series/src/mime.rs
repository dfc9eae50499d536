//! The texts in a mail, whatever their encoding.

use std::borrow::Cow;

use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::charsets::map::charset_decoder;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use mail_parser::{ContentType, Encoding, Message, MessagePart, MimeHeaders, PartType};

use crate::from_line::is_gits;

/// Most parts of a mail that are looked at.
const PARTS_MAX: usize = 200;

/// A text of a mail: its bytes after transfer decoding, with LF at the ends of lines.
///
/// They are not decoded, because the characters of a patch are those of the files that it changes.
pub(crate) struct Text {
    /// All of it.
    pub(crate) bytes: Vec<u8>,
    charset: Option<String>,
}

impl Text {
    /// A text that no mail carries.
    pub(crate) fn plain(bytes: &[u8]) -> Self {
        Self { bytes: without_carriage_returns(bytes), charset: None }
    }

    /// Bytes of this text as characters.
    pub(crate) fn decoded(&self, bytes: &[u8]) -> String {
        let decoder = self.charset.as_deref().and_then(|charset| charset_decoder(charset.as_bytes()));
        match decoder {
            Some(decode)
                if std::str::from_utf8(bytes).is_err() || !is_superset_of_ascii(self.charset.as_deref()) =>
            {
                decode(bytes)
            }
            _ => String::from_utf8_lossy(bytes).into_owned(),
        }
    }
}

/// What a mail consists of.
pub(crate) struct Parts<'a> {
    /// All plain texts and attached patches, one after the other.
    pub(crate) text: Text,
    /// The mails in the mail, as they are.
    pub(crate) mails: Vec<Cow<'a, [u8]>>,
}

/// Takes a mail apart.
pub(crate) fn parts<'a>(message: &'a Message<'_>) -> Parts<'a> {
    let mut found = Parts { text: Text { bytes: Vec::new(), charset: None }, mails: Vec::new() };
    for part in message.parts.iter().take(PARTS_MAX) {
        if let PartType::Message(inner) = &part.body {
            found.mails.push(inside(message, inner, part));
        } else if is_text(part) {
            found.add(decoded(message, part), part);
        }
    }
    found
}

impl Parts<'_> {
    fn add(&mut self, bytes: Vec<u8>, part: &MessagePart<'_>) {
        let first = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
        if is_gits(first) || is_attachment(part) && begins_mail(first) {
            self.mails.push(Cow::Owned(bytes));
            return;
        }
        let attribute = |name: &str| part.content_type().and_then(|content| content.attribute(name));
        let is_flowed = attribute("format").is_some_and(|format| format.eq_ignore_ascii_case("flowed"));
        let deletes_space = attribute("delsp").is_some_and(|value| value.eq_ignore_ascii_case("yes"));
        if self.text.charset.is_none() {
            self.text.charset = attribute("charset").map(str::to_owned);
        }
        self.text.bytes.extend(if is_flowed { unflowed(&bytes, deletes_space) } else { bytes });
    }
}

/// A mail in a mail. Where it is not encoded, the parser keeps it as a part of the mail around it.
fn inside<'a>(message: &'a Message<'_>, inner: &'a Message<'_>, part: &MessagePart<'_>) -> Cow<'a, [u8]> {
    let (start, end) = (part.offset_body as usize, part.offset_end as usize);
    Cow::Borrowed(match part.encoding {
        Encoding::None => message.raw_message().get(start..end).unwrap_or_default(),
        _ => inner.raw_message(),
    })
}

/// Plain text, or a patch by its type or its name.
fn is_text(part: &MessagePart<'_>) -> bool {
    let Some(content) = part.content_type() else { return matches!(part.body, PartType::Text(_)) };
    let is_plain = content.ctype().eq_ignore_ascii_case("text")
        && content.subtype().is_some_and(|kind| kind.eq_ignore_ascii_case("plain"));
    let is_named =
        part.attachment_name().is_some_and(|name| name.ends_with(".patch") || name.ends_with(".diff"));
    is_plain || is_patch_type(part) || is_named
}

fn is_patch_type(part: &MessagePart<'_>) -> bool {
    let kind = part.content_type().and_then(|content| content.subtype()).unwrap_or_default();
    kind.eq_ignore_ascii_case("x-patch") || kind.eq_ignore_ascii_case("x-diff")
}

/// Whether a part is a file beside the text of a mail.
fn is_attachment(part: &MessagePart<'_>) -> bool {
    let is_marked = part.content_disposition().is_some_and(ContentType::is_attachment);
    is_marked || part.attachment_name().is_some() || is_patch_type(part)
}

/// The first line of a file that `git format-patch` or a mail program has written.
///
/// The text of a mail may begin in this way, too: `git format-patch --from` writes there who is the author.
fn begins_mail(line: &[u8]) -> bool {
    line.starts_with(b"From ") || line.starts_with(b"From: ") || line.starts_with(b"Subject: ")
}

fn decoded(message: &Message<'_>, part: &MessagePart<'_>) -> Vec<u8> {
    let (start, end) = (part.offset_body as usize, part.offset_end as usize);
    let raw = message.raw_message().get(start..end).unwrap_or_default();
    let bytes = match part.encoding {
        Encoding::None => None,
        Encoding::Base64 => base64_decode(raw),
        Encoding::QuotedPrintable => quoted_printable_decode(raw),
    };
    let mut bytes = without_carriage_returns(bytes.as_deref().unwrap_or(raw));
    if bytes.last().is_some_and(|&last| last != b'\n') {
        bytes.push(b'\n');
    }
    bytes
}

/// The text with LF at the ends of lines. `git am` drops carriage returns as well, unless it is told to keep them.
pub fn without_carriage_returns(bytes: &[u8]) -> Vec<u8> {
    let mut lines = Vec::with_capacity(bytes.len());
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        match line.strip_suffix(b"\r\n") {
            Some(line) => lines.extend_from_slice(&[line, b"\n"].concat()),
            None => lines.extend_from_slice(line),
        }
    }
    lines
}

/// Undoes `format=flowed` (RFC 3676): a line that ends in a space goes on in the next, one space is put before lines
/// that begin with one, and `-- ` ends nothing.
fn unflowed(bytes: &[u8], deletes_space: bool) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len());
    let mut goes_on = false;
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let is_quoted = line.starts_with(b">");
        if goes_on && is_quoted {
            text.push(b'\n');
        }
        let line = line.strip_prefix(b" ").unwrap_or(line);
        goes_on = !is_quoted && line.ends_with(b" ") && line != b"-- ";
        text.extend_from_slice(if goes_on && deletes_space { &line[..line.len() - 1] } else { line });
        if !goes_on {
            text.push(b'\n');
        }
    }
    if goes_on {
        text.push(b'\n');
    }
    text
}

/// UTF-16 and its like have zeros in ordinary letters, and ISO-2022 is all ASCII.
fn is_superset_of_ascii(charset: Option<&str>) -> bool {
    let charset = charset.unwrap_or_default().to_ascii_lowercase();
    !(charset.starts_with("utf-16")
        || charset.starts_with("utf-7")
        || charset.starts_with("iso-2022")
        || charset.starts_with("hz"))
}

#[cfg(test)]
mod tests {
    use mail_parser::MessageParser;

    use super::*;

    const MULTIPART: &str = "Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/plain\n\n";

    fn text(mail: &str) -> String {
        let message = MessageParser::default().parse(mail.as_bytes()).expect("a mail");
        let parts = parts(&message);
        parts.text.decoded(&parts.text.bytes)
    }

    #[test]
    fn encodings_are_undone() {
        for (header, body, expected) in [
            ("", "a\r\nb\r\n", "a\nb\n"),
            ("Content-Transfer-Encoding: base64", "w6kKYgo=", "é\nb\n"),
            ("Content-Transfer-Encoding: quoted-printable", "=C3=A9 =\nx=3D1\n", "é x=1\n"),
            (
                "Content-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable",
                "=E9\n",
                "é\n",
            ),
            (
                "Content-Type: text/plain; charset=windows-1251\nContent-Transfer-Encoding: base64",
                "z/Do4uXy",
                "Привет\n",
            ),
            ("Content-Type: text/plain; charset=no-such", "plain\n", "plain\n"),
            (
                "Content-Type: text/plain; format=flowed",
                "one \ntwo\n  x\n-- \nme\n",
                "one two\n x\n-- \nme\n",
            ),
            ("Content-Type: text/plain; format=flowed; delsp=yes", "one \ntwo\n", "onetwo\n"),
            ("Content-Type: text/html", "<p>x</p>", ""),
        ] {
            let mail = format!("From: a@example.org\n{header}\n\n{body}").replace("\n\n\n", "\n\n");
            assert_eq!(text(&mail), expected, "{header}");
        }
    }

    #[test]
    fn a_text_that_names_its_author_is_no_mail_in_the_mail() {
        for line in ["From: Åsa <asa@example.org>", "Subject: x", "From my point of view", "Subject: a: b"] {
            let body = format!("{line}\n\nwords\n");
            for head in ["Content-Type: text/plain; charset=UTF-8\n\n", "\n", MULTIPART] {
                let mail = format!("From: a@example.org\n{head}{body}");
                assert_eq!(text(&mail).trim_end(), body.trim_end(), "{head}");
            }
        }
    }

    #[test]
    fn a_pasted_patch_is_a_mail_in_the_mail() {
        let pasted = format!("From {} Mon Sep 17 00:00:00 2001\nSubject: one\n\nbody\n", "0a".repeat(20));
        let mail = format!("From: a@example.org\n\n{pasted}");
        let message = MessageParser::default().parse(mail.as_bytes()).expect("a mail");
        assert_eq!(parts(&message).mails, [pasted.as_bytes()]);
    }

    #[test]
    fn a_soft_line_break_may_stand_before_a_boundary() {
        let kind = "Content-Type: text/plain\nContent-Transfer-Encoding: quoted-printable";
        for body in ["", "words", "a: b <c@d>"] {
            let mail = format!(
                "From: a@example.org\nContent-Type: multipart/mixed; boundary=x\n\n--x\n{kind}\n\n{body}=\n--x--\n"
            );
            assert_eq!(text(&mail).trim_end(), body);
        }
    }

    #[test]
    fn attached_patches_and_mails_are_found() {
        let part = |kind: &str, body: &str| format!("--x\nContent-Type: {kind}\n\n{body}\n");
        let mail = [
            "From: a@example.org\nContent-Type: multipart/mixed; boundary=x\n\n".to_owned(),
            part("text/plain", "words"),
            part("application/octet-stream; name=fix.patch", "diff --git a/x b/x"),
            part("text/x-patch", "From 123 Mon Sep 17 00:00:00 2001\nSubject: one\n\nbody"),
            part("message/rfc822", "Subject: two\n\nforwarded"),
            part("image/png", "no text"),
            "--x--\n".to_owned(),
        ]
        .concat();
        let message = MessageParser::default().parse(mail.as_bytes()).expect("a mail");
        let parts = parts(&message);
        assert_eq!(String::from_utf8_lossy(&parts.text.bytes), "words\ndiff --git a/x b/x\n");
        let mails: Vec<_> =
            parts.mails.iter().map(|mail| String::from_utf8_lossy(mail).into_owned()).collect();
        assert_eq!(mails.len(), 2, "{mails:?}");
        assert!(
            mails[0].starts_with("From 123") && mails[1].starts_with("Subject: two\n\nforwarded"),
            "{mails:?}"
        );
    }
}

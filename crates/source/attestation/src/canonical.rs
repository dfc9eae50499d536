//! The forms in which mails are signed: RFC 6376, 3.4.

use crate::fields::Field;

/// How much may change on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Next to nothing.
    Simple,
    /// White space.
    Relaxed,
}

impl Form {
    /// Reads one half of `c=`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "simple" => Some(Self::Simple),
            "relaxed" => Some(Self::Relaxed),
            _ => None,
        }
    }

    /// A field of the header, with its CRLF.
    pub(crate) fn field(self, field: &Field) -> Vec<u8> {
        match self {
            Self::Simple => field.whole(),
            Self::Relaxed => [field.name.as_bytes(), b":", &relaxed(&field.value), b"\r\n"].concat(),
        }
    }

    /// The fields with these names, of those with one name the last ones first.
    pub(crate) fn header(self, fields: &[Field], names: &[String]) -> Vec<u8> {
        let mut left: Vec<&Field> = fields.iter().collect();
        let mut header = Vec::new();
        for name in names {
            if let Some(at) = left.iter().rposition(|field| field.name == *name) {
                header.extend(self.field(left.remove(at)));
            }
        }
        header
    }

    /// The body; every line of it ends with CRLF.
    pub(crate) fn body(self, body: &[u8]) -> Vec<u8> {
        let mut canonical = Vec::with_capacity(body.len() + 2);
        // Empty lines count only if another follows.
        let mut empty = 0;
        for line in body.split_inclusive(|&byte| byte == b'\n') {
            let bare = line.strip_suffix(b"\r\n").unwrap_or(line);
            let bare = match self {
                Self::Simple => bare.to_vec(),
                Self::Relaxed => squeezed(bare),
            };
            if bare.is_empty() {
                empty += 1;
                continue;
            }
            canonical.extend(b"\r\n".repeat(std::mem::take(&mut empty)));
            canonical.extend(bare);
            canonical.extend(b"\r\n");
        }
        if canonical.is_empty() && self == Self::Simple {
            canonical.extend(b"\r\n");
        }
        canonical
    }
}

/// Lines that end with CRLF, without empty ones at the end.
pub(crate) fn lines(text: &[u8]) -> Vec<u8> {
    let end = text.iter().rposition(|byte| !matches!(byte, b'\r' | b'\n')).map_or(0, |at| at + 1);
    let mut canonical = Vec::with_capacity(text.len());
    for line in text[..end].split(|&byte| byte == b'\n') {
        let line = line.iter().rposition(|&byte| byte != b'\r').map_or(&[][..], |at| &line[..=at]);
        canonical.extend([line, b"\r\n"].concat());
    }
    canonical
}

/// The value of a field in one line, with single spaces inside and none around.
pub(crate) fn relaxed(value: &[u8]) -> Vec<u8> {
    let unfolded: Vec<u8> = value.iter().copied().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    squeezed(&unfolded).trim_ascii().to_vec()
}

/// Each run of spaces and tabs becomes a space; none is left at the end.
fn squeezed(line: &[u8]) -> Vec<u8> {
    let mut squeezed = Vec::with_capacity(line.len());
    for &byte in line {
        let is_space = matches!(byte, b' ' | b'\t');
        if !is_space {
            squeezed.push(byte);
        } else if squeezed.last() != Some(&b' ') {
            squeezed.push(b' ');
        }
    }
    if squeezed.last() == Some(&b' ') {
        squeezed.pop();
    }
    squeezed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::Parts;

    #[test]
    fn the_examples_of_the_standard_hold() {
        // RFC 6376, 3.4.5.
        let parts = Parts::of(b"A: X\r\nB : Y\t\r\n\tZ  \r\n\r\n C \r\nD \t E\r\n\r\n\r\n");
        let all = |form: Form| parts.fields.iter().flat_map(|field| form.field(field)).collect::<Vec<u8>>();
        assert_eq!(all(Form::Relaxed), b"a:X\r\nb:Y Z\r\n");
        assert_eq!(all(Form::Simple), b"A: X\r\nB : Y\t\r\n\tZ  \r\n");
        assert_eq!(Form::Relaxed.body(&parts.body), b" C\r\nD E\r\n");
        assert_eq!(Form::Simple.body(&parts.body), b" C \r\nD \t E\r\n");
        assert_eq!(Form::Simple.body(b""), b"\r\n");
        assert_eq!(Form::Relaxed.body(b"\r\n \r\n"), b"");
        assert_eq!(Form::Simple.body(b"no end"), b"no end\r\n");
    }

    #[test]
    fn line_ends_do_not_count() {
        for text in ["a\nb\n", "a\r\nb", "a\r\r\nb\n\n\r\n"] {
            assert_eq!(lines(text.as_bytes()), b"a\r\nb\r\n", "{text:?}");
        }
        assert_eq!(lines(b"a\n\nb"), b"a\r\n\r\nb\r\n");
    }
}

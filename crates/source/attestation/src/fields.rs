//! A mail as it was sent: the fields of its header, and its body.

/// Most fields of a header that are looked at.
const FIELDS_MAX: usize = 1000;

/// Fields that stand for one thing, so that a mail has one of each: RFC 5322, 3.6, and RFC 2045, 3.
const SINGLE: [&str; 5] = ["from", "subject", "date", "content-type", "content-transfer-encoding"];

/// A mail in two parts, without any decoding.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    /// In order.
    pub(crate) fields: Vec<Field>,
    /// What follows the empty line.
    pub(crate) body: Vec<u8>,
    /// Whether the header has something that is no field, or more than is looked at.
    is_damaged: bool,
}

/// A field of a header; each line of it ends with CRLF.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    /// In lower case.
    pub(crate) name: String,
    /// Before the colon, as it was written.
    pub(crate) written: Vec<u8>,
    /// Behind the colon, with what folds it and the end of the line.
    pub(crate) value: Vec<u8>,
}

impl Parts {
    /// Takes a mail apart; lines that end with LF end with CRLF afterwards, as they did on their way.
    pub(crate) fn of(raw: &[u8]) -> Self {
        let mut parts = Self::default();
        let mut lines = raw.split_inclusive(|&byte| byte == b'\n');
        for line in lines.by_ref() {
            if line.trim_ascii().is_empty() {
                // Spaces in it end the header for some, and fold it for others.
                parts.is_damaged |= !matches!(line, b"\n" | b"\r\n");
                break;
            }
            let line = with_crlf(line);
            if line.starts_with(b" ") || line.starts_with(b"\t") {
                if let Some(field) = parts.fields.last_mut() {
                    field.value.extend(line);
                }
                continue;
            }
            match Field::parse(&line).filter(|_| parts.fields.len() < FIELDS_MAX) {
                Some(field) => parts.fields.push(field),
                None => parts.is_damaged = true,
            }
        }
        parts.body = lines.flat_map(with_crlf).collect();
        parts
    }

    /// What makes readers disagree on what the header says. A signature of one reading is none of another.
    pub(crate) fn fault(&self) -> Option<String> {
        if self.is_damaged {
            return Some("its header has lines that are no fields".to_owned());
        }
        let again = SINGLE.iter().find(|name| self.values(name).count() > 1)?;
        Some(format!("it has more than one field {again}"))
    }

    /// The values of all fields with a name, in order.
    pub(crate) fn values(&self, name: &str) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(move |field| field.name == name)
    }
}

impl Field {
    fn parse(line: &[u8]) -> Option<Self> {
        let colon = line.iter().position(|&byte| byte == b':')?;
        let (written, value) = (line.get(..colon)?.to_vec(), line.get(colon + 1..)?.to_vec());
        let name = String::from_utf8_lossy(&written).trim().to_ascii_lowercase();
        (!name.is_empty()).then_some(Self { name, written, value })
    }

    /// As it was written.
    pub(crate) fn whole(&self) -> Vec<u8> {
        [&self.written, b":".as_slice(), &self.value].concat()
    }

    /// The value in one line, without what folds it.
    pub(crate) fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.value);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

fn with_crlf(line: &[u8]) -> Vec<u8> {
    let bare = line.strip_suffix(b"\n").map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    bare.map_or_else(|| line.to_vec(), |bare| [bare, b"\r\n"].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_mail_has_fields_and_a_body() {
        let parts = Parts::of(b"From: a\nno field\nSubject: b\n  c\r\n\nbody\r\nends");
        let names: Vec<&str> = parts.fields.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["from", "subject"]);
        assert_eq!(parts.fields[1].value, b" b\r\n  c\r\n");
        assert_eq!(parts.fields[1].text(), "b c");
        assert_eq!(parts.body, b"body\r\nends");
    }

    #[test]
    fn a_header_says_one_thing() {
        let flood = "X: a\n".repeat(FIELDS_MAX + 1);
        for (header, expected) in [
            ("From: a\nTo: b\nTo: c\n", None),
            ("From: a\n \nSubject: b\n", Some("its header has lines that are no fields")),
            ("From: a\nno field\n", Some("its header has lines that are no fields")),
            (&flood, Some("its header has lines that are no fields")),
            ("Subject: a\nsubject : b\n", Some("it has more than one field subject")),
        ] {
            assert_eq!(Parts::of(header.as_bytes()).fault().as_deref(), expected, "{header}");
        }
    }

    proptest! {
        #[test]
        fn line_ends_make_no_difference(text in "([a-zA-Z:; \n-]){0,200}") {
            prop_assert_eq!(Parts::of(text.as_bytes()), Parts::of(text.replace('\n', "\r\n").as_bytes()));
        }

        #[test]
        fn a_mail_without_fault_is_read_by_all_in_one_way(
            more in "(X-List: a|no field|Subject: evil|subject|Subject\x0b: evil| |\t|\r|\n|\r\n|:|=|\\(|\"|<){0,12}"
        ) {
            let raw = format!("Subject: good\nX-Last: b{more}\n\nbody\n");
            let parts = Parts::of(raw.as_bytes());
            let mail = series::Mail::read(raw.as_bytes(), 1).remove(0);
            if parts.fault().is_none() {
                prop_assert_eq!(mail.subject.text, "good");
            }
        }

        #[test]
        fn no_mail_does_harm(raw: Vec<u8>) {
            Parts::of(&raw).fault();
        }
    }
}

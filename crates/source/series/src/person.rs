//! Somebody with a name and an address.

use std::fmt;

/// Who sent a mail, or whom a trailer names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Person {
    /// May be empty.
    pub name: String,
    /// May be empty, or no address at all.
    pub address: String,
}

impl Person {
    /// Reads `Name <address>`, or a bare address. In a trailer a name is plain text, with commas and brackets as they are.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (name, address) = match text.strip_suffix('>').and_then(|text| text.rsplit_once('<')) {
            Some((name, address)) => (name.trim(), address.trim()),
            None => ("", text),
        };
        let (local, domain) = address.rsplit_once('@')?;
        let is_address = !local.is_empty() && domain.contains('.') && !address.contains(char::is_whitespace);
        is_address.then(|| Self { name: unquoted(name).to_owned(), address: address.to_owned() })
    }

    /// Whether both are probably the same person: by the address without `+tag` and in whichever case, by a domain that is
    /// part of the other (`a@linux.example.com` and `a@example.com`), or by the name.
    pub fn matches(&self, other: &Self) -> bool {
        is_same_address(&self.address, &other.address) || is_same_name(&self.name, &other.name)
    }

    /// As the header of a mail spells it, without encoding.
    pub fn header(&self) -> String {
        let is_plain = |c: char| c.is_alphanumeric() || " -_'!#$%&*+/=?^`{|}~".contains(c);
        if self.name.is_empty() {
            return self.address.clone();
        }
        if self.name.chars().all(is_plain) {
            return format!("{} <{}>", self.name, self.address);
        }
        let escaped = self.name.replace('\\', "\\\\").replace('"', "\\\"");
        format!("\"{escaped}\" <{}>", self.address)
    }
}

/// As trailers spell it.
impl fmt::Display for Person {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name.is_empty() {
            write!(f, "{}", self.address)
        } else {
            write!(f, "{} <{}>", self.name, self.address)
        }
    }
}

fn unquoted(name: &str) -> &str {
    name.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or(name)
}

fn is_same_address(one: &str, other: &str) -> bool {
    let (one, other) = (one.to_lowercase(), other.to_lowercase());
    let (Some((one, at)), Some((other, there))) = (one.rsplit_once('@'), other.rsplit_once('@')) else {
        return false;
    };
    let untagged = |local: &str| local.split_once('+').map_or(local, |(local, _)| local).to_owned();
    untagged(one) == untagged(other) && (at == there || is_below(at, there) || is_below(there, at))
}

/// `linux.example.com` is below `example.com`, one level and no more; nothing is below a top-level domain.
fn is_below(domain: &str, of: &str) -> bool {
    of.contains('.') && domain.split_once('.').is_some_and(|(_, parent)| parent == of)
}

/// Mail servers of companies write `Doe, John`.
fn is_same_name(one: &str, other: &str) -> bool {
    let words = |name: &str| {
        let lower = name.to_lowercase();
        let mut words: Vec<String> =
            lower.split([' ', ',']).filter(|word| !word.is_empty()).map(str::to_owned).collect();
        if name.contains(',') {
            words.sort_unstable();
        }
        words
    };
    let (mut first, mut second) = (words(one), words(other));
    if one.contains(',') != other.contains(',') {
        first.sort_unstable();
        second.sort_unstable();
    }
    !first.is_empty() && first == second
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(text: &str) -> Person {
        Person::parse(text).expect(text)
    }

    #[test]
    fn names_are_plain_text() {
        for (text, name, address) in [
            ("A B <a@example.org>", "A B", "a@example.org"),
            ("\"B, A\" <a@example.org>", "B, A", "a@example.org"),
            ("A (x) <b> <a@example.org>", "A (x) <b>", "a@example.org"),
            ("a@example.org", "", "a@example.org"),
            ("<a@example.org>", "", "a@example.org"),
        ] {
            let found = person(text);
            assert_eq!((found.name.as_str(), found.address.as_str()), (name, address), "{text}");
        }
        for text in ["", "A B", "a@b", "@example.org", "a b@example.org", "A <>"] {
            assert_eq!(Person::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_same_person_is_known_by_address_or_name() {
        for (one, other, same) in [
            ("A <a@example.org>", "B <A@Example.org>", true),
            ("A <a+kernel@example.org>", "B <a@example.org>", true),
            ("A <a@linux.example.org>", "B <a@example.org>", true),
            ("A <a@x.linux.example.org>", "B <a@example.org>", false),
            ("A <a@example.org>", "B <a@org.org>", false),
            ("A <a@fakeexample.org>", "B <a@example.org>", false),
            ("John Doe <a@example.org>", "john doe <b@example.com>", true),
            ("John Doe <a@example.org>", "\"Doe, John\" <b@example.com>", true),
            ("Doe John <a@example.org>", "John Doe <b@example.com>", false),
            ("a@example.org", "b@example.org", false),
        ] {
            assert_eq!(person(one).matches(&person(other)), same, "{one} {other}");
            assert_eq!(person(other).matches(&person(one)), same, "{other} {one}");
        }
    }

    #[test]
    fn names_with_specials_are_quoted_in_headers() {
        assert_eq!(person("Å B <a@example.org>").header(), "Å B <a@example.org>");
        assert_eq!(person("B, \"A\" <a@example.org>").header(), "\"B, \\\"A\\\"\" <a@example.org>");
        assert_eq!(person("J. Doe <a@example.org>").header(), "\"J. Doe\" <a@example.org>");
        assert_eq!(person("a@example.org").header(), "a@example.org");
    }
}

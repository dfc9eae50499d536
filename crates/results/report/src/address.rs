//! An author as the address of a mail.

use crate::columns::fit;
use crate::header::encoded;
use crate::safe::safe_line;

/// Characters of a name at most, so that its line stays within what RFC 5322 allows.
const NAME_MAX: usize = 100;

/// Characters of an address at most: RFC 5321, section 4.5.3.1.
const ADDRESS_MAX: usize = 254;

/// `Name <address>` as a header may have it; nothing if there is no plain address in it, for whatever else stands
/// there could be more addresses, or headers of its own.
pub(crate) fn recipient(author: &str) -> Option<String> {
    let (name, rest) = author.rsplit_once('<')?;
    let address = rest.trim_end().strip_suffix('>').filter(|address| is_plain(address))?;
    let name = fit(&safe_line(name), NAME_MAX);
    let name = name.trim_matches('"');
    match name {
        "" => Some(address.to_owned()),
        _ if !name.is_ascii() => Some(format!("{} <{address}>", encoded(name))),
        _ if name.chars().all(is_word) => Some(format!("{name} <{address}>")),
        _ => Some(format!("\"{}\" <{address}>", name.replace('\\', "\\\\").replace('"', "\\\""))),
    }
}

/// Whether a name may have this without quotes: RFC 5322, section 3.2.3.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || " -_!#$%&'*+/=?^`{|}~".contains(c)
}

fn is_plain(address: &str) -> bool {
    let is_local = |c: char| c.is_ascii_alphanumeric() || ".-_!#$%&'*+/=?^`{|}~".contains(c);
    let is_domain = |c: char| c.is_ascii_alphanumeric() || ".-".contains(c);
    let parts = address.split_once('@');
    address.len() <= ADDRESS_MAX
        && parts.is_some_and(|(local, domain)| {
            !local.is_empty()
                && !domain.is_empty()
                && local.chars().all(is_local)
                && domain.chars().all(is_domain)
        })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn authors_become_recipients() {
        for (author, wanted) in [
            ("Ada Lovelace <ada@example.org>", Some("Ada Lovelace <ada@example.org>")),
            ("<ada@example.org>", Some("ada@example.org")),
            ("Jörg Ü. <j+k@example.org> ", Some("=?UTF-8?Q?J=C3=B6rg_=C3=9C=2E?= <j+k@example.org>")),
            ("\"Doe, Jane\" <jane@example.org>", Some("\"Doe, Jane\" <jane@example.org>")),
            ("a \"b\\c\" d <x@example.org>", Some("\"a \\\"b\\\\c\\\" d\" <x@example.org>")),
            ("Eve <eve@a>, Bob <bob@b>", Some("\"Eve <eve@a>, Bob\" <bob@b>")),
            ("Eve\nBcc: all <eve@example.org>", Some("\"Eve Bcc: all\" <eve@example.org>")),
            ("Eve <eve@example.org\nBcc: all@b>", None),
            ("Eve <eve@example.org, b@c>", None),
            ("Eve <@b>", None),
            ("Eve", None),
        ] {
            assert_eq!(recipient(author).as_deref(), wanted, "{author:?}");
        }
    }

    proptest! {
        #[test]
        fn a_recipient_is_one_address_in_one_line(name in "[a-z<>@,\"\\\\\r\n:;() ]{0,30}", end in "[a-z<>@,\r\n]{0,12}") {
            if let Some(text) = recipient(&format!("{name}<{end}>")) {
                prop_assert!(!text.contains(['\r', '\n']));
                // What is left without quoted strings has one address.
                let plain = text.replace("\\\\", "").replace("\\\"", "");
                let outside: String = plain.split('"').step_by(2).collect();
                prop_assert!(outside.matches('@').count() == 1 && !outside.contains(','), "{}", text);
            }
        }
    }
}

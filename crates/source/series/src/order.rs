//! In which order trailers stand that whoever applies a patch answers for: those below the last sign-off of its sender.

use globset::{Glob, GlobMatcher};

use crate::compose::Composed;
use crate::trailer::{Trailer, trailers};

/// Patterns of names, such as `link*,fixes*,*`; those of a name that fits none come last. Without patterns trailers stand as
/// they come.
#[derive(Debug, Default)]
pub struct Order(Vec<GlobMatcher>);

impl Order {
    /// Reads a list with commas; what is no pattern in it fits nothing.
    pub fn parse(text: &str) -> Self {
        if text.trim() == "*" {
            return Self::default();
        }
        let globs = text.split(',').filter_map(|part| Glob::new(&part.trim().to_lowercase()).ok());
        Self(globs.map(|glob| glob.compile_matcher()).collect())
    }

    fn place(&self, trailer: &Trailer) -> usize {
        let name = trailer.name.to_lowercase();
        self.0.iter().position(|glob| glob.is_match(&name)).unwrap_or(self.0.len())
    }
}

impl Composed {
    /// Adds trailers, and puts them in order with those that stand below the last sign-off.
    pub fn add_in_order<'a>(&mut self, added: impl IntoIterator<Item = &'a Trailer>, order: &Order) {
        if order.0.is_empty() {
            return self.add(added);
        }
        let own = own(&self.message);
        let (kept, mut all) = (self.message.len() - own.len(), trailers(own));
        self.message.truncate(kept);
        all.extend(added.into_iter().cloned());
        all.sort_by_key(|trailer| order.place(trailer));
        // A block of its own stays one.
        match self.message.ends_with("\n\n") {
            true => self.push(&all),
            false => self.add(&all),
        }
    }
}

/// The end of a message that consists of trailers below the last sign-off; all trailers if nobody has signed off.
fn own(message: &str) -> &str {
    let block = message.rfind("\n\n").map_or(0, |at| at + 2);
    let (mut own, mut at) = (block, block);
    let mut is_below_sign_off = false;
    for line in message[block..].split_inclusive('\n') {
        at += line.len();
        let is_remark = line.starts_with('[') && is_below_sign_off;
        is_below_sign_off = line.to_lowercase().starts_with("signed-off-by:") || is_remark;
        if is_below_sign_off {
            own = at;
        }
    }
    let text = &message[own..];
    let again: String = trailers(text).iter().map(Trailer::lines).collect();
    // Prose stays where it is.
    if again.trim_end() == text.trim_end() { text } else { "" }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::mail::Mail;

    fn ordered(message: &str, added: &[&str], order: &str) -> String {
        let raw = format!(
            "From: S <s@example.org>\nSubject: [PATCH] x\n\n{message}\n---\n\ndiff --git a/a b/a\n@@ -1 +1 @@\n-a\n+b\n"
        );
        let mut composed = Composed::of(&Mail::read(raw.as_bytes(), 1).remove(0));
        let added: Vec<Trailer> = added.iter().filter_map(|line| Trailer::parse(line)).collect();
        composed.add_in_order(&added, &Order::parse(order));
        composed.message
    }

    const ADDED: [&str; 3] =
        ["Reviewed-by: R <r@example.org>", "Link: https://example.org/1@x", "Acked-by: A <a@example.org>"];

    #[test]
    fn trailers_stand_in_the_order_of_the_user() {
        let ordered = |message, order| ordered(message, &ADDED, order).replace(" <", "<").replace('\n', "|");
        let signed = "Why.\n\nCc: C <c@example.org>\nSigned-off-by: S <s@example.org>\n[S: it is so]";
        let [review, link, ack] =
            ["Reviewed-by: R<r@example.org>", "Link: https://example.org/1@x", "Acked-by: A<a@example.org>"];
        let above = "Why.||Cc: C<c@example.org>|Signed-off-by: S<s@example.org>|[S: it is so]";
        assert_eq!(ordered(signed, "LINK*, acked*,*"), format!("{above}|{link}|{ack}|{review}"));
        assert_eq!(ordered(signed, "acked-by"), format!("{above}|{ack}|{review}|{link}"));
        assert_eq!(ordered(signed, "*"), format!("{above}|{review}|{link}|{ack}"));
        let below = format!("{signed}\nTested-by: T <t@example.org>");
        assert_eq!(
            ordered(&below, "link*,acked*"),
            format!("{above}|{link}|{ack}|Tested-by: T<t@example.org>|{review}")
        );
        assert_eq!(
            ordered("Why.\n\nTested-by: T <t@example.org>", "link*"),
            format!("Why.||{link}|Tested-by: T<t@example.org>|{review}|{ack}")
        );
        let prose = ordered("Why.\n\nBefore: 10 us\nAfter: 5 us\n\nTested-by: T <t@example.org>", "link*");
        let start = format!("Why.||Before: 10 us|After: 5 us||{link}|Tested-by: ");
        assert!(prose.starts_with(&start), "{prose}");
        assert_eq!(
            ordered("Why: so.\nIt is.\nWords.", "link*"),
            format!("Why: so.|It is.|Words.||{link}|{review}|{ack}")
        );
    }

    proptest! {
        #[test]
        fn an_order_loses_no_line(message in "(Signed-off-by: S <s@x>|Acked-by: A <a@x>|Why|\\[x\\]|\n|\n\n| ){0,12}", order in "[a-z*,\\[{]{0,12}") {
            let lines = |text: &str| {
                let mut lines: Vec<String> = text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect();
                lines.sort();
                lines
            };
            let message = format!("Why.\n{message}");
            prop_assert_eq!(lines(&ordered(&message, &ADDED, &order)), lines(&ordered(&message, &ADDED, "*")));
        }
    }
}

//! Mailboxes: mails become threads, series, and an mbox for `git am`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use series::{Choice, Composed, Mailbox, Threads, assemble, series};

fuzz_target!(|input: &[u8]| {
    let Ok(mailbox) = Mailbox::parse(input) else { return };
    let threads = Threads::new(mailbox.mails);
    for mail in &threads.mails {
        assert!(!mail.id.is_empty() && !mail.id.contains(|c: char| c.is_control() || c == ' '), "{mail:?}");
        assert!(!mail.subject.text.contains(char::is_control), "{mail:?}");
    }
    for series in &series(&threads) {
        let choice = Choice { takes_foreign_trailers: input.len() % 2 == 0, ..Choice::default() };
        let Some(assembled) = assemble(&threads, series, choice) else { panic!("a series has a revision") };
        assert_eq!(assembled.patches.len() + assembled.missing().len(), assembled.total as usize);
        let mut mbox = Vec::new();
        for patch in assembled.patches.values() {
            let mut composed = Composed::of(patch.mail);
            composed.add(patch.given.iter().map(|given| &given.trailer));
            let _ = composed.hidden_character();
            mbox.extend(composed.mbox("[PATCH]", &patch.mail.id));
        }
        // Whatever is in a patch, it stays one mail.
        let begins = |line: &&[u8]| *line == b"From git@z Thu Jan  1 00:00:00 1970";
        assert_eq!(mbox.split(|&byte| byte == b'\n').filter(begins).count(), assembled.patches.len());
    }
});

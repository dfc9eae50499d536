//! Mails with patches: what git printed about them, and the files that they come in.

#![no_main]

use std::path::PathBuf;

use libfuzzer_sys::fuzz_target;
use series::{File, MailInfo, is_patch, sort};

fuzz_target!(|input: &[u8]| {
    let file = File { path: PathBuf::from("x"), content: input.to_vec() };
    assert!(file.mails_max() <= input.len() / 5 + 1);
    let _ = (file.is_mail(), is_patch(input));
    let text = String::from_utf8_lossy(input);
    let mut mails: Vec<_> =
        text.split("\n\n").map(|mail| (MailInfo::parse(mail, "no subject"), ())).collect();
    for (mail, ()) in &mails {
        let fields = [&mail.subject, &mail.name, &mail.mail];
        assert!(fields.iter().all(|field| !field.contains(char::is_control)), "{mail:?}");
        assert!(!mail.name.is_empty() && !mail.mail.is_empty(), "{mail:?}");
    }
    let before = mails.len();
    sort(&mut mails);
    assert!(mails.len() <= before && !mails.is_empty());
});

//! What the user is told where makefiles cannot be kept from the user's files.

use kernel::Caller;

/// Makefiles are programs of whoever wrote the source.
const NOTE: &str = "makefiles run with all your rights, because this user cannot create namespaces: \
                    build only source that you trust";

/// Notes that makefiles are not sandboxed, if that is so.
pub fn note_missing_sandbox(caller: &mut Caller<'_>) {
    note_unless(host::can_sandbox(), caller);
}

fn note_unless(is_sandboxed: bool, caller: &mut Caller<'_>) {
    if !is_sandboxed {
        caller.note(NOTE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixture::NEVER;
    use kernel::News;

    fn notes(is_sandboxed: bool) -> Vec<String> {
        let mut notes = Vec::new();
        let mut listener = |news: News<'_>| notes.push(format!("{news:?}"));
        note_unless(is_sandboxed, &mut Caller { listener: &mut listener, interrupt: &NEVER });
        notes
    }

    #[test]
    fn only_a_missing_sandbox_is_reported() {
        assert_eq!(notes(true), [""; 0]);
        let [note] = &notes(false)[..] else { panic!("one note") };
        assert!(note.starts_with("Note(\"makefiles run with all your rights"), "{note}");
    }
}

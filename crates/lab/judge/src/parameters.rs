//! What the kernel says about its parameters: `print_unknown_bootoptions` of init/main.c.

use console::message;

/// What stands before the parameters that it does not know.
const UNKNOWN: &str = "Unknown kernel command line parameters \"";

/// Parameters that the kernel heeds and names all the same: code of x86 looks for them in the command line by itself
/// (`cmdline_find_option`), and so do the decompressor and the EFI stub.
const HEEDED: &[&str] = &[
    "acpi_rsdp",
    "clearcpuid",
    "earlyprintk",
    "edd",
    "forcepae",
    "mem_encrypt",
    "no387",
    "no5lvl",
    "nofxsr",
    "nokaslr",
    "nopti",
    "nospec_store_bypass_disable",
    "nospectre_v2",
    "noxsave",
    "noxsaveopt",
    "noxsaves",
    "pti",
    "spec_store_bypass_disable",
    "spectre_v2",
    "spectre_v2_user",
    "split_lock_detect",
    "tsx",
    "vga",
];

/// Those of the parameters in `said` that the kernel does not know by its own word: it passes them to user space, where they
/// have no effect.
#[must_use]
pub fn unknown<'a>(console: impl IntoIterator<Item = &'a str>, said: &str) -> Vec<String> {
    let lines = console.into_iter().filter_map(|line| message(line).strip_prefix(UNKNOWN));
    let named: Vec<&str> =
        lines.filter_map(|rest| Some(rest.rsplit_once('"')?.0)).flat_map(str::split_whitespace).collect();
    let is_heeded = |word: &&str| HEEDED.contains(&word.split('=').next().unwrap_or(word));
    let unknown = said.split_whitespace().filter(|word| named.contains(word)).filter(|word| !is_heeded(word));
    unknown.map(str::to_string).collect()
}

/// The same in words; nothing if it knows all of them.
#[must_use]
pub fn unknown_note<'a>(console: impl IntoIterator<Item = &'a str>, said: &str) -> Option<String> {
    note(&unknown(console, said))
}

/// Parameters that are [`unknown`], in words; nothing if there are none.
#[must_use]
pub fn note(unknown: &[String]) -> Option<String> {
    (!unknown.is_empty()).then(|| format!("the kernel does not know these parameters: {}", unknown.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LINE: &str = "[    0.000000] Unknown kernel command line parameters \"foo nokaslr noxsave bar=1\", will be passed to user space.";

    #[test]
    fn what_the_user_said_is_named_and_kilns_own_is_not() {
        assert_eq!(unknown([LINE], "bar=1 quiet noxsave foo"), ["bar=1", "foo"]);
        let note = "the kernel does not know these parameters: foo";
        assert_eq!(unknown_note(["x", LINE], "foo").as_deref(), Some(note));
        assert_eq!(unknown_note([LINE], "quiet"), None);
        assert_eq!(unknown_note(["nothing of the kind"], "foo"), None);
    }

    proptest! {
        #[test]
        fn any_line_is_read(line in ".*", said in "[a-z= ]{0,20}") {
            let line = format!("{UNKNOWN}{line}");
            let words: Vec<&str> = said.split_whitespace().collect();
            prop_assert!(unknown([line.as_str()], &said).iter().all(|word| words.contains(&word.as_str())));
        }
    }
}

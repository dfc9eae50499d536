//! Modules that a compiled program loads with modprobe(8), which no metadata tells.

use memchr::memmem;

/// How a compiler leaves the first words of `{"modprobe", "dns_resolver", NULL}`.
const CALL: &[u8] = b"\0modprobe\0";

/// The names that stand after `modprobe` among the strings of a program.
pub(super) fn modules(program: &[u8]) -> Vec<String> {
    let after = memmem::find_iter(program, CALL).map(|at| &program[at + CALL.len()..]);
    let word = |rest: &[u8]| String::from_utf8(rest.split(|&byte| byte == 0).next()?.to_vec()).ok();
    after.filter_map(word).filter(|word| is_name(word)).collect()
}

/// Whether it can be the name of a module, and no option.
fn is_name(word: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    (1..=64).contains(&word.len()) && !word.starts_with('-') && word.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_word_after_modprobe_is_a_module() {
        let program =
            b"\x7fELF\0user\0modprobe\0dns_resolver\0modprobe -r\0/sbin/modprobe\0x\0modprobe\0-q\0";
        assert_eq!(modules(program), ["dns_resolver"]);
        assert!(modules(b"\0modprobe\0").is_empty() && modules(b"").is_empty());
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken(bytes: Vec<u8>) {
            let program = [CALL, &bytes, CALL].concat();
            prop_assert!(modules(&program).len() <= 2);
        }
    }
}

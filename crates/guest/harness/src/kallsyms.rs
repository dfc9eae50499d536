//! The functions of the running kernel: /proc/kallsyms.

const PATH: &str = "/proc/kallsyms";

/// A function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// Where it begins; 0 for all if the kernel hides that.
    pub address: u64,
    /// Its name.
    pub name: &'a str,
    /// The module that it is in.
    pub module: Option<&'a str>,
}

/// What the kernel lists.
///
/// # Errors
///
/// Why it does not, in a line.
pub fn read() -> Result<String, String> {
    let text = std::fs::read(PATH).map_err(|error| format!("{PATH}: {error}"))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The functions in such a list, in its order.
pub fn functions(text: &str) -> impl Iterator<Item = Symbol<'_>> {
    text.lines().filter_map(function)
}

/// Of `ffffffff81000000 T _text`: the kinds t and w are code; a module is behind a tab.
fn function(line: &str) -> Option<Symbol<'_>> {
    let mut words = line.split_ascii_whitespace();
    let address = u64::from_str_radix(words.next()?, 16).ok()?;
    words.next().filter(|kind| matches!(*kind, "t" | "T" | "w" | "W"))?;
    let name = words.next()?;
    Some(Symbol { address, name, module: words.next().map(|module| module.trim_matches(['[', ']'])) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn code_is_told_from_data() {
        let text =
            "ffffffff81000000 T vfs_read\nffffffff81000030 D table\nffffffffc0000000 t f.isra.0\t[ext4]\n";
        let all: Vec<_> = functions(text).map(|one| (one.address, one.name, one.module)).collect();
        assert_eq!(
            all,
            [(0xffff_ffff_8100_0000, "vfs_read", None), (0xffff_ffff_c000_0000, "f.isra.0", Some("ext4"))]
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "([0-9a-f]{1,17} [tTDw] [a-z_]{0,9}(\t\\[[a-z]*\\])?\n|\\PC*\n){0,9}") {
            let _ = functions(&text).count();
        }
    }
}

//! The symbols of the running kernel: /proc/kallsyms.

use std::rc::Rc;

const PATH: &str = "/proc/kallsyms";

/// A symbol.
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
    symbols(text).filter(|(kind, _)| is_function(*kind)).map(|(_, symbol)| symbol)
}

fn is_function(kind: char) -> bool {
    matches!(kind, 't' | 'T' | 'w' | 'W')
}

/// The address of the first symbol with this name in such a list.
#[must_use]
pub fn address(text: &str, name: &str) -> Option<u64> {
    symbols(text).find(|(_, symbol)| symbol.name == name).map(|(_, symbol)| symbol.address)
}

/// What is in such a list, with its kind as nm(1) has it.
fn symbols(text: &str) -> impl Iterator<Item = (char, Symbol<'_>)> {
    text.lines().filter_map(symbol)
}

/// Of `ffffffff81000000 T _text`; a module is behind a tab.
fn symbol(line: &str) -> Option<(char, Symbol<'_>)> {
    let mut words = line.split_ascii_whitespace();
    let address = u64::from_str_radix(words.next()?, 16).ok()?;
    let kind = words.next()?.chars().next()?;
    let name = words.next()?;
    let module = words.next().map(|module| module.trim_matches(['[', ']']));
    Some((kind, Symbol { address, name, module }))
}

/// Symbols in the order of their addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    text: Rc<str>,
    /// Addresses, and where their lines begin.
    lines: Vec<(u64, usize)>,
}

impl Table {
    /// The functions of such a list; empty if the kernel hides their addresses.
    #[must_use]
    pub fn of_functions(text: &Rc<str>) -> Self {
        Self::new(text, is_function)
    }

    /// Functions and variables; without those that each CPU has for itself, whose addresses are none.
    #[must_use]
    pub fn of_all(text: &Rc<str>) -> Self {
        Self::new(text, |kind| !matches!(kind, 'a' | 'A'))
    }

    fn new(text: &Rc<str>, is_wanted: impl Fn(char) -> bool) -> Self {
        let line = |line: &str| {
            let (kind, symbol) = symbol(line)?;
            let begin = line.as_ptr() as usize - text.as_ptr() as usize;
            (is_wanted(kind) && symbol.address > 0).then_some((symbol.address, begin))
        };
        let mut lines: Vec<_> = text.lines().filter_map(line).collect();
        // Of several names of an address the first one stays.
        lines.sort_by_key(|(address, _)| *address);
        lines.dedup_by_key(|(address, _)| *address);
        Self { text: Rc::clone(text), lines }
    }

    /// The last symbol that does not begin behind an address.
    #[must_use]
    pub fn before(&self, address: u64) -> Option<Symbol<'_>> {
        let after = self.lines.partition_point(|(begin, _)| *begin <= address);
        let (_, begin) = self.lines.get(after.checked_sub(1)?)?;
        Some(symbol(self.text[*begin..].lines().next()?)?.1)
    }

    /// Whether it has no symbols.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
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
        assert_eq!((address(text, "table"), address(text, "tabl")), (Some(0xffff_ffff_8100_0030), None));
    }

    const TEXT: &str = "\
0000000000000040 A per_cpu_number
ffffffff81000000 T _stext
ffffffff81000000 T _text
ffffffff81000100 t do_work
ffffffff81000180 D some_data
ffffffffc0000000 t ext4_readdir\t[ext4]
";

    #[test]
    fn an_address_is_in_the_symbol_before_it() {
        let text = Rc::from(TEXT);
        let (functions, all) = (Table::of_functions(&text), Table::of_all(&text));
        let name = |table: &Table, address: u64| table.before(address).map(|symbol| symbol.name.to_owned());
        for (address, function, any) in [
            (0xffff_ffff_8100_0010, Some("_stext"), Some("_stext")),
            (0xffff_ffff_8100_0190, Some("do_work"), Some("some_data")),
            (0xffff_ffff_c000_0123, Some("ext4_readdir"), Some("ext4_readdir")),
            (0x50, None, None),
        ] {
            let names = [name(&functions, address), name(&all, address)];
            assert_eq!(names.each_ref().map(Option::as_deref), [function, any], "{address:x}");
        }
        assert_eq!(functions.before(u64::MAX).and_then(|symbol| symbol.module), Some("ext4"));
        assert!(Table::of_all(&Rc::from("0000000000000000 T _text\n")).is_empty());
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "([0-9a-f]{1,17} [tTDw] [a-z_]{0,9}(\t\\[[a-z]*\\])?\n|\\PC*\n){0,9}") {
            let _ = functions(&text).count();
        }
    }
}

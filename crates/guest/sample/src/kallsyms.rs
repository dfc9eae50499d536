//! The functions of the kernel: /proc/kallsyms.

use std::collections::HashMap;
use std::fs;

/// A function of the kernel, and the module that it is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Symbol {
    pub(crate) name: String,
    pub(crate) module: Option<String>,
}

/// The functions at addresses of the kernel that is running.
///
/// # Errors
///
/// Why there are none, in a line.
pub(crate) fn read(addresses: &[u64]) -> Result<HashMap<u64, Symbol>, String> {
    let path = "/proc/kallsyms";
    let text = fs::read(path).map_err(|error| format!("no functions of the kernel: {path}: {error}"))?;
    let found = find(&String::from_utf8_lossy(&text), addresses);
    if found.is_empty() && !addresses.is_empty() {
        return Err(
            "no functions of the kernel: it hides their addresses (kernel.kptr_restrict, or no root)"
                .to_owned(),
        );
    }
    Ok(found)
}

fn find(text: &str, addresses: &[u64]) -> HashMap<u64, Symbol> {
    let mut symbols: Vec<(u64, &str)> = text.lines().filter_map(place).collect();
    // Of several names of an address the first one stays.
    symbols.sort_by_key(|(address, _)| *address);
    symbols.dedup_by_key(|(address, _)| *address);
    let symbol = |&address: &u64| {
        let after = symbols.partition_point(|(begin, _)| *begin <= address);
        Some((address, symbol(symbols.get(after.checked_sub(1)?)?.1)?))
    };
    addresses.iter().filter_map(symbol).collect()
}

/// The address of code, and its line: `ffffffff81000000 T _text`.
fn place(line: &str) -> Option<(u64, &str)> {
    let (address, rest) = line.split_once(' ')?;
    let is_code = rest.starts_with(['t', 'T', 'w', 'W']);
    let address = u64::from_str_radix(address, 16).ok().filter(|address| *address > 0 && is_code)?;
    Some((address, rest))
}

/// What follows the address: the kind, the name, and the module behind a tab.
fn symbol(rest: &str) -> Option<Symbol> {
    let mut words = rest.split_ascii_whitespace().skip(1);
    let name = words.next()?.to_owned();
    let module = words.next().map(|module| module.trim_matches(['[', ']']).to_owned());
    Some(Symbol { name, module })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "\
ffffffff81000000 T _stext
ffffffff81000000 T _text
ffffffff81000100 t do_work
ffffffff81000180 D some_data
ffffffffc0000000 t ext4_readdir\t[ext4]
";

    #[test]
    fn an_address_is_in_the_function_before_it() {
        let found = find(TEXT, &[0xffff_ffff_8100_0010, 0xffff_ffff_8100_0190, 0xffff_ffff_c000_0123, 5]);
        let name = |address: u64| found.get(&address).map(|symbol| symbol.name.as_str());
        assert_eq!(name(0xffff_ffff_8100_0010), Some("_stext"));
        assert_eq!(name(0xffff_ffff_8100_0190), Some("do_work"));
        assert_eq!(name(0xffff_ffff_c000_0123), Some("ext4_readdir"));
        assert_eq!(found[&0xffff_ffff_c000_0123].module.as_deref(), Some("ext4"));
        assert_eq!(name(5), None);
        assert!(find("0000000000000000 T _text\n", &[1, 2]).is_empty());
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "([0-9a-f]{1,16} [tTD] [a-z_]{0,9}(\t\\[[a-z]*\\])?\n|\\PC*\n){0,9}", at: u64) {
            let _ = find(&text, &[at, 0, u64::MAX]);
        }
    }
}

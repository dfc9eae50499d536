//! The functions at addresses of the kernel.

use std::collections::HashMap;

use harness::kallsyms::{self, functions};

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
    let text = kallsyms::read().map_err(|error| format!("no functions of the kernel: {error}"))?;
    let found = find(&text, addresses);
    if found.is_empty() && !addresses.is_empty() {
        return Err(
            "no functions of the kernel: it hides their addresses (kernel.kptr_restrict, or no root)"
                .to_owned(),
        );
    }
    Ok(found)
}

fn find(text: &str, addresses: &[u64]) -> HashMap<u64, Symbol> {
    let mut symbols: Vec<kallsyms::Symbol<'_>> =
        functions(text).filter(|function| function.address > 0).collect();
    // Of several names of an address the first one stays.
    symbols.sort_by_key(|symbol| symbol.address);
    symbols.dedup_by_key(|symbol| symbol.address);
    let symbol = |&address: &u64| {
        let after = symbols.partition_point(|symbol| symbol.address <= address);
        let kallsyms::Symbol { name, module, .. } = symbols.get(after.checked_sub(1)?)?;
        Some((address, Symbol { name: (*name).to_owned(), module: module.map(str::to_owned) }))
    };
    addresses.iter().filter_map(symbol).collect()
}

#[cfg(test)]
mod tests {
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
}

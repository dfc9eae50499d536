//! The functions at addresses of the kernel.

use std::collections::HashMap;

use harness::kallsyms::{self, Table};

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
    let functions = Table::of_functions(&text.into());
    if functions.is_empty() && !addresses.is_empty() {
        return Err(
            "no functions of the kernel: it hides their addresses (kernel.kptr_restrict, or no root)"
                .to_owned(),
        );
    }
    let symbol = |&address: &u64| {
        let kallsyms::Symbol { name, module, .. } = functions.before(address)?;
        Some((address, Symbol { name: name.to_owned(), module: module.map(str::to_owned) }))
    };
    Ok(addresses.iter().filter_map(symbol).collect())
}

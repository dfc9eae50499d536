//! How often functions of the kernel are called.

use std::collections::HashMap;

use bpf::{Object, Watch, programs};
use globset::{Glob, GlobMatcher};
use harness::instrument::skip;
use harness::kallsyms::{self, Symbol, functions};
use harness::perf::{probe_of, unknown};
use protocol::Report;
use protocol::probe::{Found, Function, Missing};

use super::{Tool, largest};

/// Functions at most: each takes the kernel some milliseconds.
const FUNCTIONS_MAX: usize = 2048;

/// Refused functions that are named.
const REFUSED_MAX: usize = 64;

/// How far behind the beginning of a function a probe may say that it is: behind `endbr64` and the breakpoint.
const BEHIND_MAX: u64 = 8;

pub(super) struct Funccount {
    object: Object,
    functions: Vec<Probed>,
    missing: Vec<Missing>,
}

/// A function with a probe.
struct Probed {
    address: u64,
    function: Function,
}

impl Funccount {
    pub(super) fn begin(patterns: &[String], watch: &Watch) -> Result<Self, Report> {
        let text = kallsyms::read().map_err(skip)?;
        let (symbols, mut missing) = matching(&text, patterns).map_err(skip)?;
        if symbols.len() > FUNCTIONS_MAX {
            let count = symbols.len();
            return Err(skip(format!("{count} functions have such names: count at most {FUNCTIONS_MAX}")));
        }
        let mut object = Object::load(programs::FUNCTIONS, watch, &[])?;
        let mut functions = Vec::new();
        for symbol in symbols {
            let probe = probe_of(symbol.address, false).map_err(skip)?;
            match object.attach("called", probe) {
                Ok(()) => functions.push(Probed::new(&symbol)),
                Err(report) if missing.len() < REFUSED_MAX => {
                    missing.push(Missing { what: symbol.name.to_owned(), why: report.text });
                }
                Err(_) => {}
            }
        }
        match (functions.is_empty(), missing.first()) {
            (true, Some(Missing { what, why })) => Err(skip(format!("{what}: {why}"))),
            _ => Ok(Self { object, functions, missing }),
        }
    }
}

impl Probed {
    fn new(symbol: &Symbol) -> Self {
        let module = symbol.module.map(str::to_owned);
        Self {
            address: symbol.address,
            function: Function { name: symbol.name.to_owned(), module, calls: 0 },
        }
    }
}

/// The functions that patterns name, in the order of their addresses, and the patterns that name none.
///
/// # Errors
///
/// When the kernel hides where its functions are.
fn matching<'a>(text: &'a str, patterns: &[String]) -> Result<(Vec<Symbol<'a>>, Vec<Missing>), String> {
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for pattern in patterns {
        let matcher = glob(pattern)?;
        let before = found.len();
        found.extend(functions(text).filter(|symbol| is_whole(symbol.name) && matcher.is_match(symbol.name)));
        if found.len() == before {
            let why = unknown(text, pattern.trim_end_matches('*'));
            missing.push(Missing { what: pattern.clone(), why });
        }
    }
    if found.iter().any(|symbol| symbol.address == 0) {
        return Err("the kernel hides its addresses (kernel.kptr_restrict, or no root)".to_owned());
    }
    found.sort_by_key(|symbol| symbol.address);
    found.dedup_by_key(|symbol| symbol.address);
    Ok((found, missing))
}

fn glob(pattern: &str) -> Result<GlobMatcher, String> {
    Ok(Glob::new(pattern).map_err(|error| error.to_string())?.compile_matcher())
}

/// Whether a symbol is a function, and not what lies before one, or its part that is rarely executed.
fn is_whole(name: &str) -> bool {
    !name.starts_with("__pfx_") && !name.contains(".cold")
}

impl Tool for Funccount {
    fn found(&mut self) -> Result<Found, Report> {
        let calls = self.object.elements::<u64, u64>("calls")?;
        let calls: HashMap<u64, u64> = calls.into_iter().map(|(ip, all)| (ip, all.iter().sum())).collect();
        let functions = self
            .functions
            .iter()
            .map(|probed| Function { calls: calls_of(&calls, probed.address), ..probed.function.clone() });
        let called = |function: &Function| (function.calls, function.name.clone());
        Ok(Found::Functions(largest(functions.collect(), called)))
    }

    fn missing(&self) -> Vec<Missing> {
        self.missing.clone()
    }

    fn lost(&self) -> Result<u64, Report> {
        self.object.lost()
    }
}

/// The kernel says where it was when the probe was hit: a little behind the beginning.
fn calls_of(calls: &HashMap<u64, u64>, address: u64) -> u64 {
    (0..=BEHIND_MAX).filter_map(|behind| calls.get(&address.checked_add(behind)?)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
ffffffff81000000 T __pfx_vfs_read
ffffffff81000010 T vfs_read
ffffffff81000100 t vfs_read.cold
ffffffff81000200 T vfs_write\t[fs]
ffffffff81000300 D vfs_table
";

    fn names(patterns: &[&str]) -> (Vec<String>, Vec<String>) {
        let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
        let (found, missing) = matching(TEXT, &patterns).expect("it has addresses");
        let names = found.iter().map(|symbol| symbol.name.to_owned()).collect();
        (names, missing.iter().map(|one| format!("{}: {}", one.what, one.why)).collect())
    }

    #[test]
    fn patterns_name_whole_functions_once() {
        assert_eq!(names(&["vfs_*", "*_read", "vfs_rea?"]).0, ["vfs_read", "vfs_write"]);
        let (found, missing) = names(&["vfs_reed", "vfs_write"]);
        assert_eq!(found, ["vfs_write"]);
        assert!(missing[0].starts_with("vfs_reed: the kernel has no such function"), "{missing:?}");
        assert!(missing[0].contains("near ones are vfs_read"), "{missing:?}");
        let hidden = matching("0000 T vfs_read", &["*".to_owned()]).expect_err("it has no addresses");
        assert!(hidden.contains("kptr_restrict"), "{hidden}");
    }

    #[test]
    fn calls_are_of_the_function_before_them() {
        let calls = HashMap::from([(0x11, 3), (0x30, 5)]);
        assert_eq!((calls_of(&calls, 0x10), calls_of(&calls, 0x20), calls_of(&calls, 0x30)), (3, 0, 5));
    }
}

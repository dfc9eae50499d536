//! The symbols of a kernel's code, from the text of `/proc/kallsyms` (proc(5)).

use std::cmp::Reverse;
use std::ops::Range;

use protocol::profile::Entry;

use super::events::event;

/// Most symbols that are read: a kernel of a distribution has 50,000 to 100,000 of code.
const SYMBOLS_MAX: usize = 1 << 20;

/// Longest name that is read: the kernel's own limit is 512 (`KSYM_NAME_LEN`).
const NAME_MAX: usize = 512;

/// Symbols that mark where a section begins or ends, and which are named only where there is nothing else.
const BOUNDS: [&str; 6] = ["_text", "_stext", "_etext", "_sinittext", "_einittext", "__end_rodata"];

/// Functions, in the order of their addresses, each with one name.
#[derive(Debug, Clone, Default)]
pub struct Symbols {
    /// All names, one behind the other.
    names: String,
    all: Vec<Named>,
}

/// A function: from its address to that of the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// Where it is entered.
    pub address: u64,
    /// Its name, with its module in brackets: `ext4_lookup [ext4]`.
    pub name: &'a str,
}

/// A function, and where its name is.
#[derive(Debug, Clone)]
struct Named {
    address: u64,
    name: Range<usize>,
    /// Whether it is known outside its file.
    global: bool,
}

impl Symbols {
    /// Reads symbols of code (types `t`, `T`, `w`, `W`); lines of other kinds are passed over. A table without addresses,
    /// which is what a process without privileges gets, has no symbols.
    ///
    /// Of several names at one address one is kept, the same in each kernel as far as they agree: no bound of a section,
    /// then a global one, then the shortest, then the first of the alphabet.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut names = String::new();
        let lines = text.lines().filter_map(|line| entry(line, &mut names));
        let mut all: Vec<Named> = lines.take(SYMBOLS_MAX).collect();
        let rank = |entry: &Named| rank(&names[entry.name.clone()], entry.global);
        all.sort_by(|a, b| a.address.cmp(&b.address).then_with(|| rank(a).cmp(&rank(b))));
        all.dedup_by_key(|entry| entry.address);
        Self { names, all }
    }

    /// The function that has this address, by its place among all.
    #[must_use]
    pub fn find(&self, address: u64) -> Option<usize> {
        self.all.partition_point(|symbol| symbol.address <= address).checked_sub(1)
    }

    /// The function at this place.
    #[must_use]
    pub fn get(&self, place: usize) -> Option<Symbol<'_>> {
        let Named { address, name, .. } = self.all.get(place)?;
        Some(Symbol { address: *address, name: self.names.get(name.clone())? })
    }

    /// All functions.
    pub(super) fn iter(&self) -> impl Iterator<Item = Symbol<'_>> {
        (0..self.len()).filter_map(|place| self.get(place))
    }

    /// Where the functions begin each call of which is one of [`EVENTS`](super::EVENTS).
    #[must_use]
    pub fn event_entries(&self) -> Vec<Entry> {
        let number = |name| event(name).and_then(|place| u32::try_from(place).ok());
        self.iter()
            .filter_map(|Symbol { address, name }| Some(Entry { address, event: number(name)? }))
            .collect()
    }

    /// The function that has this address, and whether it begins there.
    pub(super) fn entered(&self, address: u64) -> (Option<usize>, bool) {
        let place = self.find(address);
        (place, place.and_then(|place| self.get(place)).is_some_and(|symbol| symbol.address == address))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

/// A line: address, type, name, and the module in brackets if it has one. The name is added to `names`.
fn entry(line: &str, names: &mut String) -> Option<Named> {
    let mut words = line.split_ascii_whitespace();
    let address = u64::from_str_radix(words.next()?, 16).ok().filter(|&address| address != 0)?;
    let global = match words.next()? {
        "T" | "W" => true,
        "t" | "w" => false,
        _ => return None,
    };
    let (name, module) = (words.next()?, words.next());
    let harmless = |text: &str| text.len() <= NAME_MAX && text.bytes().all(|byte| byte.is_ascii_graphic());
    if !harmless(name) || !module.is_none_or(harmless) {
        return None;
    }
    let start = names.len();
    names.push_str(name);
    if let Some(module) = module {
        names.extend([" ", module]);
    }
    Some(Named { address, name: start..names.len(), global })
}

/// The least is preferred.
fn rank(name: &str, global: bool) -> (bool, Reverse<bool>, usize, &str) {
    let bound = BOUNDS.contains(&name) || name.ends_with("text_start") || name.ends_with("text_end");
    (bound, Reverse(global), name.len(), name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "\
ffffffff81000000 T _stext
ffffffff81000000 T _text
ffffffff81000000 T startup_64
ffffffff81000100 t helper
ffffffff81000100 T do_work_alias
ffffffff81000100 T do_work
0000000000000000 A fixed_percpu_data
ffffffff82000000 D data
ffffffffc0001000 t ext4_lookup\t[ext4]
ffffffff81000200 w weak
";

    fn name(symbols: &Symbols, address: u64) -> Option<&str> {
        Some(symbols.get(symbols.find(address)?)?.name)
    }

    #[test]
    fn code_is_found_by_any_of_its_addresses() {
        let symbols = Symbols::parse(TEXT);
        assert_eq!(symbols.len(), 4);
        assert_eq!(name(&symbols, 0xffff_ffff_8100_0000), Some("startup_64"));
        assert_eq!(name(&symbols, 0xffff_ffff_8100_01ff), Some("do_work"));
        assert_eq!(name(&symbols, 0xffff_ffff_8100_0200), Some("weak"));
        assert_eq!(name(&symbols, 0xffff_ffff_c000_1001), Some("ext4_lookup [ext4]"));
        assert_eq!(name(&symbols, 0xffff_ffff_80ff_ffff), None);
    }

    #[test]
    fn the_name_does_not_depend_on_the_order_of_the_lines() {
        let backwards: Vec<&str> = TEXT.lines().rev().collect();
        let (other, symbols) = (Symbols::parse(&backwards.join("\n")), Symbols::parse(TEXT));
        let all = |symbols: &Symbols| -> Vec<(u64, String)> {
            let all = (0..symbols.len()).filter_map(|place| symbols.get(place));
            all.map(|symbol| (symbol.address, symbol.name.to_string())).collect()
        };
        assert_eq!(all(&other), all(&symbols));
    }

    #[test]
    fn garbage_is_passed_over() {
        let garbage =
            "\n \nffffffff81000000\nffffffff81000000 T\nzz T x\nffffffff81000000 T \u{1b}[31m\n0 T hidden\n";
        assert!(Symbols::parse(garbage).is_empty());
        let long = format!("ffffffff81000000 T {}\n", "x".repeat(NAME_MAX + 1));
        assert!(Symbols::parse(&long).is_empty());
    }

    proptest! {
        #[test]
        fn any_text_gives_symbols_in_order(text in "([0-9a-f]{1,17} [tTwWdD] [a-z_.]{0,6}(\t\\[[a-z]\\])?\n|\\PC{0,9}\n){0,30}") {
            let symbols = Symbols::parse(&text);
            for place in 0..symbols.len() {
                let address = symbols.get(place).unwrap().address;
                prop_assert_eq!(symbols.find(address), Some(place));
                prop_assert!(place == 0 || symbols.get(place - 1).unwrap().address < address);
            }
        }
    }
}

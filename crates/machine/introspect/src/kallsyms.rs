//! The kernel's own list of its symbols, found in its image: kernel/kallsyms.c, and the program of the same name that makes it.
//!
//! Names are made of 256 tokens. A character that is itself a token stands at its own number, so that the digits stand behind each other:
//! that is by what the table of tokens is found. The index of tokens lies behind it, the names with their count and their markers before it.

use std::cell::Cell;
use std::ops::Range;

use kernel::bytes::{u16_at, u32_at, u64_at};
use memchr::memmem;

use crate::image::Image;
use crate::memo::Memo;

/// Tokens for the digits.
const DIGITS: &[u8] = b"0\x001\x002\x003\x004\x005\x006\x007\x008\x009\x00";

/// The number of the first of them.
const FIRST_DIGIT: usize = b'0' as usize;

const TOKENS: usize = 256;

/// Names from marker to marker.
const MARKED: usize = 256;

/// The most symbols that are read, and the most bytes from their names to the tokens.
const SYMBOLS_MAX: usize = 1 << 20;
const NAMES_MAX: usize = 32 << 20;

/// The most steps of the search for the list: places and names that are passed, each token of a table.
const STEPS_MAX: usize = 64 << 20;

/// The most bytes of a name: `KSYM_NAME_LEN`.
const NAME_MAX: usize = 512;

/// The most symbols of one address that are looked at.
const ALIASES_MAX: usize = 256;

/// The symbols of a kernel.
#[derive(Debug, Default)]
pub(crate) struct Symbols {
    /// Address, kind and name, in the order of addresses.
    all: Vec<(u64, u8, String)>,
    addresses: Memo<u64>,
}

impl Symbols {
    /// Finds the list in an image.
    pub(crate) fn find(image: &Image) -> Option<Self> {
        let steps = Steps(Cell::new(STEPS_MAX));
        let places = memmem::find_iter(&image.bytes, DIGITS).take_while(|_| steps.take(TOKENS).is_some());
        places.filter_map(|at| Tables::at(image, at)?.symbols(image, &steps)).next()
    }

    /// The address of a symbol.
    pub(crate) fn address(&self, name: &str) -> Option<u64> {
        let find = |name: &str| self.all.iter().find(|(_, _, other)| other == name);
        self.addresses.get(name.to_owned(), |name| find(name).map(|(address, ..)| *address))
    }

    /// Where a symbol is, up to the next one behind it.
    pub(crate) fn range(&self, name: &str) -> Option<Range<u64>> {
        let begin = self.address(name)?;
        let behind = self.all.partition_point(|(address, ..)| *address <= begin);
        let end = self.all.get(behind).map_or(begin, |(end, ..)| *end);
        Some(begin..end)
    }

    /// Where the functions are whose names are wanted.
    pub(crate) fn functions(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<Range<u64>> {
        let found = self.all.iter().filter(|(_, _, name)| is_wanted(name));
        found.filter_map(|(address, ..)| self.function(*address)).map(|(range, _)| range).collect()
    }

    /// Where the last symbol up to an address is, and its name.
    pub(crate) fn nearest(&self, address: u64) -> Option<(u64, &str)> {
        let behind = self.all.partition_point(|(begin, ..)| *begin <= address);
        let (begin, ..) = self.all.get(behind.checked_sub(1)?)?;
        let first = self.all.partition_point(|(other, ..)| other < begin);
        self.all.get(first).map(|(begin, _, name)| (*begin, name.as_str()))
    }

    /// The function in which an address is: where it begins, where the next symbol does, and its name.
    pub(crate) fn function(&self, address: u64) -> Option<(Range<u64>, &str)> {
        let behind = self.all.partition_point(|(begin, ..)| *begin <= address);
        let is_code = |kind: u8| matches!(kind, b't' | b'T' | b'w' | b'W');
        // Of those with one address the first is what the kernel prints.
        let (begin, ..) = self.all.get(behind.checked_sub(1)?)?;
        let first = self.all.partition_point(|(other, ..)| other < begin);
        let mut aliases = self.all[first..behind].iter().take(ALIASES_MAX);
        let (begin, _, name) = aliases.find(|(_, kind, _)| is_code(*kind))?;
        let end = self.all.get(behind).map_or(*begin, |(end, ..)| *end);
        Some((*begin..end, name))
    }
}

/// What is left of the steps of a search.
struct Steps(Cell<usize>);

impl Steps {
    /// Takes so many; nothing if there are fewer, and then there are none any more.
    fn take(&self, steps: usize) -> Option<()> {
        let left = self.0.get().checked_sub(steps);
        self.0.set(left.unwrap_or(0));
        left.map(drop)
    }
}

/// Where the parts of the list are in an image.
struct Tables {
    /// Each token.
    tokens: Vec<Vec<u8>>,
    /// Where the table of tokens begins, and where the index behind it ends.
    begin: usize,
    end: usize,
}

impl Tables {
    /// The tables whose tokens for digits are here.
    fn at(image: &Image, digits: usize) -> Option<Self> {
        let bytes = &image.bytes;
        // Behind the digits come the other tokens, and then the index, which says where each of them begins.
        let mut end = digits;
        for _ in FIRST_DIGIT..TOKENS {
            end += bytes.get(end..)?.iter().take(NAME_MAX).position(|byte| *byte == 0)? + 1;
        }
        let place = |index: usize, token: usize| u16_at(bytes, (index + 2 * token) as u64).map(usize::from);
        let are_digits = |index: &usize| {
            let first = place(*index, FIRST_DIGIT);
            place(*index, 0) == Some(0)
                && (0..10)
                    .all(|digit| place(*index, FIRST_DIGIT + digit) == first.map(|first| first + 2 * digit))
        };
        let index = [end.next_multiple_of(4), end.next_multiple_of(8)].into_iter().find(are_digits)?;
        let place = |token: usize| place(index, token);
        let begin = digits.checked_sub(place(FIRST_DIGIT)?)?;
        let token = |token: usize| {
            let bytes = bytes.get(begin + place(token)?..)?;
            let length = bytes.iter().take(NAME_MAX).position(|byte| *byte == 0)?;
            Some(bytes[..length].to_vec())
        };
        let tokens = (0..TOKENS).map(token).collect::<Option<_>>()?;
        Some(Self { tokens, begin, end: index + 2 * TOKENS })
    }

    fn symbols(&self, image: &Image, steps: &Steps) -> Option<Symbols> {
        let bytes = &image.bytes;
        let (names, count) = self.names(bytes, steps)?;
        let addresses = self.addresses(image, names, count)?;
        let mut at = names;
        let mut all = Vec::with_capacity(count);
        for address in addresses {
            let name = self.name(bytes, &mut at)?;
            let (kind, name) = name.split_first()?;
            all.push((address, *kind, String::from_utf8_lossy(name).into_owned()));
        }
        all.sort_by_key(|(address, ..)| *address);
        Some(Symbols { all, addresses: Memo::default() })
    }

    /// Where the names begin, and how many there are: that stands before them, and behind them the markers, which say where each 256th name begins.
    fn names(&self, bytes: &[u8], steps: &Steps) -> Option<(usize, usize)> {
        let latest = self.begin / 8 * 8;
        let names = (latest.saturating_sub(NAMES_MAX).max(8)..=latest).rev().step_by(8);
        let mut names = names.take_while(|_| steps.take(1).is_some());
        names.find_map(|names| Some((names, self.count(bytes, names, steps)?)))
    }

    /// How many names begin here, if any do.
    fn count(&self, bytes: &[u8], names: usize, steps: &Steps) -> Option<usize> {
        let count = u32_at(bytes, (names - 8) as u64).map(|count| count as usize)?;
        if !(MARKED + 1..=SYMBOLS_MAX).contains(&count) || u32_at(bytes, (names - 4) as u64) != Some(0) {
            return None;
        }
        steps.take(count)?;
        let mut at = names;
        let first = self.name(bytes, &mut at)?;
        first.first().filter(|kind| b"AaBbDdRrTtVvWw".contains(kind))?;
        for _ in 1..MARKED {
            self.skip(bytes, &mut at)?;
        }
        let second = at - names;
        for _ in MARKED..count {
            self.skip(bytes, &mut at)?;
        }
        let markers = [at.next_multiple_of(4), at.next_multiple_of(8)];
        let is_marked = |at: usize| {
            u32_at(bytes, at as u64) == Some(0)
                && u32_at(bytes, (at + 4) as u64).is_some_and(|marker| marker as usize == second)
        };
        markers.into_iter().any(is_marked).then_some(count)
    }

    /// The tokens of the name at a place, which moves behind it.
    fn skip<'a>(&self, bytes: &'a [u8], at: &mut usize) -> Option<&'a [u8]> {
        let mut length = usize::from(*bytes.get(*at)?);
        *at += 1;
        if length & 0x80 != 0 {
            length = length & 0x7f | usize::from(*bytes.get(*at)?) << 7;
            *at += 1;
        }
        let tokens = bytes.get(*at..*at + length)?;
        *at += length;
        Some(tokens)
    }

    fn name(&self, bytes: &[u8], at: &mut usize) -> Option<Vec<u8>> {
        // Each token has a character at least.
        let tokens = self.skip(bytes, at).filter(|tokens| tokens.len() <= NAME_MAX)?;
        let name = tokens.iter().flat_map(|token| &self.tokens[usize::from(*token)]).copied();
        let name: Vec<u8> = name.take(NAME_MAX + 1).collect();
        (name.len() <= NAME_MAX).then_some(name)
    }

    /// The addresses, which lie before the names until Linux 6.3 and behind the tokens since.
    fn addresses(&self, image: &Image, names: usize, count: usize) -> Option<Vec<u64>> {
        let bytes = &image.bytes;
        let base_before = names.checked_sub(16)?;
        let before = base_before.checked_sub((4 * count).next_multiple_of(8));
        let behind = self.end.next_multiple_of(8);
        let base_behind = (behind + 4 * count).next_multiple_of(8);
        let candidates = [before.map(|offsets| (offsets, base_before)), Some((behind, base_behind))];
        let is_base = |base: u64| image.at(base, 1).is_some();
        candidates.into_iter().flatten().find_map(|(offsets, base)| {
            let base = u64_at(bytes, base as u64).filter(|base| is_base(*base))?;
            let address = |number: usize| Some(absolute(u32_at(bytes, (offsets + 4 * number) as u64)?, base));
            let all: Vec<u64> = (0..count).map(address).collect::<Option<_>>()?;
            all.iter().rev().take(MARKED).any(|address| is_base(*address)).then_some(all)
        })
    }
}

/// With `CONFIG_KALLSYMS_ABSOLUTE_PERCPU` a negative offset is one from the base, and others are addresses for themselves.
fn absolute(offset: u32, base: u64) -> u64 {
    match offset.cast_signed() {
        offset @ ..0 => base.wrapping_sub(1).wrapping_sub_signed(offset.into()),
        _ => offset.into(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BASE: u64 = 0xffff_ffff_8100_0000;

    /// An image with 600 symbols, `Tf0000` to `Tf0599`, 16 bytes from one to the next; each character is a token.
    fn image(are_addresses_behind: bool) -> Image {
        let count = 600_u32;
        let offsets: Vec<u8> =
            (0..count).flat_map(|at| (-1 - (16 * at).cast_signed()).to_le_bytes()).collect();
        let mut names = Vec::new();
        let mut markers = Vec::new();
        for at in 0..count {
            if at % 256 == 0 {
                markers.extend(u32::try_from(names.len()).expect("short").to_le_bytes());
            }
            let name = format!("Tf{at:04}");
            names.push(u8::try_from(name.len()).expect("short"));
            names.extend(name.bytes());
        }
        let tokens: Vec<u8> =
            (0..=255_u8).flat_map(|byte| if byte == 0 { vec![0] } else { vec![byte, 0] }).collect();
        let index: Vec<u8> =
            (0..256_u16).flat_map(|token| (2 * token).saturating_sub(1).to_le_bytes()).collect();
        let mut bytes = vec![0; 4096];
        let mut add = |part: &[u8]| {
            bytes.resize(bytes.len().next_multiple_of(8), 0);
            bytes.extend(part);
        };
        if !are_addresses_behind {
            add(&offsets);
            add(&BASE.to_le_bytes());
        }
        add(&u64::from(count).to_le_bytes());
        add(&names);
        add(&markers);
        add(&tokens);
        add(&index);
        if are_addresses_behind {
            add(&offsets);
            add(&BASE.to_le_bytes());
        }
        bytes.resize(32 << 10, 0);
        Image { begin: BASE, bytes }
    }

    #[test]
    fn symbols_are_found_wherever_their_addresses_are() {
        for are_addresses_behind in [false, true] {
            let symbols = Symbols::find(&image(are_addresses_behind)).expect("they are there");
            assert_eq!(symbols.all.len(), 600);
            assert_eq!(symbols.address("f0300"), Some(BASE + 16 * 300));
            let function = symbols.function(BASE + 16 * 300 + 5);
            assert_eq!(function, Some((BASE + 4800..BASE + 4816, "f0300")));
            assert_eq!(symbols.function(BASE - 1), None);
            assert_eq!(symbols.nearest(BASE + 16 * 300 + 5), Some((BASE + 4800, "f0300")));
            assert_eq!(symbols.nearest(BASE - 1), None);
        }
    }

    #[test]
    fn a_list_that_seems_to_begin_everywhere_uses_up_the_steps() {
        // Each eighth byte is a count of 65,535 names, of which the first has 32,767 tokens.
        let begin = [0xff, 0xff, 0, 0, 0, 0, 0, 0].repeat(1 << 12);
        let mut image = image(true);
        let tables = image.bytes.len();
        image.bytes.splice(..0, begin);
        let digits = memmem::find(&image.bytes[(1 << 15) + 8 * 700..], DIGITS).expect("it is there");
        let found = Tables::at(&image, (1 << 15) + 8 * 700 + digits).expect("they are there");
        assert!(found.begin > 1 << 15 && found.end <= image.bytes.len() && tables < image.bytes.len());
        let steps = Steps(Cell::new(10 * 65_535));
        let places = Tables { begin: 1 << 15, ..found };
        assert_eq!((places.names(&image.bytes, &steps), steps.0.get()), (None, 0));
        assert_eq!(steps.take(1), None);
        let mut at = 0;
        assert_eq!(places.name(&image.bytes, &mut at), None, "too many tokens");
    }

    proptest! {
        #[test]
        fn any_list_is_read(
            is_behind: bool,
            change in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        ) {
            let mut image = image(is_behind);
            for (at, byte) in change {
                let at = at.index(image.bytes.len());
                image.bytes[at] = byte;
            }
            let _ = Symbols::find(&image);
        }
    }
}

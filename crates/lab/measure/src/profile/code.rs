//! The code of the functions that were executed.

use std::collections::BTreeMap;

use super::symbolized::Symbolized;
use crate::code::Code;

impl Symbolized {
    /// The code of each function by its name, as far as the jobs executed it.
    #[must_use]
    pub fn code(&self) -> BTreeMap<String, Code> {
        let mut by_place = BTreeMap::<usize, Code>::new();
        for block in &self.profile.blocks {
            let mut address = block.address;
            for &size in &block.sizes {
                if let (Some(place), _) = self.symbols.entered(address) {
                    let begin = self.symbols.get(place).map_or(address, |symbol| symbol.address);
                    if let Ok(offset) = u32::try_from(address.wrapping_sub(begin)) {
                        by_place.entry(place).or_default().add(offset, size);
                    }
                }
                address = address.wrapping_add(size.into());
            }
        }
        let mut code = BTreeMap::<String, Code>::new();
        for (place, of_one) in by_place {
            if let Some(symbol) = self.symbols.get(place) {
                code.entry(symbol.name.to_string()).or_default().merge(&of_one);
            }
        }
        code
    }
}

#[cfg(test)]
mod tests {
    use super::super::file::{Block, Profile};
    use super::super::symbols::Symbols;
    use super::*;

    const TEXT: &str = "ffffffff81000000 T entry\nffffffff81000010 T inner\nffffffff81000020 t same\n\
        ffffffff81000030 t same\n";

    #[test]
    fn instructions_are_placed_in_their_functions() {
        let block = |address: u64, sizes: &[u8]| Block { address, sizes: sizes.to_vec() };
        let blocks = vec![
            block(0xffff_ffff_8100_000c, &[4, 2]),
            block(0xffff_ffff_8100_0000, &[3]),
            block(0xffff_ffff_8100_0020, &[1]),
            block(0xffff_ffff_8100_0030, &[2]),
            block(0xffff_ffff_8000_0000, &[1]),
        ];
        let profile = Profile { blocks, ..Profile::default() };
        let code = Symbolized::new(profile, Symbols::parse(TEXT)).code();
        let texts: Vec<_> =
            code.into_iter().map(|(name, code)| format!("{name} {}", String::from(code))).collect();
        assert_eq!(texts, ["entry 0:3,c:4", "inner 0:2", "same unclear"]);
    }
}

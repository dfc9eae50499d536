//! Loops that a CPU passes again and again, with nothing in between.

use std::ptr;

use protocol::hazard::{BLOCKS_MAX, LOOP_MAX};

/// Instructions that QEMU executes one after the other. There is one of each, which is never removed.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Code {
    /// Of the first instruction.
    pub address: u64,
    /// How many there are.
    pub instructions: u64,
    /// Their bytes.
    pub bytes: Box<[u8]>,
}

/// What one CPU does.
#[derive(Debug, Default)]
pub struct Spins {
    /// The blocks since the place at which a pass begins.
    blocks: [Option<&'static Code>; BLOCKS_MAX],
    length: usize,
    /// How many instructions they have.
    instructions: u64,
    /// How many of them have been executed in this pass, once the pass is known.
    next: usize,
    /// How often the pass was made, if it was made at all.
    passes: u64,
    /// The number of the loop, once that was passed too often.
    pub site: Option<u32>,
}

/// What a block shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Nothing.
    Other,
    /// A loop has been passed once more: so many times in all.
    Pass(u64),
    /// A loop that was passed so many times is over.
    Over(u64),
}

impl Spins {
    /// A block begins.
    #[inline]
    pub fn enter(&mut self, code: &'static Code) -> Step {
        if self.passes == 0 {
            return self.record(code);
        }
        if self.next < self.length && self.is_at(self.next, code) {
            self.next += 1;
            return Step::Other;
        }
        if self.next == self.length && self.is_at(0, code) {
            self.next = 1;
            self.passes += 1;
            return Step::Pass(self.passes);
        }
        // It may go on to where it began, by another way.
        let passes = std::mem::take(&mut self.passes);
        self.length = self.next;
        self.instructions =
            self.blocks.iter().take(self.length).flatten().map(|block| block.instructions).sum();
        self.add(code);
        Step::Over(passes)
    }

    /// The blocks of a pass, the one with the lowest address first, wherever it is entered.
    #[must_use]
    pub fn pass(&self) -> Vec<&'static Code> {
        let mut blocks: Vec<&Code> = self.blocks.iter().take(self.length).copied().flatten().collect();
        let lowest = (0..blocks.len()).min_by_key(|index| blocks[*index].address).unwrap_or(0);
        blocks.rotate_left(lowest);
        blocks
    }

    fn is_at(&self, place: usize, code: &'static Code) -> bool {
        self.blocks[place].is_some_and(|block| ptr::eq(block, code))
    }

    /// Goes on with a pass that is not known yet.
    fn record(&mut self, code: &'static Code) -> Step {
        if self.length > 0 && self.is_at(0, code) {
            (self.next, self.passes) = (1, 1);
        } else {
            self.add(code);
        }
        Step::Other
    }

    /// Adds a block, or begins with it where a loop would be too long.
    fn add(&mut self, code: &'static Code) {
        if self.length == BLOCKS_MAX || self.instructions + code.instructions > LOOP_MAX {
            (self.length, self.instructions) = (0, 0);
        }
        self.blocks[self.length] = Some(code);
        self.length += 1;
        self.instructions += code.instructions;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(address: u64, instructions: u64) -> &'static Code {
        Box::leak(Box::new(Code { address, instructions, bytes: Box::default() }))
    }

    /// What the CPU shows after each of these blocks.
    fn steps(spins: &mut Spins, blocks: &[&'static Code]) -> Vec<Step> {
        blocks.iter().map(|block| spins.enter(block)).collect()
    }

    #[test]
    fn passes_of_the_same_blocks_are_counted_until_others_come() {
        let (first, second, other) = (code(0x20, 3), code(0x10, 3), code(0x99, 3));
        let mut spins = Spins::default();
        let pass = [first, second];
        assert_eq!(steps(&mut spins, &pass), [Step::Other, Step::Other]);
        assert_eq!(steps(&mut spins, &pass), [Step::Other, Step::Other]);
        assert_eq!(steps(&mut spins, &pass), [Step::Pass(2), Step::Other]);
        assert_eq!(steps(&mut spins, &pass), [Step::Pass(3), Step::Other]);
        let addresses: Vec<u64> = spins.pass().iter().map(|code| code.address).collect();
        assert_eq!(addresses, [0x10, 0x20]);
        // A pass by another way ends it.
        assert_eq!(steps(&mut spins, &[first, other]), [Step::Pass(4), Step::Over(4)]);
        assert_eq!(steps(&mut spins, &[first, other, first]), [Step::Other, Step::Other, Step::Pass(2)]);
    }

    #[test]
    fn a_block_that_repeats_itself_is_a_loop() {
        let block = code(0x10, 1);
        let mut spins = Spins::default();
        let passes = steps(&mut spins, &[block; 1000]);
        assert_eq!(passes.last(), Some(&Step::Pass(999)));
    }

    #[test]
    fn what_is_longer_is_no_loop() {
        let blocks: Vec<&'static Code> = (0..10).map(|number| code(number, 10)).collect();
        let mut spins = Spins::default();
        let passes: Vec<Step> = (0..50).flat_map(|_| steps(&mut spins, &blocks)).collect();
        assert!(passes.iter().all(|step| *step == Step::Other), "{passes:?}");
    }

    #[test]
    fn a_loop_behind_other_code_is_found() {
        let before: Vec<&'static Code> = (0..9).map(|number| code(number, 5)).collect();
        let (one, two) = (code(0x100, 3), code(0x200, 2));
        let mut spins = Spins::default();
        steps(&mut spins, &before);
        let passes: Vec<Step> = (0..100).flat_map(|_| steps(&mut spins, &[one, two])).collect();
        assert!(matches!(passes[198..], [Step::Pass(90..), Step::Other] | [Step::Other, Step::Pass(90..)]));
    }
}

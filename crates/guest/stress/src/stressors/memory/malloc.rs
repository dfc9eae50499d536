//! `malloc`: the allocator of libc, and with it brk(2) and mmap(2).

use harness::check::{Checked, broken, holds};

use crate::Worker;
use crate::kit::content;
use crate::stressor::{Class, Setting, Stressor, number, size};
use harness::random::Random;

const BYTES: Setting = size("bytes", "largest allocation", 64..=64 << 20, 64 << 10);
const MAX: Setting = number("max", "allocations at a time", 1..=65536, 1024);

pub(super) const STRESSOR: Stressor = Stressor {
    name: "malloc",
    classes: &[Class::Memory, Class::CpuCache, Class::Vm, Class::Os],
    about: "malloc(3), calloc(3), realloc(3) and free(3) of random sizes in random order",
    operation: "one call",
    verifies: "each allocation keeps its content, also when it moves; calloc(3) gives zeroes",
    options: &[BYTES, MAX],
    body,
    ..Stressor::PLAIN
};

/// An allocation; it is freed when dropped.
struct Block {
    start: *mut u8,
    size: usize,
    seed: u64,
}

impl Block {
    /// Takes over what malloc(3) or calloc(3) gave.
    fn new(start: *mut libc::c_void, size: usize, seed: u64) -> Checked<Self> {
        if start.is_null() {
            return broken("no more memory: RLIMIT_AS, or the limit of the cgroup");
        }
        Ok(Self { start: start.cast(), size, seed })
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: allocated with this size.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.size) }
    }

    fn fill(&mut self) {
        let seed = self.seed;
        content::fill(self.bytes(), seed, 0);
    }

    fn verify(&mut self) -> Checked {
        let seed = self.seed;
        content::verify("an allocation", self.bytes(), seed, 0)
    }

    /// Keeps the content as far as both sizes go.
    fn resize(&mut self, size: usize) -> Checked {
        // SAFETY: allocated, and replaced by the result.
        let start = unsafe { libc::realloc(self.start.cast(), size) };
        if start.is_null() {
            return broken("no more memory for realloc(3)");
        }
        let kept = self.size.min(size);
        (self.start, self.size) = (start.cast(), size);
        let seed = self.seed;
        content::verify("a resized allocation", &self.bytes()[..kept], seed, 0)?;
        self.fill();
        Ok(())
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: allocated, and not used after this.
        unsafe { libc::free(self.start.cast()) };
    }
}

fn allocate(random: &mut Random, size: usize) -> Checked<Block> {
    let seed = random.next_u64();
    let mut block = if seed.is_multiple_of(2) {
        // SAFETY: any size may be asked for.
        Block::new(unsafe { libc::malloc(size) }, size, seed)?
    } else {
        // SAFETY: any size may be asked for.
        let mut block = Block::new(unsafe { libc::calloc(1, size) }, size, seed)?;
        holds("calloc(3) gives zeroes", block.bytes().iter().all(|&byte| byte == 0))?;
        block
    };
    block.fill();
    Ok(block)
}

fn body(worker: &Worker) -> Checked {
    let (most, largest, mut random) = (worker.size(&MAX), worker.size(&BYTES), worker.random());
    let mut blocks: Vec<Block> = Vec::with_capacity(most);
    worker.repeat(|| {
        let size = 1 + random.below(largest);
        let at = random.below(most);
        match blocks.get_mut(at) {
            None => blocks.push(allocate(&mut random, size)?),
            Some(block) if random.below(3) == 0 => block.resize(size)?,
            Some(block) => {
                block.verify()?;
                drop(blocks.swap_remove(at));
            }
        }
        Ok(())
    })
}

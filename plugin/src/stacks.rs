//! Who called whom in the kernel.
//!
//! Each call and each return tells where the stack is. A kernel stack is an aligned piece of memory, so that its address
//! also says whose stack it is: what another task, or an interrupt on a stack of its own, does in between is kept apart.
//! What a task called before recording began is not known.

use protocol::profile::{FRAMES_MAX, STACKS_MAX};

use crate::hash::Table;

/// The number of a chain of calls; the first one has none.
pub type Chain = u32;

/// Size and alignment of a kernel stack on x86-64, as a power of two (`THREAD_SIZE`).
const STACK_SHIFT: u32 = 14;

/// Most stacks of a repetition that are told apart.
const TASKS_MAX: usize = 1024;

/// How a block ends, as far as stacks are concerned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum End {
    /// Somehow.
    #[default]
    Other,
    /// With a call.
    Call,
    /// With the return from one.
    Return,
    /// With the return to where the kernel was entered.
    Leave,
}

impl End {
    /// How a block with this last instruction ends (Intel's Software Developer's Manual, volume 2).
    #[must_use]
    pub fn of(instruction: &[u8]) -> Self {
        let prefix = |byte: &u8| matches!(byte, 0x2e | 0x3e | 0x40..=0x4f | 0x66 | 0xf2 | 0xf3);
        let prefixes = instruction.iter().take_while(|byte| prefix(byte)).count();
        match instruction.get(prefixes..).unwrap_or_default() {
            [0xe8, ..] => Self::Call,
            [0xff, operand, ..] if (operand >> 3) & 7 == 2 => Self::Call,
            [0xc2 | 0xc3, ..] => Self::Return,
            // iretq, sysretq
            [0xcf] | [0x0f, 0x07] => Self::Leave,
            _ => Self::Other,
        }
    }
}

/// A call.
#[derive(Debug)]
struct Frame {
    /// Where its address of return lies, and this address.
    place: u64,
    back: u64,
    caller: Chain,
    callee: Chain,
}

/// A function that was called from others.
#[derive(Debug)]
pub struct Link {
    /// The chain of its caller, which has a smaller number.
    pub caller: Chain,
    /// Where it was entered.
    pub entry: u64,
    depth: usize,
}

/// The chains of calls that there were, and the stacks of a repetition.
#[derive(Debug)]
pub struct Stacks {
    links: Vec<Link>,
    known: Table<(Chain, u64), Chain>,
    tasks: Table<u64, Vec<Frame>>,
    current: Chain,
}

impl Default for Stacks {
    fn default() -> Self {
        let root = Link { caller: 0, entry: 0, depth: 0 };
        Self { links: vec![root], known: Table::default(), tasks: Table::default(), current: 0 }
    }
}

impl Stacks {
    /// The chain of calls that leads to what is executed now.
    #[must_use]
    pub fn current(&self) -> Chain {
        self.current
    }

    /// All chains.
    #[must_use]
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Nothing is on any stack.
    pub fn forget(&mut self) {
        self.tasks.clear();
        self.current = 0;
    }

    /// The kernel was entered from user space, with nothing on the stack.
    pub fn enter(&mut self) {
        self.current = 0;
    }

    /// A call, with its address of return at this place.
    pub fn call(&mut self, place: u64, back: u64, entry: u64) {
        let full = self.tasks.len() >= TASKS_MAX;
        let stack = place >> STACK_SHIFT;
        if full && !self.tasks.contains_key(&stack) {
            return;
        }
        let frames = self.tasks.entry(stack).or_default();
        while frames.pop_if(|frame| frame.place <= place).is_some() {}
        // On a stack where nothing is known it may be that the caller changed to another stack.
        let caller = frames.last().map_or(self.current, |frame| frame.callee);
        let callee = link(&mut self.links, &mut self.known, caller, entry);
        if frames.len() < FRAMES_MAX {
            frames.push(Frame { place, back, caller, callee });
        }
        self.current = callee;
    }

    /// A return by the address at this place to there. An indirect call by way of a thunk is a return to a function: it
    /// is as if that one had been called instead of the thunk (Documentation/admin-guide/hw-vuln/spectre.rst).
    pub fn return_to(&mut self, place: u64, to: u64) {
        let Some(frames) = self.tasks.get_mut(&(place >> STACK_SHIFT)) else {
            self.current = 0;
            return;
        };
        while frames.pop_if(|frame| frame.place < place).is_some() {}
        let own = frames.pop_if(|frame| frame.place == place);
        self.current = match (own, frames.last_mut()) {
            (Some(own), _) if own.back == to => own.caller,
            (Some(_), Some(thunk)) => {
                thunk.callee = link(&mut self.links, &mut self.known, thunk.caller, to);
                thunk.callee
            }
            (_, last) => last.map_or(0, |frame| frame.callee),
        };
    }
}

/// The chain of `caller` and one call more.
fn link(links: &mut Vec<Link>, known: &mut Table<(Chain, u64), Chain>, caller: Chain, entry: u64) -> Chain {
    if let Some(&chain) = known.get(&(caller, entry)) {
        return chain;
    }
    let depth = links.get(caller as usize).map_or(0, |link| link.depth) + 1;
    if links.len() >= STACKS_MAX || depth > FRAMES_MAX {
        return caller;
    }
    let chain = Chain::try_from(links.len()).unwrap_or(caller);
    links.push(Link { caller, entry, depth });
    known.insert((caller, entry), chain);
    chain
}

#[cfg(test)]
mod tests {
    use super::*;

    const STACK: u64 = 0xffff_c900_0000_4000;
    const OTHER: u64 = STACK + (1 << STACK_SHIFT);

    /// The entries of the functions that led to what is executed now.
    fn chain(stacks: &Stacks) -> Vec<u64> {
        let mut chain = Vec::new();
        let mut current = stacks.current();
        while current != 0 {
            let link = &stacks.links()[current as usize];
            chain.insert(0, link.entry);
            current = link.caller;
        }
        chain
    }

    #[test]
    fn the_last_instruction_tells_how_a_block_ends() {
        assert_eq!(End::of(&[0xe8, 1, 2, 3, 4]), End::Call);
        assert_eq!(End::of(&[0x2e, 0xff, 0xd0]), End::Call);
        assert_eq!(End::of(&[0x41, 0xff, 0x54, 0x24, 8]), End::Call);
        assert_eq!(End::of(&[0xff, 0xe0]), End::Other);
        assert_eq!(End::of(&[0xf3, 0xc3]), End::Return);
        assert_eq!(End::of(&[0x48, 0xcf]), End::Leave);
        assert_eq!(End::of(&[0x48, 0x0f, 0x07]), End::Leave);
        assert_eq!(End::of(&[]), End::Other);
    }

    #[test]
    fn calls_and_returns_go_down_and_up() {
        let mut stacks = Stacks::default();
        stacks.call(STACK + 100, 1, 10);
        stacks.call(STACK + 80, 2, 20);
        assert_eq!(chain(&stacks), [10, 20]);
        stacks.return_to(STACK + 80, 2);
        assert_eq!(chain(&stacks), [10]);
        stacks.call(STACK + 80, 3, 20);
        assert_eq!(chain(&stacks), [10, 20]);
        assert_eq!(stacks.links().len(), 3);
        stacks.return_to(STACK + 100, 1);
        assert!(chain(&stacks).is_empty());
    }

    #[test]
    fn another_task_has_its_own_chain() {
        let mut stacks = Stacks::default();
        stacks.call(STACK + 100, 1, 10);
        stacks.call(STACK + 80, 2, 99);
        // The other one goes on where it once was, which nobody saw.
        stacks.return_to(OTHER + 80, 2);
        assert!(chain(&stacks).is_empty());
        stacks.call(OTHER + 60, 3, 30);
        stacks.call(OTHER + 40, 4, 99);
        stacks.return_to(STACK + 80, 2);
        assert_eq!(chain(&stacks), [10]);
        stacks.call(STACK + 80, 2, 99);
        stacks.return_to(OTHER + 40, 4);
        assert_eq!(chain(&stacks), [30]);
    }

    #[test]
    fn an_interrupt_on_its_own_stack_is_called_by_what_it_interrupts() {
        let mut stacks = Stacks::default();
        stacks.call(STACK + 100, 1, 10);
        stacks.call(OTHER + 100, 2, 50);
        assert_eq!(chain(&stacks), [10, 50]);
        stacks.return_to(OTHER + 100, 2);
        assert_eq!(chain(&stacks), [10]);
    }

    #[test]
    fn a_thunk_is_the_function_that_it_leads_to() {
        let mut stacks = Stacks::default();
        stacks.call(STACK + 100, 1, 10);
        stacks.call(STACK + 80, 2, 66);
        stacks.call(STACK + 72, 67, 68);
        stacks.return_to(STACK + 72, 20);
        assert_eq!(chain(&stacks), [10, 20]);
        stacks.return_to(STACK + 80, 2);
        assert_eq!(chain(&stacks), [10]);
    }

    #[test]
    fn recursion_has_an_end() {
        let mut stacks = Stacks::default();
        for depth in 0..10_000 {
            stacks.call(STACK + (1 << STACK_SHIFT) - 1 - depth, 1, 10);
        }
        assert_eq!(chain(&stacks).len(), FRAMES_MAX);
    }
}

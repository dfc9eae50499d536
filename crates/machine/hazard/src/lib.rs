//! What a loop of instructions does that a CPU passes again and again: whether it waits for something, and for what.
//!
//! A loop waits if nothing but another CPU, a device or an interrupt can end it: no pass changes anything that the next one sees. That is how
//! busy waiting is told from work in hardware, too (T. Li, A. Lebeck, D. Sorin, "Spin Detection Hardware for Improved Management of
//! Multithreaded Systems", IEEE TPDS 17(6), 2006). One with `pause` says itself that it waits, also if it counts its passes, unless it
//! waits for the time.

mod looks;
mod pass;

use iced_x86::{Decoder, DecoderOptions, Formatter, GasFormatter, Instruction};
pub use looks::Cpu;
use protocol::hazard::Block;

/// Most instructions of a pass that are looked at.
const INSTRUCTIONS_MAX: usize = 256;

/// The instructions of one pass, in the order in which they are executed.
#[derive(Debug, Clone)]
pub struct Loop {
    instructions: Vec<Instruction>,
    code: Vec<u8>,
}

impl Loop {
    /// The loop of these blocks; nothing if they are not code of x86-64.
    #[must_use]
    pub fn decode(blocks: &[Block]) -> Option<Self> {
        let instructions: Vec<Instruction> = blocks.iter().flat_map(decode).take(INSTRUCTIONS_MAX).collect();
        let is_code = !instructions.is_empty() && !instructions.iter().any(Instruction::is_invalid);
        let code = blocks.first()?.code.clone();
        is_code.then_some(Self { instructions, code })
    }

    /// Whether it waits.
    #[must_use]
    pub fn waits(&self) -> bool {
        pass::waits(&self.instructions)
    }

    /// The addresses at which it looks in a pass of this CPU, each once, as far as they can be known.
    pub fn looks_at(&self, cpu: &mut dyn Cpu) -> Vec<u64> {
        looks::looks(&self.instructions, cpu)
    }

    /// The address at which it begins.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.instructions.first().map_or(0, Instruction::ip)
    }

    /// What is at that address: the code of its first block.
    #[must_use]
    pub fn code(&self) -> &[u8] {
        &self.code
    }

    /// Its instructions, with their addresses, as objdump(1) shows them.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut formatter = GasFormatter::new();
        formatter.options_mut().set_branch_leading_zeros(false);
        formatter.options_mut().set_uppercase_hex(false);
        let mut line = |instruction: &Instruction| {
            let mut text = format!("{:x}: ", instruction.ip());
            formatter.format(instruction, &mut text);
            text
        };
        self.instructions.iter().map(&mut line).collect()
    }
}

fn decode(block: &Block) -> Vec<Instruction> {
    Decoder::with_ip(64, &block.code, block.address, DecoderOptions::NONE).into_iter().collect()
}

#[cfg(test)]
mod tests;

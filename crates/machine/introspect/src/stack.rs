//! The calls of a thread of the kernel.

use serde::{Deserialize, Serialize};

use crate::code::Code;
use crate::memory::Memory;
use crate::orc::{Caller, Place};

/// Calls of a stack at most.
const DEPTH_MAX: usize = 64;

/// Words of a stack in which the next call is looked for where frames are not known.
const WORDS_MAX: u64 = 512;

/// A call, the innermost first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Call {
    /// As the kernel prints it: `schedule+0x5e/0xd0`, with the module behind it.
    pub text: String,
    /// Whether it is only an address on the stack: what was called before, or by whom.
    pub is_guess: bool,
}

/// The calls from a place on.
pub(crate) fn calls(code: &Code, memory: &mut Memory<'_>, place: Place) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut next = Some((place, false));
    while let Some((place, is_guess)) = next.filter(|_| calls.len() < DEPTH_MAX) {
        // Where a CPU is may be anything; the others are addresses of code.
        let text = code.name(memory, place.ip).unwrap_or_else(|| format!("{:#x}", place.ip));
        calls.push(Call { text, is_guess });
        next = match code.caller(memory, place) {
            Caller::Found(caller) => Some((caller, false)),
            Caller::Nobody => None,
            Caller::Unknown => guess(code, memory, place).map(|place| (place, true)),
        };
    }
    calls
}

/// The next address on the stack that is in the code.
fn guess(code: &Code, memory: &mut Memory<'_>, place: Place) -> Option<Place> {
    let begin = place.sp.checked_next_multiple_of(8)?;
    (0..WORDS_MAX).find_map(|word| {
        let at = begin.checked_add(8 * word)?;
        let (ip, sp) = (memory.word(at)?, at.checked_add(8)?);
        code.has(ip).then_some(Place { ip, sp, bp: place.bp, is_interrupted: false })
    })
}

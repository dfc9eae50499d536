//! Any bytes in place of what QEMU's plugin says, and of the code of a guest: loops are decoded, judged and shown without harm.

#![no_main]

use hazard::{Cpu, Loop};
use libfuzzer_sys::fuzz_target;
use protocol::hazard::{Block, Message, Messages};

/// A CPU whose registers and memory are made of their names and addresses.
struct Any;

impl Cpu for Any {
    fn register(&self, name: &str) -> Option<u64> {
        name.bytes().last().map(|last| u64::MAX / u64::from(last))
    }

    fn memory(&mut self, address: u64) -> Option<u64> {
        (address % 3 > 0).then(|| address.rotate_left(17))
    }
}

fn look(blocks: &[Block]) {
    let Some(found) = Loop::decode(blocks) else { return };
    let lines = found.lines();
    assert!(!lines.is_empty() && !lines.iter().any(|line| line.contains(char::is_control)), "{lines:?}");
    let mut addresses = found.looks_at(&mut Any);
    let count = addresses.len();
    addresses.sort_unstable();
    addresses.dedup();
    assert!(addresses.len() == count && count <= lines.len(), "{lines:?}");
    let _ = found.waits();
}

fuzz_target!(|input: &[u8]| {
    let mut messages = Messages::default();
    messages.feed(input);
    while let Ok(Some(message)) = messages.take() {
        if let Message::Hot(hot) = message {
            look(&hot.blocks);
        }
    }
    let blocks: Vec<Block> = input
        .chunks(32)
        .enumerate()
        .map(|(number, code)| Block {
            address: 0xffff_ffff_8100_0000 + 32 * number as u64,
            code: code.to_vec(),
        })
        .collect();
    look(&blocks);
});

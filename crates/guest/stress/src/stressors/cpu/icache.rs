//! `icache`: code that is changed and executed at once.

use std::hint::black_box;

use harness::check::{Checked, equal};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use rustix::param::page_size;

use crate::Worker;
use crate::kit::support::supported;
use crate::stressor::{Class, Stressor};

pub(super) const STRESSOR: Stressor = Stressor {
    name: "icache",
    classes: &[Class::CpuCache, Class::Cpu],
    about: "a function that is overwritten before each call: self-modifying code",
    operation: "64 functions written and called",
    verifies: "the call gives what the function was just changed to give",
    body,
    ..Stressor::PLAIN
};

const FUNCTIONS: usize = 64;

/// `mov eax, 0; ret`; the number is at bytes 1 to 4.
const CODE: [u8; 6] = [0xb8, 0, 0, 0, 0, 0xc3];

fn body(worker: &Worker) -> Checked {
    let access = ProtFlags::READ | ProtFlags::WRITE | ProtFlags::EXEC;
    // SAFETY: a new mapping at an address that the kernel chooses.
    let page = unsafe { mmap_anonymous(std::ptr::null_mut(), page_size(), access, MapFlags::PRIVATE) };
    let page: *mut u8 = supported("memory that is writable and executable", page)?.cast();
    let mut number = 0_u32;
    worker.repeat(|| {
        for place in 0..FUNCTIONS {
            number = number.wrapping_add(1);
            let start = page.wrapping_add(place * page_size() / FUNCTIONS);
            let [a, b, c, d] = number.to_le_bytes();
            let code = [CODE[0], a, b, c, d, CODE[5]];
            // SAFETY: inside the page, and no reference points into it.
            unsafe { start.cast::<[u8; 6]>().write_volatile(code) };
            // SAFETY: a function that sets the result and returns; this processor sees its own writes.
            let function: extern "C" fn() -> u32 = unsafe { std::mem::transmute(black_box(start)) };
            equal("what the function gives", function(), number)?;
        }
        Ok(())
    })
}

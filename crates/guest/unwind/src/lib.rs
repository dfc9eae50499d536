//! The calls of a program, by its registers and its stack, with inlined functions and lines of source where there is debug
//! information.
//!
//! * [`code`]: a file with code: how its functions return; [`Library`] reads each once
//! * [`Image`]: such a file where it is mapped into a process
//! * [`AddressSpace`]: all of a process, from registers to [`Call`]s
//! * [`Names`]: what is at a call

mod address_space;
mod code;
mod image;
mod names;
mod vdso;

pub use address_space::{AddressSpace, Call, Registers, Unwound};
pub use code::{Code, Library};
pub use image::Image;
pub use names::{Frame, Names, Source};

//! What is at an address of a program.

use std::borrow::Cow;
use std::collections::HashMap;

use addr2line::{Loader, demangle_auto};

use crate::code::{Code, Identity};
use crate::image::Image;

/// A function of a stack.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Frame {
    /// Where its instruction is in memory.
    pub address: u64,
    /// The file of the program or library.
    pub file: Option<String>,
    /// Its address as the file counts.
    pub file_address: u64,
    /// The function.
    pub function: Option<String>,
    /// Where the function is in the source.
    pub source: Option<Source>,
    /// Its code is part of that of the next frame.
    pub is_inlined: bool,
}

/// A line of source.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Source {
    /// Its file.
    pub file: String,
    /// Its number, if that is known.
    pub line: Option<u32>,
}

/// The names of functions, read from a file when something of it is looked up.
#[derive(Default)]
pub struct Names {
    loaders: HashMap<Identity, Option<Loader>>,
}

impl std::fmt::Debug for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Names").field("files", &self.loaders.len()).finish()
    }
}

impl Names {
    /// The functions at an address, the innermost first; the last one is not inlined.
    pub(crate) fn frames(&mut self, address: u64, file_address: u64, image: Option<&Image>) -> Vec<Frame> {
        let Some(image) = image else { return vec![Frame { address, file_address, ..Frame::default() }] };
        let mut frames = self.of_code(&image.code, file_address);
        for frame in &mut frames {
            frame.address = address;
            frame.file = Some(image.name.to_string());
        }
        frames
    }

    /// The functions at an address of a file, without the file's name and the address in memory.
    pub fn of_code(&mut self, code: &Code, file_address: u64) -> Vec<Frame> {
        let frame = Frame { file_address, ..Frame::default() };
        let Some(loader) = self.loader(code) else { return vec![frame] };
        let mut frames = inlined(loader, &frame);
        if frames.is_empty() {
            frames.push(frame);
        }
        let last = frames.len() - 1;
        frames[..last].iter_mut().for_each(|frame| frame.is_inlined = true);
        if frames[last].function.is_none() {
            frames[last].function =
                loader.find_symbol(file_address).map(|name| demangle_auto(name.into(), None).into_owned());
        }
        frames
    }

    /// The debug information of a file, or its symbols.
    fn loader(&mut self, code: &Code) -> Option<&Loader> {
        let load = || code.sources().find_map(|path| Loader::new(path).ok());
        self.loaders.entry(code.identity).or_insert_with(load).as_ref()
    }
}

/// The functions that debug information knows.
fn inlined(loader: &Loader, frame: &Frame) -> Vec<Frame> {
    let mut frames = Vec::new();
    let Ok(mut found) = loader.find_frames(frame.file_address) else { return frames };
    while let Ok(Some(found)) = found.next() {
        let name = found.function.and_then(|function| function.demangle().ok().map(Cow::into_owned));
        let source = found
            .location
            .and_then(|location| Some(Source { file: location.file?.to_owned(), line: location.line }));
        frames.push(Frame { function: name, source, ..frame.clone() });
    }
    frames
}

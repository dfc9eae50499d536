//! A program of the host, with what it needs to run elsewhere.
//!
//! The libraries are found by reading the program, never by running it: it may not be trusted.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use object::LittleEndian as Little;
use object::elf::{DT_NEEDED, DT_RPATH, DT_RUNPATH, FileHeader64};
use object::read::elf::{Dyn, FileHeader, ProgramHeader};

use crate::error::Error;
use crate::instruments;

/// Largest file that is shipped, in bytes.
const SIZE_MAX: u64 = 256 << 20;

/// Most libraries of one program.
const LIBRARIES_MAX: usize = 256;

/// Where the dynamic loader looks: ld.so(8), with the directories of Debian and Fedora.
const DIRECTORIES: &[&str] = &[
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
    "/usr/local/lib/x86_64-linux-gnu",
    "/usr/local/lib",
];

/// A program and the files it needs.
#[derive(Debug, Clone)]
pub struct Program {
    /// Its own bytes.
    pub content: Vec<u8>,
    /// Loader, libraries and interpreter, shipped under the same paths.
    pub libraries: Vec<PathBuf>,
}

/// What a program file asks for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wants {
    /// Dynamic loader, or interpreter of a script.
    interpreter: Option<String>,
    libraries: Vec<String>,
    /// Own search directories.
    directories: Vec<String>,
}

/// Files of the host that programs need, each once.
#[derive(Debug, Clone, Default)]
pub struct Needs {
    files: BTreeSet<PathBuf>,
}

impl Needs {
    /// Adds what the program at `path` with this content needs; nothing if that is not all there.
    ///
    /// # Errors
    ///
    /// When it is no executable for this machine or needs something that the host lacks.
    pub fn add(&mut self, path: &Path, content: &[u8]) -> Result<(), Error> {
        let mut found = BTreeSet::new();
        let mut open = vec![(path.to_path_buf(), wants(path, content)?)];
        while let Some((user, wants)) = open.pop() {
            for file in files(&user, &wants)? {
                if found.len() >= LIBRARIES_MAX {
                    return Err(error(path, "needs too many libraries"));
                }
                if !self.files.contains(&file) && found.insert(file.clone()) {
                    let next = self::wants(&file, &read(&file)?)?;
                    open.push((file, next));
                }
            }
        }
        self.files.extend(found);
        Ok(())
    }

    /// Loaders, libraries and interpreters, shipped under the same paths.
    pub fn files(self) -> impl Iterator<Item = PathBuf> {
        self.files.into_iter()
    }
}

impl Program {
    /// Reads the program at `path` and finds what it needs.
    ///
    /// # Errors
    ///
    /// When it is no executable for this machine or needs something that the host lacks.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let content = read(path)?;
        let mut needs = Needs::default();
        needs.add(path, &content)?;
        Ok(Self { content, libraries: needs.files().collect() })
    }

    /// Finds `name` where the host keeps its programs.
    #[must_use]
    pub fn find(name: &str) -> Option<PathBuf> {
        const SYSTEM: [&str; 6] =
            ["/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/bin", "/bin"];
        let in_system = || SYSTEM.iter().map(|place| Path::new(place).join(name)).find(|file| file.is_file());
        host::find_program(name).or_else(in_system)
    }
}

/// The bytes of a file of bounded size, or of an instrument that a path such as `kiln:latency` names.
///
/// # Errors
///
/// When it cannot be read, is no plain file or larger than what is shipped, or when there is no such instrument.
pub fn read(path: &Path) -> Result<Vec<u8>, Error> {
    if let Some(instrument) = instruments::named(path).map_err(|why| error(path, &why))? {
        return Ok(instrument.content.to_vec());
    }
    let metadata = std::fs::metadata(path).map_err(|source| error(path, &source.to_string()))?;
    if !metadata.is_file() {
        return Err(error(path, "is not a file"));
    }
    if metadata.len() > SIZE_MAX {
        return Err(error(path, "is too large to be shipped into a machine"));
    }
    std::fs::read(path).map_err(|source| error(path, &source.to_string()))
}

fn error(path: &Path, why: &str) -> Error {
    Error::Program { program: path.display().to_string(), why: why.to_string() }
}

fn wants(path: &Path, content: &[u8]) -> Result<Wants, Error> {
    if let Some(words) = interpreter(content) {
        return Ok(script(words));
    }
    let header = FileHeader64::<Little>::parse(content)
        .map_err(|_| error(path, "is neither a 64-bit ELF program nor a script"))?;
    if header.e_machine(Little) != object::elf::EM_X86_64 {
        return Err(error(path, "is a program for another architecture"));
    }
    dynamic(header, content).ok_or_else(|| error(path, "is a damaged ELF file"))
}

/// The words after the `#!` of a script.
#[must_use]
pub fn interpreter(content: &[u8]) -> Option<Vec<String>> {
    let line = content.strip_prefix(b"#!")?;
    let line = String::from_utf8_lossy(&line[..line.len().min(256)]).into_owned();
    Some(line.lines().next().unwrap_or_default().split_whitespace().map(str::to_string).collect())
}

/// The interpreter of a script; `#!/usr/bin/env NAME` needs NAME as well.
fn script(words: Vec<String>) -> Wants {
    let mut words = words.into_iter();
    let interpreter = words.next();
    let by_name = interpreter.as_deref().is_some_and(|path| path.ends_with("/env"));
    let named = by_name.then(|| words.find(|word| !word.starts_with('-')));
    let named = named.flatten().and_then(|name| Program::find(&name));
    let libraries = named.map(|path| path.display().to_string()).into_iter().collect();
    Wants { interpreter, libraries, directories: Vec::new() }
}

fn dynamic(header: &FileHeader64<Little>, content: &[u8]) -> Option<Wants> {
    let mut wants = Wants::default();
    for segment in header.program_headers(Little, content).ok()? {
        if let Ok(Some(path)) = segment.interpreter(Little, content) {
            wants.interpreter = Some(String::from_utf8(path.to_vec()).ok()?);
        }
    }
    let sections = header.sections(Little, content).ok()?;
    let Some((entries, strings)) = sections.dynamic(Little, content).ok()? else { return Some(wants) };
    let strings = sections.strings(Little, content, strings).ok()?;
    for entry in entries {
        let tag = entry.d_tag(Little);
        if [DT_NEEDED, DT_RUNPATH, DT_RPATH].contains(&tag) {
            let text = String::from_utf8(entry.string(Little, strings).ok()?.to_vec()).ok()?;
            match tag {
                DT_NEEDED => wants.libraries.push(text),
                _ => wants.directories.extend(text.split(':').map(str::to_string)),
            }
        }
    }
    Some(wants)
}

fn files(user: &Path, wants: &Wants) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    if let Some(interpreter) = &wants.interpreter {
        if !Path::new(interpreter).is_file() {
            return Err(error(user, &format!("needs {interpreter}, which this host does not have")));
        }
        files.push(PathBuf::from(interpreter));
    }
    for library in &wants.libraries {
        let found = locate(user, library, &wants.directories);
        files.push(
            found.ok_or_else(|| error(user, &format!("needs {library}, which this host does not have")))?,
        );
    }
    Ok(files)
}

fn locate(user: &Path, library: &str, directories: &[String]) -> Option<PathBuf> {
    if library.contains('/') {
        return Some(PathBuf::from(library)).filter(|path| path.is_file());
    }
    let origin = user.parent().unwrap_or(Path::new("/")).display().to_string();
    let own = directories
        .iter()
        .map(|directory| directory.replace("$ORIGIN", &origin).replace("${ORIGIN}", &origin));
    let system = DIRECTORIES.iter().map(ToString::to_string);
    own.chain(system).map(|directory| Path::new(&directory).join(library)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_dynamic_program_brings_its_loader_and_libraries() {
        let program = Program::load(Path::new("/bin/ls")).expect("every host has it");
        let names: Vec<String> = program.libraries.iter().map(|path| path.display().to_string()).collect();
        assert!(names.iter().any(|name| name.contains("/ld-linux")), "{names:?}");
        assert!(names.iter().any(|name| name.ends_with("/libc.so.6")), "{names:?}");
    }

    #[test]
    fn a_script_brings_its_interpreter() {
        assert_eq!(interpreter(b"#!/bin/sh -e\nexit 0\n"), Some(vec!["/bin/sh".into(), "-e".into()]));
    }

    #[test]
    fn what_is_no_program_is_refused() {
        let text = Program::load(Path::new("/etc/passwd")).expect_err("a text").to_string();
        assert_eq!(text, "/etc/passwd: is neither a 64-bit ELF program nor a script");
        assert!(Program::load(Path::new("/nowhere")).is_err());
        assert!(Program::load(Path::new("/")).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(mut bytes: Vec<u8>) {
            let _ = wants(Path::new("x"), &bytes);
            bytes.splice(0..0, *b"\x7fELF\x02\x01\x01");
            let _ = wants(Path::new("x"), &bytes);
        }
    }
}

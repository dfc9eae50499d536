//! What is there already when a recording begins: threads, open files, mounts, interrupts and modules, by proc(5) and sysfs(5).
//! What ends meanwhile may be missing.

use std::fs;
use std::path::{Path, PathBuf};

use protocol::trace::Found;

/// Of each sort so many are passed on at most.
const COUNT_MAX: usize = 100_000;

/// Handlers of interrupts, by their numbers: Documentation/ABI/testing/sysfs-kernel-irq.
const INTERRUPTS: &str = "/sys/kernel/irq";

/// All of it.
pub(crate) fn all() -> impl Iterator<Item = Found> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    tasks()
        .take(COUNT_MAX)
        .chain(descriptors().take(COUNT_MAX))
        .chain(mounts(&read("/proc/self/mountinfo")))
        .chain(interrupts())
        .chain(modules(&read("/proc/modules")))
}

fn tasks() -> impl Iterator<Item = Found> {
    processes().flat_map(|(process, folder)| {
        let folder = folder.join("task");
        numbers(&folder).filter_map(move |thread| {
            let stat = fs::read_to_string(folder.join(thread.to_string()).join("stat")).ok()?;
            task(process, &stat)
        })
    })
}

fn processes() -> impl Iterator<Item = (u32, PathBuf)> {
    let folder = Path::new("/proc");
    numbers(folder).map(move |process| (process, folder.join(process.to_string())))
}

/// The entries of a directory that are numbers.
fn numbers(directory: &Path) -> impl Iterator<Item = u32> + use<> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// A thread by its line in `stat`: the name may have any character in it.
fn task(process: u32, stat: &str) -> Option<Found> {
    let (thread, rest) = stat.split_once(" (")?;
    let (name, rest) = rest.rsplit_once(") ")?;
    let parent = rest.split(' ').nth(1)?.parse().ok()?;
    Some(Found::Task { thread: thread.parse().ok()?, process, parent, name: name.to_owned() })
}

fn descriptors() -> impl Iterator<Item = Found> {
    processes().flat_map(|(process, folder)| {
        let folder = folder.join("fd");
        numbers(&folder).filter_map(move |number| {
            let file = fs::read_link(folder.join(number.to_string())).ok()?;
            Some(Found::Descriptor { process, number, file: file.to_string_lossy().into_owned() })
        })
    })
}

/// The mounts of this process by their lines in `mountinfo`.
fn mounts(text: &str) -> Vec<Found> {
    let mount = |line: &str| {
        let (own, rest) = line.split_once(" - ")?;
        let mut own = own.split(' ');
        let (number, device) = (own.next()?.parse().ok()?, own.nth(1)?.to_owned());
        let place = unescaped(own.nth(1)?);
        let mut rest = rest.split(' ');
        let (kind, source) = (rest.next()?.to_owned(), unescaped(rest.next()?));
        Some(Found::Mount { number, device, place, kind, source })
    };
    text.lines().filter_map(mount).take(COUNT_MAX).collect()
}

/// A field of `mountinfo`, in which blanks and such are octal numbers.
fn unescaped(field: &str) -> String {
    let mut text = String::new();
    let mut rest = field;
    while let Some((before, behind)) = rest.split_once('\\') {
        text += before;
        let byte = behind.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        rest = match byte.filter(u8::is_ascii) {
            Some(byte) => {
                text.push(char::from(byte));
                &behind[3..]
            }
            None => {
                text.push('\\');
                behind
            }
        };
    }
    text + rest
}

fn interrupts() -> impl Iterator<Item = Found> {
    numbers(Path::new(INTERRUPTS)).filter_map(|number| {
        let handlers = fs::read_to_string(format!("{INTERRUPTS}/{number}/actions")).ok()?;
        let handlers = handlers.trim().to_owned();
        (!handlers.is_empty()).then_some(Found::Interrupt { number, handlers })
    })
}

/// The modules by their lines in `/proc/modules`.
fn modules(text: &str) -> Vec<Found> {
    let module = |line: &str| {
        let mut fields = line.split(' ');
        let (name, size) = (fields.next()?.to_owned(), fields.next()?.parse().ok()?);
        let address = fields.nth(3).and_then(|address| address.strip_prefix("0x"));
        let address = address.and_then(|address| u64::from_str_radix(address, 16).ok());
        Some(Found::Module { name, size, address: address.unwrap_or_default() })
    };
    text.lines().filter_map(module).take(COUNT_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_have_any_character() {
        let found = task(7, "8 (a) (b) S 1 7 7 0 -1").expect("a line");
        assert_eq!(found, Found::Task { thread: 8, process: 7, parent: 1, name: "a) (b".to_owned() });
        assert_eq!(task(7, "8 (a"), None);
        assert_eq!(task(7, ""), None);
    }

    #[test]
    fn lines_of_mounts_and_modules_are_read() {
        let text = "36 35 98:0 /sub /mnt/a\\040b rw,noatime shared:1 - ext4 /dev/root\\134\\777 rw\nwrong\n";
        let mount = |place: &str, source: &str| Found::Mount {
            number: 36,
            device: "98:0".to_owned(),
            place: place.to_owned(),
            kind: "ext4".to_owned(),
            source: source.to_owned(),
        };
        assert_eq!(mounts(text), [mount("/mnt/a b", "/dev/root\\\\777")]);
        let text = "loop 45056 2 - Live 0xffffffffc0a00000 (E)\nhidden 4096 0 - Live 0x0000000000000000\nx\n";
        let module = |name: &str, size, address| Found::Module { name: name.to_owned(), size, address };
        assert_eq!(modules(text), [module("loop", 45056, 0xffff_ffff_c0a0_0000), module("hidden", 4096, 0)]);
    }

    #[test]
    fn this_process_is_among_what_is_there() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let path = file.path().display().to_string();
        let own = std::process::id();
        let (mut is_task, mut is_open, mut is_root) = (false, false, false);
        for found in all() {
            match found {
                Found::Task { process, .. } => is_task |= process == own,
                Found::Descriptor { process, file, .. } => is_open |= process == own && file == path,
                Found::Mount { place, .. } => is_root |= place == "/",
                Found::Interrupt { .. } | Found::Module { .. } => {}
            }
        }
        assert!(is_task && is_open && is_root, "{is_task} {is_open} {is_root}");
    }
}

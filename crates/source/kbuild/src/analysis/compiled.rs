//! How a file was compiled: the command that make keeps beside its object, and what it read.
//!
//! The makefiles of a stranger write there, so nothing is followed and everything is bounded.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

/// Largest file of a command, in bytes; headers of the kernel make about a hundred thousand.
const SIZE_MAX: u64 = 4 << 20;

/// Most folders that are looked into, and most objects in them.
const LOOKED_AT_MAX: usize = 200_000;

/// A file of C as its compiler read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Compiled {
    /// The object, below the tree.
    pub(super) object: String,
    /// The flags, but for those that say what is written.
    pub(super) flags: Vec<String>,
    /// The file as it was named to the compiler, from where make runs.
    pub(super) source: String,
}

impl Compiled {
    /// The flags that any compiler understands and that decide what is read: options of the preprocessor and the language.
    pub(super) fn portable_flags(&self) -> Vec<&str> {
        let mut flags = Vec::new();
        let mut words = self.flags.iter().map(String::as_str);
        while let Some(word) = words.next() {
            match word {
                "-I" | "-D" | "-U" | "-include" | "-isystem" => {
                    flags.push(word);
                    flags.extend(words.next());
                }
                "-nostdinc" | "-m64" | "-m32" | "-fshort-wchar" => flags.push(word),
                _ if ["-I", "-D", "-U", "-std="].iter().any(|start| word.starts_with(start)) => {
                    flags.push(word);
                }
                _ => {}
            }
        }
        flags
    }
}

/// How an object was compiled, if it was.
pub(super) fn flags(objects: &Path, object: &str) -> Option<Compiled> {
    let command = read(objects, &beside(object)?).ok()?;
    let (source, flags) = words(&command)?;
    // What did not compile keeps the command of before.
    host::open_beneath(objects, Path::new(object)).ok()?;
    Some(Compiled { object: object.to_owned(), flags, source })
}

/// `fs/.x.o.cmd` of `fs/x.o`.
fn beside(object: &str) -> Option<String> {
    let (folder, name) = object.rsplit_once('/').unwrap_or((".", object));
    (!name.is_empty()).then(|| format!("{folder}/.{name}.cmd"))
}

fn read(objects: &Path, file: &str) -> io::Result<String> {
    host::text_beneath(objects, Path::new(file), SIZE_MAX)
}

/// The source and the flags of `cmd_fs/x.o := gcc ... -c -o fs/x.o ../fs/x.c`, which newer kernels call `savedcmd_`.
fn words(text: &str) -> Option<(String, Vec<String>)> {
    let (name, command) = text.lines().next()?.split_once(" := ")?;
    if !name.starts_with("cmd_") && !name.starts_with("savedcmd_") {
        return None;
    }
    // As make-cmd of the kernel's Kbuild.include hides them from make.
    let command = command.replace("$(pound)", "#").replace("$$", "$");
    let all = shlex::split(&command)?;
    let mut words = all.into_iter().skip_while(|word| !word.starts_with('-'));
    let (mut flags, mut source) = (Vec::new(), None);
    while let Some(word) = words.next() {
        match word.as_str() {
            "-c" => {}
            "-o" | "-MF" | "-MT" | "-MQ" => drop(words.next()),
            "-I" | "-D" | "-U" | "-include" | "-isystem" | "--param" => {
                flags.push(word);
                flags.extend(words.next());
            }
            _ if ["-Wp,-M", "-M", "-o"].iter().any(|start| word.starts_with(start)) => {}
            _ if word.starts_with('-') => flags.push(word),
            // What follows are other commands, such as objtool.
            _ => {
                source = Some(word.trim_end_matches(';').to_owned());
                break;
            }
        }
    }
    source.filter(|source| source.ends_with(".c")).map(|source| (source, flags))
}

/// The objects that include each of these headers, which are paths below the tree, without those in the folders `but`.
pub(super) fn including(objects: &Path, headers: &[&str], but: &[&str]) -> Vec<BTreeSet<String>> {
    let mut found: Vec<BTreeSet<String>> = headers.iter().map(|_| BTreeSet::new()).collect();
    if headers.is_empty() {
        return found;
    }
    // A line of the dependencies: `  ../include/linux/x.h \`.
    let endings: Vec<String> = headers.iter().map(|header| format!("/{header} \\")).collect();
    let mut folders = vec![String::new()];
    let mut looked_at = 0;
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(objects.join(&folder)) else { continue };
        let beneath =
            |name: &str| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
        for entry in entries.flatten() {
            looked_at += 1;
            if looked_at > LOOKED_AT_MAX {
                return found;
            }
            let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else { continue };
            let path = beneath(&name);
            if kind.is_dir() {
                folders.extend(Some(path).filter(|path| !but.contains(&path.as_str())));
            } else if let Some(stem) = name.strip_prefix('.').and_then(|name| name.strip_suffix(".o.cmd"))
                && let Ok(text) = read(objects, &path)
            {
                let object = beneath(&format!("{stem}.o"));
                for (ending, found) in endings.iter().zip(&mut found) {
                    if text.lines().any(|line| line.ends_with(ending.as_str())) {
                        found.insert(object.clone());
                    }
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    use fixture::write;

    const COMMAND: &str = "\
savedcmd_fs/x.o := ccache gcc -Wp,-MMD,fs/.x.o.d -nostdinc -I../include -I ./include -include ../include/linux/kconfig.h -D__KERNEL__ -Wall -O2 -m64 -std=gnu11 -DNAME='\"x$(pound)$$\"' -c -o fs/x.o ../fs/x.c ; ./tools/objtool/objtool --orc fs/x.o

source_fs/x.o := ../fs/x.c

deps_fs/x.o := \\
    $(wildcard include/config/SYSCTL) \\
  ../include/linux/x.h \\
  ../fs/internal.h \\
";

    #[test]
    fn the_command_of_an_object_is_read() {
        let objects = tempfile::tempdir().unwrap();
        write(&objects.path().join("fs/.x.o.cmd"), COMMAND);
        assert_eq!(flags(objects.path(), "fs/x.o"), None, "it did not compile");
        write(&objects.path().join("fs/x.o"), "");
        let compiled = flags(objects.path(), "fs/x.o").unwrap();
        assert_eq!((compiled.object.as_str(), compiled.source.as_str()), ("fs/x.o", "../fs/x.c"));
        let expected = "-nostdinc -I../include -I ./include -include ../include/linux/kconfig.h -D__KERNEL__ -Wall -O2 -m64 \
                        -std=gnu11 -DNAME=\"x#$\"";
        assert_eq!(compiled.flags.join(" "), expected);
        let portable = expected.replace(" -Wall -O2", "");
        assert_eq!(compiled.portable_flags().join(" "), portable);
        assert_eq!(flags(objects.path(), "fs/y.o"), None);
    }

    #[test]
    fn what_is_no_command_of_a_compiler_says_nothing() {
        for text in [
            "",
            "cmd_fs/x.o := ",
            "cmd_fs/x.o := ld -r -o fs/x.o fs/y.o",
            "x := gcc -c x.c",
            "cmd_x.o := gcc -c '",
        ] {
            assert_eq!(words(text), None, "{text}");
        }
    }

    #[test]
    fn objects_that_include_a_header_are_found() {
        let objects = tempfile::tempdir().unwrap();
        write(&objects.path().join("fs/.x.o.cmd"), COMMAND);
        write(&objects.path().join(".top.o.cmd"), COMMAND);
        write(&objects.path().join("fs/.x.o.d"), COMMAND);
        std::os::unix::fs::symlink(objects.path(), objects.path().join("loop")).unwrap();
        write(&objects.path().join("tools/.x.o.cmd"), COMMAND);
        let found = |headers: &[&str]| including(objects.path(), headers, &["tools"]);
        let both = BTreeSet::from(["fs/x.o".to_owned(), "top.o".to_owned()]);
        assert_eq!(found(&["include/linux/x.h"]), std::slice::from_ref(&both));
        assert_eq!(found(&["include/linux/x.h", "fs/internal.h"]), [both.clone(), both]);
        assert_eq!(found(&["linux/y.h", "x/fs/internal.h"]), [BTreeSet::new(), BTreeSet::new()]);
        assert_eq!(found(&[]), []);
    }
}

//! What is called: an analyser with its words for one file, one object, one semantic patch or one patch.

use std::fs;
use std::path::{Path, PathBuf};

use super::Tool;
use super::compiled::Compiled;
use super::tool::{CHECKPATCH, SEMANTIC_PATCHES, kernel_doc};

/// What the kernel's Makefile passes to sparse: its `CHECKFLAGS`.
const CHECKFLAGS: [&str; 10] = [
    "-D__linux__",
    "-Dlinux",
    "-D__STDC__",
    "-Dunix",
    "-D__unix__",
    "-Wbitwise",
    "-Wno-return-void",
    "-Wno-unknown-attribute",
    "--arch=x86_64",
    "-mlittle-endian",
];

/// cppcheck(1) writes lines like a compiler's; what it calls an error is read from its text.
const TEMPLATE: &str = "--template={file}:{line}:{column}: warning: {severity}: {message} [-{id}]";

/// Largest semantic patch that is read, in bytes.
const SEMANTIC_PATCH_MAX: u64 = 1 << 20;

/// Most semantic patches; the kernel has about eighty.
const SEMANTIC_PATCHES_MAX: usize = 1000;

/// Levels of folders that they are in.
const DEPTH: usize = 4;

/// One call of an analyser.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) tool: Tool,
    pub(super) program: String,
    pub(super) arguments: Vec<String>,
    /// What it is about: a file, an object, a semantic patch with a file, a patch.
    pub(super) about: String,
    /// The analyser's name for what it looks for, if it looks for one thing.
    pub(super) rule: Option<String>,
    /// What it reads from standard input.
    pub(super) input: Option<String>,
}

impl Call {
    fn new(tool: Tool, program: &str, arguments: &[&str], about: &str) -> Self {
        let arguments = arguments.iter().map(|&word| word.to_owned()).collect();
        Self {
            tool,
            program: program.to_owned(),
            arguments,
            about: about.to_owned(),
            rule: None,
            input: None,
        }
    }

    /// An analyser that reads what a compiler has read, with its flags; another compiler gets those that it understands.
    pub(super) fn of_compiled(tool: Tool, compiled: &Compiled, compiler: &str) -> Option<Self> {
        let own: Vec<&str> = compiled.flags.iter().map(String::as_str).collect();
        let own_or_portable = |is_own: bool| if is_own { own.clone() } else { compiled.portable_flags() };
        let (is_own, program) = match tool.compiler(compiler) {
            Some(compiler) => (true, compiler),
            None => (false, tool.program()),
        };
        let mut words = match tool {
            Tool::Sparse => [&CHECKFLAGS, own.as_slice()].concat(),
            Tool::Gcc => {
                let analyse = ["-O2", "-fanalyzer", "-fdiagnostics-plain-output", "-S", "-o", "/dev/null"];
                [own_or_portable(is_own).as_slice(), &analyse].concat()
            }
            Tool::Clang => {
                let output = ["-Xclang", "-analyzer-output=text", "-fno-color-diagnostics"];
                let analyse = [&["--analyze", "-Wno-everything"], &output[..]].concat();
                [own_or_portable(is_own), analyse].concat()
            }
            Tool::Cppcheck | Tool::Coccinelle | Tool::KernelDoc | Tool::Checkpatch => return None,
        };
        words.push(&compiled.source);
        Some(Self::new(tool, program, &words, &compiled.object))
    }

    /// checkpatch for a patch in the form of a mail, if the tree has it.
    pub(super) fn checkpatch(tree: &Path, patch: &str) -> Option<Self> {
        let script = tree.join(CHECKPATCH).to_str()?.to_owned();
        let root = format!("--root={}", tree.to_str()?);
        let words =
            [&script, &root, "--terse", "--show-types", "--showfile", "--no-summary", "--color=never", "-"];
        let call = Self::new(Tool::Checkpatch, Tool::Checkpatch.program(), &words, "the patch");
        Some(Self { input: Some(patch.to_owned()), ..call })
    }
}

/// An analyser that reads a file by itself.
pub(super) fn of_file(tool: Tool, tree: &Path, file: &str) -> Option<Call> {
    let path = tree.join(file).to_str()?.to_owned();
    match tool {
        Tool::Cppcheck => {
            let words =
                ["--quiet", "--force", "--inline-suppr", "--enable=warning,portability", TEMPLATE, &path];
            Some(Call::new(tool, tool.program(), &words, file))
        }
        Tool::KernelDoc => {
            let script = kernel_doc(tree)?.to_str()?.to_owned();
            Some(Call::new(tool, &script, &["-none", &path], file))
        }
        _ => None,
    }
}

/// Each semantic patch that can report, for each file: spatch takes several files for one program.
pub(super) fn of_semantic_patches(tree: &Path, files: &[&str]) -> Vec<Call> {
    let top = tree.join(SEMANTIC_PATCHES);
    let patches = semantic_patches(&top, DEPTH).into_iter().take(SEMANTIC_PATCHES_MAX);
    patches.flat_map(|patch| of_semantic_patch(tree, &top, &patch, files).unwrap_or_default()).collect()
}

fn of_semantic_patch(tree: &Path, top: &Path, patch: &Path, files: &[&str]) -> Option<Vec<Call>> {
    let text = host::text_beneath(tree, patch.strip_prefix(tree).ok()?, SEMANTIC_PATCH_MAX).ok()?;
    let include =
        [tree.join("include"), tree.join("arch/x86/include")].map(|path| path.display().to_string());
    let mut words = vec!["-D", "report", "--no-show-diff", "--very-quiet", "--cocci-file", patch.to_str()?];
    words.extend(options(&text)?);
    words.extend(include.iter().flat_map(|path| ["-I", path.as_str()]));
    let rule = patch.strip_prefix(top).ok()?.with_extension("").to_str()?.to_owned();
    let call = |file: &&str| {
        let path = tree.join(file).to_str()?.to_owned();
        let (words, about) = ([words.as_slice(), &[&path]].concat(), format!("{rule} for {file}"));
        let call = Call::new(Tool::Coccinelle, Tool::Coccinelle.program(), &words, &about);
        Some(Call { rule: Some(rule.clone()), ..call })
    };
    Some(files.iter().filter_map(call).collect())
}

fn semantic_patches(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => found.extend(semantic_patches(&path, depth - 1)),
            Ok(kind) if kind.is_file() && path.extension().is_some_and(|it| it == "cocci") => {
                found.push(path);
            }
            _ => {}
        }
    }
    found.sort();
    found
}

/// What a semantic patch asks of spatch in its line `// Options:`, as coccicheck of the kernel reads it; nothing of one that cannot
/// report.
fn options(text: &str) -> Option<Vec<&str>> {
    let lines = || text.lines().map(str::trim);
    if !lines().any(|line| line.starts_with("virtual") && line.contains("report")) {
        return None;
    }
    let options = lines().find_map(|line| line.starts_with("//").then(|| line.split_once("Options:"))?);
    Some(options.map(|(_, options)| options.split_whitespace().collect()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compiled() -> Compiled {
        let flags = ["-I../include", "-Wall", "-O2", "-mrecord-mcount"].map(str::to_owned).to_vec();
        Compiled { object: "fs/x.o".to_owned(), flags, source: "../fs/x.c".to_owned() }
    }

    fn words(tool: Tool, compiler: &str) -> String {
        let call = Call::of_compiled(tool, &compiled(), compiler).unwrap();
        format!("{} {}", call.program, call.arguments.join(" "))
    }

    #[test]
    fn a_compiler_gets_its_own_flags_and_the_other_what_it_understands() {
        assert!(
            words(Tool::Gcc, "gcc-12")
                .starts_with("gcc-12 -I../include -Wall -O2 -mrecord-mcount -O2 -fanalyzer")
        );
        assert!(words(Tool::Clang, "gcc-12").starts_with("clang -I../include --analyze"));
        assert!(
            words(Tool::Clang, "clang-14")
                .starts_with("clang-14 -I../include -Wall -O2 -mrecord-mcount --analyze")
        );
        assert!(words(Tool::Gcc, "clang-14").starts_with("gcc -I../include -O2 -fanalyzer"));
        assert!(
            words(Tool::Sparse, "gcc")
                .ends_with("-mlittle-endian -I../include -Wall -O2 -mrecord-mcount ../fs/x.c")
        );
        assert!(Call::of_compiled(Tool::Checkpatch, &compiled(), "gcc").is_none());
    }

    #[test]
    fn semantic_patches_say_what_they_need() {
        let patch = "/// Use ARRAY_SIZE\n// Options: --no-includes --include-headers\n\nvirtual patch\nvirtual report\n";
        assert_eq!(options(patch).unwrap(), ["--no-includes", "--include-headers"]);
        assert_eq!(options("virtual patch\n"), None);
        assert_eq!(options("virtual context, report\n").unwrap(), [""; 0]);
    }

    #[test]
    fn semantic_patches_of_a_tree_are_called_for_each_file() {
        let tree = tempfile::tempdir().unwrap();
        let place = |name: &str| tree.path().join("scripts/coccinelle").join(name);
        fixture::write(&place("free/kfree.cocci"), "virtual report\n// Options: --no-includes\n");
        fixture::write(&place("misc/none.cocci"), "virtual patch\n");
        std::os::unix::fs::symlink("/etc/passwd", place("free/link.cocci")).unwrap();
        let calls = of_semantic_patches(tree.path(), &["fs/x.c", "fs/y.c"]);
        let [_, call] = &calls[..] else { panic!("{calls:?}") };
        assert_eq!((call.about.as_str(), call.program.as_str()), ("free/kfree for fs/y.c", "spatch"));
        assert_eq!(call.rule.as_deref(), Some("free/kfree"));
        assert!(call.arguments.contains(&"--no-includes".to_owned()));
        assert!(call.arguments[call.arguments.len() - 1].ends_with("fs/y.c"));
    }
}

use super::*;
use proptest::prelude::*;
use std::process::Command;

/// A program whose `main` calls `twice`, into which `inner` is inlined; two functions are called `same`.
const MAIN: &str = r#"
volatile int sink;
static inline __attribute__((always_inline)) void inner(int value) {
    sink = value;
    __asm__ volatile("inside: .globl inside");
}
__attribute__((noinline)) void twice(int value) {
    inner(value * 2);
    sink += 1;
}
static __attribute__((noinline)) void same(void) { sink = 1; }
void other(void);
int start_kernel(void) { return sink; }
int main(void) { twice(3); same(); other(); return start_kernel(); }
"#;

const OTHER: &str = r#"
extern volatile int sink;
static __attribute__((noinline)) void same(void) { sink += 1; sink += 2; sink += 3; sink += 4; }
void other(void) { same(); }
"#;

struct Built {
    directory: tempfile::TempDir,
    content: Vec<u8>,
}

/// The program, built in `tree/` from `init/main.c` and `fs/other.c`.
fn built() -> Built {
    let directory = tempfile::tempdir().unwrap();
    let tree = directory.path().join("tree");
    for (name, text) in [("init/main.c", MAIN), ("fs/other.c", OTHER)] {
        let path = tree.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let arguments = ["-g", "-O1", "-no-pie", "-o", "vmlinux", "./init/main.c", "init/../fs/other.c"];
    let output = Command::new("cc").args(arguments).current_dir(&tree).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let content = std::fs::read(tree.join("vmlinux")).unwrap();
    Built { directory, content }
}

/// Name, address and size of the program's functions.
fn functions(built: &Built) -> Vec<(String, u64, u64)> {
    let table = Table::read(&Elf::parse(&built.content).unwrap()).unwrap();
    let size = |symbol: &table::Symbol| (0..).find(|&size| table.has_size(symbol, size)).unwrap();
    ["twice", "same", "inside"]
        .iter()
        .flat_map(|name| {
            table.all(name).iter().map(|symbol| (name.to_string(), symbol.address, size(symbol)))
        })
        .collect()
}

fn place(function: &str, offset: u64, size: u64) -> Place {
    Place { function: function.into(), offset, size }
}

#[test]
fn an_inlined_function_comes_before_the_one_that_it_is_in() {
    let built = built();
    let found = functions(&built);
    let (_, twice, size) = found.iter().find(|(name, ..)| name == "twice").unwrap();
    let (_, inside, _) = found.iter().find(|(name, ..)| name == "inside").unwrap();
    let symbols = Symbols::new(&built.directory.path().join("tree/vmlinux"));
    let frames = symbols.frames(&place("twice", inside - twice - 1, *size));
    let named: Vec<_> = frames.iter().map(|frame| (frame.function.as_str(), frame.file.as_str())).collect();
    assert_eq!(named, [("inner", "init/main.c"), ("twice", "init/main.c")], "{frames:?}");
    assert_eq!((frames[0].line, frames[1].line), (4, 8));
}

#[test]
fn functions_of_one_name_are_told_apart_by_their_size() {
    let built = built();
    let found = functions(&built);
    let sizes: Vec<u64> = found.iter().filter(|(name, ..)| name == "same").map(|&(.., size)| size).collect();
    let symbols = Symbols::new(&built.directory.path().join("tree/vmlinux"));
    let mut files: Vec<String> = sizes
        .iter()
        .flat_map(|&size| symbols.frames(&place("same", 0, size)))
        .map(|frame| frame.file)
        .collect();
    files.sort();
    assert_eq!(files, ["fs/other.c", "init/main.c"], "{sizes:?}");
    assert_eq!(symbols.frames(&place("same", 0, 9999)), [], "it is of another kernel");
    assert_eq!(symbols.frames(&place("nobody", 0, 1)), []);
}

#[test]
fn it_is_looked_for_where_a_build_leaves_it_first() {
    let found = places(Path::new("/src/u/linux/arch/x86/boot/bzImage"), "6.1.0");
    assert_eq!(found[0], Path::new("/src/u/linux/arch/x86/boot/../../../vmlinux"));
    let found = places(Path::new("/store/root/boot/vmlinuz-6.1.0"), "6.1.0");
    assert_eq!(found[0], Path::new("/store/root/boot/vmlinux-6.1.0"));
    assert!(found.contains(&"/store/root/boot/../vmlinux".into()), "{found:?}");
}

#[test]
fn without_a_file_nothing_is_found() {
    let symbols = Symbols::new(Path::new("/nonexistent/vmlinux"));
    assert_eq!(symbols.frames(&place("main", 0, 1)), []);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn a_damaged_file_is_read_without_panic(damage: Vec<(prop::sample::Index, u8)>, cut: prop::sample::Index) {
        static BUILT: std::sync::LazyLock<Built> = std::sync::LazyLock::new(built);
        let mut content = BUILT.content.clone();
        for (index, byte) in &damage {
            *index.get_mut(&mut content[..]) = *byte;
        }
        if damage.len().is_multiple_of(2) {
            content.truncate(cut.index(content.len()));
        }
        if let Some(opened) = Opened::read(&content) {
            for (name, _, size) in functions(&BUILT) {
                opened.frames(&place(&name, 1, size));
            }
        }
    }
}

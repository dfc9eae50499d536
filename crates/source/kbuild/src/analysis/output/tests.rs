use super::*;

use fixture::write;

use super::super::gather::gather;
use super::super::jobs::Done;
use super::super::{Analysed, Unread};

/// A tree with the file that the analysers' output below is of.
fn tree() -> tempfile::TempDir {
    let tree = tempfile::tempdir().unwrap();
    let code = "#include <linux/slab.h>\n\nvoid f(struct wire *wire)\n{\n\tkfree(wire->p);\n\twire->count = flags;\n\treturn *wire->p;\n}\n";
    write(&tree.path().join("fs/x.c"), code);
    tree
}

fn call(tool: Tool, about: &str) -> Call {
    let rule = (tool == Tool::Coccinelle).then(|| about.to_owned());
    let (program, about) = (tool.program().to_owned(), about.to_owned());
    Call { tool, program, arguments: Vec::new(), about, rule, input: None }
}

fn read(tool: Tool, about: &str, success: bool, output: &str, complaint: &str) -> Analysed {
    let tree = tree();
    let in_tree = |text: &str| text.replace("TREE", tree.path().to_str().unwrap());
    let end = Finished { success, output: in_tree(output), complaint: in_tree(complaint) };
    let place = Place { tree: tree.path(), objects: Path::new("/objects"), installed: &[] };
    let call = call(tool, about);
    let result = super::read(&call, &end, place);
    gather(vec![Done { call, result }], tree.path())
}

fn lines(analysed: &Analysed) -> Vec<String> {
    analysed.findings.iter().map(ToString::to_string).collect()
}

#[test]
fn sparse_is_read_with_what_it_expected() {
    let printed = "\
TREE/fs/x.c:6:21: warning: incorrect type in assignment (different base types)
TREE/fs/x.c:6:21:    expected restricted __be32 [usertype] count
TREE/fs/x.c:6:21:    got int flags
TREE/fs/x.c: note: in included file (through TREE/include/linux/slab.h):
/usr/include/odd.h:1:1: warning: not of the tree
";
    let found = read(Tool::Sparse, "fs/x.o", true, "", printed);
    let [finding] = &found.findings[..] else { panic!("{found:?}") };
    assert_eq!(
        finding.to_string(),
        "fs/x.c:6:21: warning: incorrect type in assignment (different base types) [sparse]"
    );
    assert_eq!(finding.notes, ["expected restricted __be32 [usertype] count", "got int flags"]);
    assert_eq!(finding.code, "wire->count = flags;");
}

#[test]
fn of_gcc_only_its_analyser_counts() {
    let printed = "\
TREE/fs/x.c: In function 'f':
TREE/fs/x.c:7:18: warning: 'x' is used uninitialized [-Wuninitialized]
TREE/fs/x.c:7:20: warning: dereference of NULL '0' [CWE-476] [-Wanalyzer-null-dereference]
TREE/fs/x.c:6:12: note: (1) following 'true' branch...
";
    let expected = "fs/x.c:7:20: warning: dereference of NULL '0' [CWE-476] [gcc analyzer-null-dereference]";
    assert_eq!(lines(&read(Tool::Gcc, "fs/x.o", true, "", printed)), [expected]);
    let failing = printed.replace("warning: deref", "error: deref").replace("[-Wanal", "[-Werror=anal");
    assert_eq!(lines(&read(Tool::Gcc, "fs/x.o", false, "", &failing)), [expected]);
}

#[test]
fn of_clang_only_its_checkers_count() {
    let printed = "\
TREE/fs/x.c:7:9: warning: Use of memory after it is freed [unix.Malloc]
TREE/fs/x.c:5:2: note: Memory is released
TREE/fs/x.c:7:9: warning: odd [5]
1 warning generated.
";
    let found = read(Tool::Clang, "fs/x.o", true, "", printed);
    assert_eq!(lines(&found), ["fs/x.c:7:9: warning: Use of memory after it is freed [clang unix.Malloc]"]);
    assert_eq!(found.findings[0].notes, ["fs/x.c:5: Memory is released"]);
}

#[test]
fn what_cppcheck_cannot_read_is_no_finding_and_is_reported() {
    let printed = "\
TREE/fs/x.c:7:9: warning: error: Uninitialized variable: x [-legacyUninitvar]
TREE/fs/x.c:6:4: warning: warning: Either the condition '!p' is redundant [-nullPointerRedundantCheck]
TREE/fs/x.c:3:2: warning: error: There is an unknown macro here somewhere. [-unknownMacro]
";
    let expected = [
        "fs/x.c:6:4: warning: Either the condition '!p' is redundant [cppcheck nullPointerRedundantCheck]",
        "fs/x.c:7:9: error: Uninitialized variable: x [cppcheck legacyUninitvar]",
    ];
    let found = read(Tool::Cppcheck, "fs/x.c", true, "", printed);
    assert_eq!(found.unread[0].why, "There is an unknown macro here somewhere.");
    assert_eq!(lines(&found), expected);
}

#[test]
fn semantic_patches_name_the_rule() {
    let printed = "\
warning: line 134: should no_llseek be a metavariable?
TREE/fs/x.c:7:9-16: ERROR: reference preceded by free on line 5
TREE/fs/x.c:5:14-33: atomic_dec_and_test variation before object free at line 6.
";
    let expected = [
        "fs/x.c:5:14: warning: atomic_dec_and_test variation before object free at line 6. [coccinelle free/kfree]",
        "fs/x.c:7:9: error: reference preceded by free on line 5 [coccinelle free/kfree]",
    ];
    assert_eq!(lines(&read(Tool::Coccinelle, "free/kfree", true, printed, "")), expected);
}

#[test]
fn comments_are_read_from_scripts_old_and_new() {
    let text = "Function parameter or member 'wire' not described in 'f'";
    let expected = [format!("fs/x.c:3: warning: {text} [kernel-doc]")];
    for printed in [format!("TREE/fs/x.c:3: warning: {text}\n"), format!("Warning: TREE/fs/x.c:3 {text}\n")] {
        assert_eq!(lines(&read(Tool::KernelDoc, "fs/x.c", false, "", &printed)), expected, "{printed}");
    }
}

#[test]
fn checkpatch_names_lines_of_the_file_and_none_of_the_message() {
    let printed = "\
:1: WARNING:COMMIT_LOG_LONG_LINE: Possible unwrapped commit description (prefer a maximum 75 chars per line)
fs/x.c:6: WARNING:SPACING: space prohibited before semicolon
fs/x.c:44: ERROR:MISSING_SIGN_OFF: Missing Signed-off-by: line(s)
total: 1 errors
";
    let expected = [
        "warning: Possible unwrapped commit description (prefer a maximum 75 chars per line) [checkpatch COMMIT_LOG_LONG_LINE]",
        "fs/x.c:6: warning: space prohibited before semicolon [checkpatch SPACING]",
        "fs/x.c:44: error: Missing Signed-off-by: line(s) [checkpatch MISSING_SIGN_OFF]",
    ];
    assert_eq!(lines(&read(Tool::Checkpatch, "the patch", false, printed, "")), expected);
}

#[test]
fn an_analyser_that_fails_says_why_and_is_no_finding() {
    let found =
        read(Tool::Coccinelle, "null/badzero", false, "", "No OCaml compiler found! Install ocamlopt\n");
    assert_eq!(found.findings, []);
    let unread =
        |tool, about: &str, why: &str| vec![Unread { tool, about: about.to_owned(), why: why.to_owned() }];
    let why = "No OCaml compiler found! Install ocamlopt";
    assert_eq!(found.unread, unread(Tool::Coccinelle, "null/badzero", why));
    for tool in [Tool::Gcc, Tool::KernelDoc, Tool::Checkpatch] {
        assert_eq!(read(tool, "it", false, "", "").unread, unread(tool, "it", "it gives no reason"));
    }
}

#[test]
fn what_two_files_say_of_a_header_is_one_finding() {
    let tree = tree();
    let place = Place { tree: tree.path(), objects: Path::new("/objects"), installed: &[] };
    let end = Finished {
        success: true,
        output: String::new(),
        complaint: "include/linux/x.h:3:5: warning: odd\n".to_owned(),
    };
    let done = ["fs/x.o", "fs/y.o"].map(|object| {
        let call = call(Tool::Sparse, object);
        let result = super::read(&call, &end, place);
        Done { call, result }
    });
    let found = gather(done.into(), tree.path());
    assert_eq!(found.findings.len(), 1);
    assert_eq!(found.findings[0].about, "fs/x.o");
}

proptest::proptest! {
    /// What a stranger makes analysers print is bounded and breaks nothing.
    #[test]
    fn anything_may_be_printed(tool in 0..Tool::ALL.len(), success: bool, output in "([a-z./]{0,9}:[0-9]{0,12}:[0-9-]{0,9}: (ERROR:|warning: |WARNING:)?.{0,40}\n){0,9}", complaint in "(.{0,60}\n){0,9}") {
        let found = read(Tool::ALL[tool], "about", success, &output, &complaint);
        proptest::prop_assert!(found.findings.len() <= 18);
        proptest::prop_assert!(found.findings.iter().all(|finding| !finding.text.contains('\n')));
    }
}

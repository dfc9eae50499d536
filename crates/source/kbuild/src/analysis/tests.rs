//! Real analysers on a tree that only looks like a kernel.

use std::fs;

use super::*;
use crate::made_up::{Place as MadeUp, recipe};
use fixture::{NEVER, write};

/// Compiles, and keeps the command as the kernel's makefiles do.
const OBJECTS: &str = "\
%.o:
\t@mkdir -p $(dir $(O)/$@)
\t@gcc -O2 -Iinclude -c -o $(O)/$@ $(CURDIR)/$*.c
\t@echo 'savedcmd_$@ := gcc -O2 -I$(CURDIR)/include -c -o $@ $(CURDIR)/$*.c' > $(O)/$(dir $@).$(notdir $@).cmd
\t@echo '  $(CURDIR)/include/main.h \\' >> $(O)/$(dir $@).$(notdir $@).cmd
";

const SEMANTIC_PATCH: &str = "\
virtual report
@r depends on report@
position p;
@@
odd@p(...)
@script:python depends on report@
p << r.p;
@@
coccilib.report.print_report(p[0], \"ERROR: odd\")
";

/// Says that a file is too long, by line.
const SCRIPT: &str = "#!/bin/sh\necho \"$2:2: warning: no comment\" >&2\n";

/// Says of the patch on standard input that it adds a tab.
const CHECKPATCH: &str = "print \"init/main.c:1: ERROR:TABS: a tab\\n\" if grep { /^\\+\\t/ } <STDIN>;\n";

fn tree() -> MadeUp {
    let place = MadeUp::new();
    let makefile = place.tree().join("Makefile");
    write(&makefile, format!("{}\n{OBJECTS}", fs::read_to_string(&makefile).unwrap()));
    write(&place.tree().join("include/main.h"), "int odd(int *place);\n");
    place.change("int f(void);\nint f(void)\n{\n\treturn 0;\n}\n");
    place.commit("good");
    place
}

fn asks(place: &MadeUp, commit: &str, tools: &[Tool], files: &[&str]) -> Analysed {
    let locator = format!("git:{}@{commit}", place.tree().display()).parse().unwrap();
    let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
    let mut context = Context { store: &place.store, listener: &mut |_| {}, interrupt: &NEVER };
    let scope = Scope { tools, files: &files, objects: None };
    analyse(&locator, &recipe(&["defconfig"]), scope, &mut context).unwrap()
}

fn lines(found: &Analysed) -> Vec<String> {
    found.findings.iter().map(ToString::to_string).collect()
}

#[test]
fn analysers_read_what_the_compiler_reads() {
    let place = tree();
    place.change("#include \"main.h\"\n\nint f(void);\nint f(void)\n{\n\tint *p = 0;\n\n\treturn *p;\n}\n");
    place.commit("bad");
    let tools = [Tool::Sparse, Tool::Gcc];
    let found = asks(&place, "HEAD", &tools, &["init/main.c", "../../etc/passwd", "init/none.c"]);
    let [sparse, gcc] = &lines(&found)[..] else { panic!("{found:#?}") };
    assert_eq!(sparse, "init/main.c:6:18: warning: Using plain integer as NULL pointer [sparse]");
    assert!(gcc.starts_with("init/main.c:8:16: warning: dereference of NULL "), "{gcc}");
    assert!(gcc.ends_with(" [gcc analyzer-null-dereference]"), "{gcc}");
    assert_eq!(found.findings[1].code, "return *p;");
    assert_eq!(found.tools.iter().map(|(tool, _)| *tool).collect::<Vec<_>>(), tools);
    assert!(found.tools[1].1.starts_with("gcc "), "{found:?}");
    assert_eq!(lines(&asks(&place, "HEAD~1", &tools, &["init/main.c"])), [""; 0]);
    let includes = asks(&place, "HEAD", &tools, &["include/main.h"]);
    assert_eq!((includes.objects.as_slice(), includes.findings.len()), (&["init/main.o".to_owned()][..], 2));
    assert_eq!(place.tally(), 0, "no kernel was built");
}

#[test]
fn what_does_not_compile_is_reported() {
    let place = tree();
    place.change("int f(void);\nint f(void)\n{\n\treturn missing;\n}\n");
    place.commit("broken");
    let found = asks(&place, "HEAD", &[Tool::Sparse, Tool::Cppcheck], &["init/main.c"]);
    let [unread] = &found.unread[..] else { panic!("{found:#?}") };
    assert_eq!((unread.tool, unread.about.as_str()), (Tool::Sparse, "init/main.o"));
    assert_eq!(unread.why, "it does not compile in this configuration");
}

#[test]
fn analysers_that_read_by_themselves_need_no_object() {
    let place = tree();
    write(&place.tree().join("scripts/coccinelle/misc/odd.cocci"), SEMANTIC_PATCH);
    write(&place.tree().join("scripts/kernel-doc"), SCRIPT);
    std::process::Command::new("chmod")
        .arg("+x")
        .arg(place.tree().join("scripts/kernel-doc"))
        .status()
        .unwrap();
    place.change("int g(int a)\n{\n\tint b[2];\n\n\tb[2] = a;\n\treturn odd(b);\n}\n");
    place.commit("bad");
    let found = asks(&place, "HEAD", &[Tool::Cppcheck, Tool::Coccinelle, Tool::KernelDoc], &["init/main.c"]);
    let lines = lines(&found);
    assert_eq!(lines.len(), 3, "{found:#?}");
    assert_eq!(lines[0], "init/main.c:2: warning: no comment [kernel-doc]");
    assert!(
        lines[1].starts_with("init/main.c:5:") && lines[1].ends_with("[cppcheck arrayIndexOutOfBounds]"),
        "{lines:?}"
    );
    assert_eq!(lines[2], "init/main.c:6:8: error: odd [coccinelle misc/odd]");
}

#[test]
fn checkpatch_is_that_of_the_tree() {
    let place = tree();
    let says = |place: &MadeUp, patches: &[&str]| {
        let locator = format!("git:{}@HEAD", place.tree().display()).parse().unwrap();
        let patches: Vec<String> = patches.iter().map(|patch| (*patch).to_owned()).collect();
        let mut context = Context { store: &place.store, listener: &mut |_| {}, interrupt: &NEVER };
        checkpatch(&locator, &recipe(&["defconfig"]), &patches, &mut context).unwrap()
    };
    assert!(says(&place, &["x"]).is_none(), "the tree has none");
    write(&place.tree().join("scripts/checkpatch.pl"), CHECKPATCH);
    place.commit("scripts: checkpatch");
    let said = says(&place, &["+\ta\n", "", "+a\n", "+\tb\n"]).unwrap();
    let expected = ["init/main.c:1: error: a tab [checkpatch TABS]"];
    assert_eq!(said.iter().map(lines).collect::<Vec<_>>(), [&expected[..], &[], &[], &expected]);
}

#[test]
fn no_analyser_reads_a_file_of_the_user_or_writes_to_the_tree() {
    let place = tree();
    let outside = place.directory.path().join("secret.c");
    write(&outside, "int secret(void);\nint secret(void) { int *p = 0; return *p; }\n");
    fs::remove_file(place.tree().join("init/main.c")).unwrap();
    std::os::unix::fs::symlink(&outside, place.tree().join("init/main.c")).unwrap();
    let written = "#!/bin/sh\ntouch \"$2.written\" || echo \"$2:1: warning: refused\" >&2\n";
    write(&place.tree().join("scripts/kernel-doc"), written);
    write(&place.tree().join("init/other.c"), "int other;\n");
    std::process::Command::new("chmod")
        .arg("+x")
        .arg(place.tree().join("scripts/kernel-doc"))
        .status()
        .unwrap();
    place.commit("a link");
    let tools = [Tool::Sparse, Tool::Gcc, Tool::Cppcheck];
    assert_eq!(lines(&asks(&place, "HEAD", &tools, &["init/main.c"])), [""; 0]);
    let found = asks(&place, "HEAD", &[Tool::KernelDoc], &["init/other.c"]);
    assert_eq!(lines(&found), ["init/other.c:1: warning: refused [kernel-doc]"]);
}

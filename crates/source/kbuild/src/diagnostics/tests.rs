use super::*;
use proptest::prelude::*;

/// Real logs, trimmed, of builds in `/src/build` with the source in `/src/linux`.
macro_rules! log {
    ($name:literal) => {
        include_str!(concat!("../../tests/build-logs/", $name, ".log"))
    };
}

fn read(log: &str) -> Diagnostics {
    Diagnostics::of(log, Path::new("/src/linux"), Path::new("/src/build"))
}

fn count(found: &Diagnostics, severity: Severity) -> usize {
    found.all.iter().filter(|diagnostic| diagnostic.severity == severity).count()
}

fn find<'a>(found: &'a Diagnostics, text: &str) -> &'a Diagnostic {
    found
        .all
        .iter()
        .find(|diagnostic| diagnostic.text.contains(text))
        .unwrap_or_else(|| panic!("no {text:?} in {found:#?}"))
}

#[test]
fn the_cause_of_every_failure() {
    let package = |name| format!("apt-get install {name}");
    for (log, place, text, advice) in [
        (log!("gcc"), "lib/faults/header.c:2", "linux/not_there_at_all.h: No such file or directory", None),
        (log!("clang"), "lib/faults/header.c:2", "'linux/not_there_at_all.h' file not found", None),
        (
            log!("compiler-crash"),
            "include/linux/atomic/atomic-long.h:494",
            "internal compiler error: Segmentation fault",
            None,
        ),
        (log!("undefined"), "lib/faults/undef.c", "undefined reference to `fault_nowhere'", None),
        (log!("duplicate"), "lib/vsprintf.c", "multiple definition of `vsnprintf'", None),
        (log!("lld"), "", "ld.lld: duplicate symbol: fault_undef", None),
        (
            log!("modpost-undefined"),
            "lib/faults/modundef.o",
            "missing MODULE_LICENSE() in lib/faults/modundef.o",
            None,
        ),
        (log!("kconfig-syntax"), "init/Kconfig:2034", "syntax error", None),
        (log!("dtc"), "bad.dts:4", "syntax error", None),
        (
            log!("no-rule"),
            "",
            "No rule to make target 'lib/faults/missing_source.o', needed by 'lib/faults/built-in.a'.",
            None,
        ),
        (log!("no-bison"), "", "bison: not found", Some(package("bison"))),
        (log!("no-flex"), "", "flex: not found", Some(package("flex"))),
        (log!("no-bc"), "", "bc: not found", Some(package("bc"))),
        (log!("no-gcc"), "", "gcc: not found", Some(package("gcc"))),
        (log!("no-ld"), "", "collect2: cannot find ‘ld’", Some(package("binutils"))),
        (log!("no-libelf"), "", "libelf.h: No such file or directory", Some(package("libelf-dev"))),
        (
            log!("no-libssl"),
            "scripts/sign-file.c:25",
            "openssl/opensslv.h: No such file or directory",
            Some(package("libssl-dev")),
        ),
        (
            log!("disk-full"),
            "arch/x86/entry/common.c:343",
            "closing dependency file arch/x86/entry/.common.o.d: No space left on device",
            Some("free some space, or build on another disk".to_owned()),
        ),
        (
            log!("killed"),
            "",
            "gcc: Killed signal terminated program cc1",
            Some(
                "something killed it, most often the kernel for lack of memory: build with fewer jobs"
                    .to_owned(),
            ),
        ),
    ] {
        let found = read(log);
        let first = found.first_error().unwrap();
        let line = first.line.map_or_else(String::new, |line| format!(":{line}"));
        let file = first.file.as_deref().unwrap_or_default();
        assert_eq!((format!("{file}{line}").as_str(), first.text.as_str()), (place, text));
        assert_eq!((first.severity, &first.advice), (Severity::Error, &advice), "{text}");
    }
}

#[test]
fn warnings_alone_are_no_failure() {
    for (log, warnings) in [(log!("w1"), 20), (log!("kconfig"), 9)] {
        let found = read(log);
        assert_eq!((count(&found, Severity::Warning), count(&found, Severity::Error)), (warnings, 0));
        assert_eq!(found.first_error(), None);
    }
}

#[test]
fn everything_that_gcc_says() {
    let found = read(log!("gcc"));
    assert_eq!((count(&found, Severity::Error), count(&found, Severity::Warning)), (13, 13));
    let unused = find(&found, "unused variable");
    assert_eq!(
        (unused.file.as_deref(), unused.line, unused.column),
        (Some("lib/faults/syntax.c"), Some(5), Some(13))
    );
    assert_eq!(
        (unused.text.as_str(), unused.option.as_deref()),
        ("unused variable ‘unused’", Some("-Wunused-variable"))
    );
    // An option that makes an error of it is the option still.
    let end = find(&found, "control reaches end");
    assert_eq!((end.severity, end.option.as_deref()), (Severity::Error, Some("-Wreturn-type")));
    let in_macro = find(&found, "no member named");
    assert_eq!(
        in_macro.notes,
        ["in function ‘fault_macro’", "lib/faults/nested.c:6: in expansion of macro ‘FAULT_MACRO’"]
    );
    assert!(
        !found.all.iter().any(|diagnostic| diagnostic.text.contains("Error 1")),
        "make's lines are consequences"
    );
    let places: Vec<_> = found.all.iter().map(|it| (it.file.clone(), it.line, it.column)).collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn a_header_is_blamed_once_for_all_that_include_it() {
    let found = read(log!("gcc"));
    let header = find(&found, "returning ‘char *’");
    assert_eq!((header.file.as_deref(), header.count), (Some("lib/faults/inheader.h"), 2));
    assert_eq!(header.notes[0], "included from lib/faults/nested.c:2");
    let one = "In file included from /src/linux/a.c:1:\n/src/linux/a.h:3:1: warning: odd [-Wodd]\n";
    let found = read(&one.repeat(500));
    assert_eq!((found.all.len(), found.all[0].count, found.all[0].notes.len()), (1, 500, 1));
}

#[test]
fn everything_that_clang_says() {
    let found = read(log!("clang"));
    assert_eq!((count(&found, Severity::Error), count(&found, Severity::Warning)), (8, 9));
    let format = find(&found, "format specifies type 'char *'");
    assert_eq!(format.option.as_deref(), Some("-Wformat"));
    assert_eq!(format.notes.len(), 3, "{:?}", format.notes);
    assert_eq!(find(&found, "control paths").option.as_deref(), Some("-Wreturn-type"));
    assert_eq!(find(&found, "invalid instruction mnemonic").notes, ["instantiated into assembly here"]);
}

#[test]
fn linkers_name_the_source_and_the_symbol() {
    let undefined = read(log!("undefined"));
    assert_eq!((undefined.all.len(), undefined.all[0].count), (1, 2), "{undefined:#?}");
    assert_eq!(undefined.all[0].notes, ["in function 'fault_undef'"]);
    let twice = read(log!("duplicate"));
    assert_eq!(
        find(&twice, "multiple definition").notes.last().unwrap(),
        "lib/faults/dup.o:dup.c:(.text+0x0): first defined here"
    );
    let lld = read(log!("lld"));
    assert_eq!(
        find(&lld, "undefined symbol: fault_nowhere").notes[..2],
        ["referenced by undef.c", "undef.o:(fault_undef)"]
    );
}

#[test]
fn modpost_fails_for_the_mismatch_and_not_for_having_seen_it() {
    let found = read(log!("objtool-modpost"));
    let first = found.first_error().unwrap();
    assert!(first.text.contains("section mismatch in reference: fault_section"), "{first:?}");
    assert_eq!((first.file.as_deref(), first.severity), (Some("vmlinux.o"), Severity::Error));
    let objtool = find(&found, "objtool: fault_stack+0x1: return with modified stack frame");
    assert_eq!((objtool.file.as_deref(), objtool.severity), (Some("lib/faults/objt.o"), Severity::Warning));
    let undefined = read(log!("modpost-undefined"));
    assert_eq!(find(&undefined, "fault_no_export").file.as_deref(), Some("lib/faults/modundef.ko"));
    // As releases before 5.10 say it.
    let old = read(
        "ERROR: \"a\" [drivers/b.ko] undefined!\nWARNING: vmlinux.o(.text+0x1): Section mismatch in reference\n",
    );
    assert_eq!(old.first_error().unwrap().file.as_deref(), Some("drivers/b.ko"));
}

#[test]
fn kconfig_says_where_and_what_depends_on_what() {
    let found = read(log!("kconfig"));
    let unmet = find(&found, "unmet direct dependencies detected for VIDEO_VIMC");
    assert_eq!(unmet.notes.len(), 3);
    assert_eq!(unmet.notes[2], "- FAULT_SELECT [=y]");
    let value = find(&found, "symbol value 'banana' invalid for SMP");
    assert_eq!((value.file.as_deref(), value.line), (Some(".config"), Some(1587)));
}

#[test]
fn notes_of_another_job_are_nobodys() {
    let found = read(
        "a.c:1:1: warning: first\n  CC      b.o\nc.h:5:1: note: of another\nb.c:1:1: error: second\nc.h:9:1: note: its own\n",
    );
    assert_eq!(find(&found, "first").notes, Vec::<String>::new());
    assert_eq!(find(&found, "second").notes, ["c.h:9: its own"]);
    let found = read("x.c: In function 'f':\n  CC      y.o\ny.c:1:1: warning: w\n");
    assert_eq!(found.all[0].notes, Vec::<String>::new());
}

#[test]
fn what_scripts_and_make_say() {
    for (text, wanted) in [
        ("Makefile:3: *** missing separator.  Stop.", "Makefile:3 missing separator."),
        (
            "/src/linux/Makefile:9: *** \"please install libelf-dev\".  Stop.",
            "Makefile:9 please install libelf-dev",
        ),
        ("*** Configuration file \".config\" not found!", " Configuration file \".config\" not found!"),
        ("ModuleNotFoundError: No module named 'yaml'", " ModuleNotFoundError: No module named 'yaml'"),
        (
            "Can't locate Foo.pm in @INC (you may need to install it)",
            " Can't locate Foo.pm in @INC (you may need to install it)",
        ),
        ("/bin/sh: line 1: 4711 Killed                  gcc -c x.c", " Killed"),
        ("/bin/bash: line 1: perl: command not found", " perl: command not found"),
        ("make[3]: bison: No such file or directory", " bison: No such file or directory"),
        ("/usr/bin/ld: cannot find -lelf", " cannot find -lelf"),
        ("make: *** No rule to make target 'x'.  Stop.", " No rule to make target 'x'."),
        ("make[4]: *** [scripts/Makefile.build:250: fs/x.o] Error 1", " fs/x.o: Error 1"),
        ("\x1b[1m\x1b[31mx.c:1:2: \x1b[0m\x1b[0;1;31merror: \x1b[0mred", "x.c:1 red"),
        (
            "error[E0425]: cannot find value `x`\n --> /src/linux/rust/a.rs:3:5\n",
            "rust/a.rs:3 cannot find value `x`",
        ),
    ] {
        let found = read(text);
        let first = found.first_error().unwrap_or_else(|| panic!("{text}"));
        let line = first.line.map_or_else(String::new, |line| format!(":{line}"));
        assert_eq!(format!("{}{line} {}", first.file.as_deref().unwrap_or_default(), first.text), wanted);
    }
    let perl =
        read("Use of uninitialized value $x in concatenation (.) at scripts/a.pl line 12, <STDIN> line 3.");
    assert_eq!((perl.all[0].line, perl.all[0].severity), (Some(12), Severity::Warning));
}

#[test]
fn a_log_without_complaints_has_none() {
    let quiet = "  CC      lib/error.o\n  LD      vmlinux\nKernel: arch/x86/boot/bzImage is ready  (#1)\n\
        make[1]: Leaving directory '/src/build'\n#\n# configuration written to .config\n#\n1 warning generated.\n";
    let found = read(quiet);
    assert_eq!((found.all, found.omitted), (Vec::new(), 0));
}

#[test]
fn there_is_an_end_to_everything() {
    let mut log = String::new();
    for at in 0..DISTINCT + 10 {
        log += &format!("a.c:{at}:1: warning: w\n");
    }
    log += "b.c:1:1: error: still seen\n";
    log += &"c.h:1:1: note: n\n".repeat(NOTES + 5);
    log += &format!("{}: error: long", "x".repeat(10_000));
    let found = read(&log);
    assert_eq!((found.all.len(), found.omitted), (DISTINCT + 1, 10));
    let first = found.first_error().unwrap();
    assert_eq!((first.text.as_str(), first.notes.len()), ("still seen", NOTES));
}

#[test]
fn as_json() {
    let found = read("/src/linux/a.c:1:2: error: x [-Wodd]\n");
    let wanted = r#"{"all":[{"severity":"error","file":"a.c","line":1,"column":2,"option":"-Wodd","text":"x","notes":[],"count":1,"advice":null}],"omitted":0,"first_error":0}"#;
    assert_eq!(serde_json::to_string(&found).unwrap(), wanted);
}

/// Pieces of real lines in any order.
fn logs() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a.c",
        ":",
        ":1",
        ":1:2:",
        " ",
        "warning: ",
        "error: ",
        "note: ",
        "\n",
        "In file included from ",
        "  CC ",
        "make[1]: ",
        "*** ",
        "[",
        "] ",
        "Error 1",
        "ld: ",
        "undefined reference to ",
        ">>> ",
        "WARNING: ",
        "ERROR: modpost: ",
        "\x1b[",
        "é",
        "/bin/sh: 1: ",
        ": not found",
        " at x.pl line 3.",
        "; ",
        "In function `",
        "':",
        ": in function `",
        "../",
        "/src/linux/",
        "Section mismatches detected",
        "section mismatch",
        "-->",
        "\r",
        " [-W",
        "<inline asm>",
        "*** \"",
    ]);
    prop_oneof![prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat()), any::<String>()]
}

proptest! {
    #[test]
    fn any_log_is_taken(log in logs()) {
        let found = read(&log);
        let lines = log.split(['\n', '\r']).count() as u64;
        prop_assert!(found.all.iter().map(|it| u64::from(it.count)).sum::<u64>() + found.omitted <= lines);
        let has_error = found.all.iter().any(|it| it.severity == Severity::Error);
        prop_assert_eq!(found.first_error().is_some(), has_error);
        prop_assert!(found.first_error().is_none_or(|it| it.severity == Severity::Error));
        prop_assert!(found.all.iter().all(|it| it.notes.len() <= NOTES && !it.text.contains('\n')));
    }
}

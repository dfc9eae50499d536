//! `kiln check` with static analysers, and `kiln findings`.

use check::{NewFinding, SeriesCheck, Verdict};

use crate::checks::{CACHE, check};
use crate::support::{BUILD, Done, Place, cache, text};

/// A makefile that keeps how it compiles, as the kernel's do.
const COMPILES: &str = "\
%.o:
\t@mkdir -p $(dir $(O)/$@)
\t@gcc -O2 -c -o $(O)/$@ $(CURDIR)/$*.c
\t@echo 'savedcmd_$@ := gcc -O2 -c -o $@ $(CURDIR)/$*.c' > $(O)/$(dir $@).$(notdir $@).cmd
";

#[test]
fn what_static_analysis_finds_is_compared_and_kept() {
    let place = Place::new();
    let source = place.source();
    let makefile = std::fs::read_to_string(source.path.join("Makefile")).expect("it has one");
    source.write("Makefile", format!("{makefile}\n{COMPILES}"));
    let old = "int old(void);\nint old(void)\n{\n\tint *p = 0;\n\n\treturn p != 0;\n}\n";
    source.write("fs/main.c", old);
    source.commit("fs: what was there before");
    source.git(&["checkout", "--quiet", "-b", "topic"]);
    source.write("fs/main.c", format!("extern int first;\n\n{old}"));
    source.commit("fs: move what is there");
    let new = "int new(void);\nint new(void)\n{\n\tint *q = 0;\n\n\treturn *q;\n}\n";
    source.write("fs/main.c", format!("extern int first;\n\n{new}\n{old}"));
    source.commit("fs: break");
    let run = |range: &str, code| -> Done {
        let more = ["--config", "defconfig", "--build-only", "--analyse", "gcc,sparse", "--json"];
        check(&place, &source, range, &more).run_within(BUILD).expect(code)
    };
    let found: SeriesCheck = run("main..", 1).stated();
    let analysis = found.analysis.as_ref().expect("asked for");
    let new = |new: &NewFinding| (new.finding.tool.name(), new.finding.line, new.patch);
    let new: Vec<_> = analysis.new.iter().map(new).collect();
    assert_eq!(new, [("sparse", Some(6), Some(2)), ("gcc", Some(8), Some(2))], "{analysis:#?}");
    assert_eq!((analysis.fixed.len(), found.verdict), (0, Verdict::Different));
    let outstanding: Vec<String> = analysis.outstanding.iter().map(ToString::to_string).collect();
    assert!(outstanding.iter().any(|line| line.starts_with("fs/main.c:14:18: ")), "{outstanding:?}");
    assert_eq!(
        run("main..topic~1", 0).stated::<SeriesCheck>().verdict,
        Verdict::Same,
        "moved lines are no news"
    );

    let list = |more: &[&str]| {
        let arguments = [&["findings", "--tree", text(&source.path)], more].concat();
        place.kiln(arguments).env("XDG_CACHE_HOME", place.path().join(CACHE)).run().expect(0)
    };
    let table = list(&[]).stdout;
    assert!(table.contains("fs: break ") && table.contains("fs: move what is there "), "{table}");
    let json = list(&["--json"]).stdout;
    let first: serde_json::Value = serde_json::from_str(json.lines().next().expect("two")).expect("JSON");
    assert_eq!((first["patches"].as_u64(), first["tools"][0]["new"].as_u64()), (Some(2), Some(1)), "{json}");
    let nothing = list(&["--results", text(&place.path().join("none"))]);
    assert!(nothing.stderr.contains("no check of "), "{}", nothing.stderr);
}

/// Defects of a kind each, of which analysers are made to find some.
const PLANTED: &str = r#"
struct planted {
	__be32 count;
	int *place;
};

/**
 * planted_endian - stores a count as it comes
 * @planted: where to
 */
int planted_endian(struct planted *planted, int count);
int planted_endian(struct planted *planted, int count)
{
	planted->count = count;
	return 0;
}

int planted_freed(struct planted *planted);
int planted_freed(struct planted *planted)
{
	kfree(planted->place);
	return *planted->place;
}

int planted_null(struct planted *planted);
int planted_null(struct planted *planted)
{
	if (!planted)
		return *planted->place;
	return 0;
}

int planted_leak(int count);
int planted_leak(int count)
{
	int *place = kmalloc(sizeof(int), GFP_KERNEL);

	if (!place)
		return -ENOMEM;
	if (count > 3)
		return -EINVAL;
	kfree(place);
	return 0;
}

void planted_lock(spinlock_t *lock, int count);
void planted_lock(spinlock_t *lock, int count)
{
	spin_lock(lock);
	if (count)
		return;
	spin_unlock(lock);
}

int planted_bounds(int count);
int planted_bounds(int count)
{
	int places[4] = {};

	places[4] = count;
	return places[0];
}
"#;

#[test]
#[ignore = "takes minutes"]
fn planted_defects_are_found_in_debians_source_and_moving_them_is_no_news() {
    let place = Place::new();
    let source = place.debian_source();
    let file = std::fs::read_to_string(source.path.join("fs/pipe.c")).expect("it has one");
    source.git(&["checkout", "--quiet", "-b", "topic"]);
    source.write("fs/pipe.c", format!("{file}{PLANTED}"));
    source.commit("pipe: plant defects");
    let signs = ["commit", "--quiet", "--amend", "--signoff", "--no-edit"];
    source.git(&signs);
    let (structure, functions) = PLANTED.split_once("/**").expect("a comment");
    let (endian, others) =
        functions.split_once("int planted_freed(struct planted *planted);").expect("a function");
    let moved =
        format!("{file}{structure}\nint planted_freed(struct planted *planted);{others}\n/**{endian}");
    source.write("fs/pipe.c", moved);
    source.commit("pipe: move them");
    source.git(&signs);
    let asks = |range: &str, code| -> SeriesCheck {
        let analysers = "sparse,gcc,clang,cppcheck,coccinelle,kernel-doc,checkpatch";
        let more = ["--config", "tiny", "--build-only", "--analyse", analysers, "--json"];
        let call = place.kiln([&["check", range, "--tree", text(&source.path)], &more[..]].concat());
        let call = call.env("XDG_CACHE_HOME", cache()).env("HOME", place.path());
        call.run_within(BUILD).expect(code).stated()
    };
    let found = asks("main..topic~1", 1);
    let analysis = found.analysis.as_ref().expect("asked for");
    let line_of = |function: &str| {
        let at =
            file.lines().count() + PLANTED.lines().position(|line| line.contains(function)).expect("planted");
        u32::try_from(at).expect("a file has few lines")
    };
    let mut found_by: Vec<String> = Vec::new();
    for new in &analysis.new {
        let line = new.finding.line.unwrap_or_default();
        let kinds = ["endian", "freed", "null", "leak", "lock", "bounds"];
        let kind = kinds.into_iter().rev().find(|kind| line >= line_of(&format!("planted_{kind}")));
        found_by.push(format!("{} by {}", kind.unwrap_or("other"), new.finding.tool.name()));
        assert_eq!(new.patch.unwrap_or(1), 1, "{new:?}");
    }
    for expected in [
        "endian by sparse",
        "endian by kernel-doc",
        "freed by clang",
        "freed by coccinelle",
        "null by gcc",
        "null by clang",
        "null by coccinelle",
        "lock by sparse",
        "bounds by cppcheck",
    ] {
        assert!(found_by.iter().any(|by| by == expected), "{expected}: {found_by:#?}\n{analysis:#?}");
    }
    let moved = asks("topic~1..topic", 0).analysis.expect("asked for");
    let new: Vec<String> =
        moved.new.iter().filter(|new| new.counts()).map(|new| new.finding.to_string()).collect();
    assert_eq!((new, moved.fixed.len()), (vec![], 0));
    assert!(moved.outstanding.len() >= 9, "{moved:#?}");
}

//! `kiln trend` over the commits of a branch.

use serde_json::Value;

use crate::support::source::{INSTRUCTIONS, Source};
use crate::support::{BUILD, Place};

/// Commits of which none changes a kernel.
fn writes(source: &Source, names: std::ops::Range<usize>) {
    for number in names {
        source.adds(&format!("Documentation/{number}.txt"), "words\n");
    }
}

/// The steps of the only series of the only metric: the commit, the verdict, and the difference.
fn steps(found: &Value) -> Vec<(String, String, f64)> {
    let [series] = &found[0]["series"].as_array().expect("a list")[..] else { panic!("{found}") };
    let figure = |value: &Value| value.as_f64().expect("a figure");
    let step = |step: &Value| {
        let at = usize::try_from(step["at"].as_u64().expect("a number")).expect("small");
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        let difference = figure(&step["after"]) - figure(&step["before"]);
        (text(&series["points"][at]["name"]), text(&step["verdict"]), difference)
    };
    series["steps"].as_array().expect("a list").iter().map(step).collect()
}

#[test]
#[ignore = "takes minutes"]
fn a_cost_among_sixty_four_patches_and_what_mends_it_are_found_without_anybody_pointing_at_them() {
    let place = Place::new();
    let source = place.debian_source();
    writes(&source, 0..19);
    let dearer = source.makes_getppid_dearer();
    writes(&source, 20..44);
    let cheap = source.makes_getppid_cheap();
    writes(&source, 45..64);
    let range = format!("git:{}@{}..main", source.path.display(), source.first);
    let trend = || {
        let call = ["trend", "syscall/getppid", &range, "--config", "tiny", "--measure", "--json"];
        place.kiln(call).run_within(BUILD).expect(0)
    };
    let done = trend();
    let steps = steps(&done.stated());
    let [(first, worse, more), (second, better, less)] = &steps[..] else { panic!("{steps:?}") };
    assert!(first.starts_with(&dearer[..12]) && second.starts_with(&cheap[..12]), "{steps:?}");
    assert_eq!((worse.as_str(), better.as_str()), ("worse", "better"));
    assert!((more / INSTRUCTIONS - 1.0).abs() < 0.02 && (more + less).abs() < 0.5, "{steps:?}");
    let measured = done.stderr.matches(" is measured").count();
    assert!((9..=15).contains(&measured), "{}", done.stderr);
    assert!(!trend().stderr.contains(" is measured"), "all is known");
}

#[test]
#[ignore = "takes minutes"]
fn a_warning_is_counted_until_it_is_fixed_though_each_build_compiles_only_what_has_changed() {
    let place = Place::new();
    let source = place.debian_source();
    writes(&source, 0..3);
    let odd = source.warns();
    // That file is compiled again, and the one with the warning is not.
    source.replaces("fs/pipe.c", "\n#include", "\n\n#include");
    writes(&source, 4..6);
    let fixed = source.warns_no_more();
    writes(&source, 7..9);
    let range = format!("git:{}@{}..main", source.path.display(), source.first);
    let call = ["trend", "kernel/warnings", &range, "--config", "tiny", "--measure", "--json"];
    let done = place.kiln(call).run_within(BUILD).expect(0);
    let steps = steps(&done.stated());
    let [(first, worse, more), (second, better, less)] = &steps[..] else { panic!("{steps:?}") };
    assert!(first.starts_with(&odd[..12]) && second.starts_with(&fixed[..12]), "{steps:?}");
    assert_eq!((worse.as_str(), *more, better.as_str(), *less), ("worse", 1.0, "better", -1.0));
}

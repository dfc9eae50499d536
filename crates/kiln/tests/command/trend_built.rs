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
    let found: Value = done.stated();
    let series = &found[0]["series"].as_array().expect("a list")[..];
    let [series] = series else { panic!("{found}") };
    let steps: Vec<(String, &Value, f64)> = series["steps"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|step| {
            let at = usize::try_from(step["at"].as_u64().expect("a number")).expect("small");
            let name = series["points"][at]["name"].as_str().expect("a name").to_owned();
            let difference =
                step["after"].as_f64().expect("a figure") - step["before"].as_f64().expect("a figure");
            (name, &step["verdict"], difference)
        })
        .collect();
    let [(first, worse, more), (second, better, less)] = &steps[..] else { panic!("{steps:?}") };
    assert!(first.starts_with(&dearer[..12]) && second.starts_with(&cheap[..12]), "{steps:?}");
    assert_eq!((*worse, *better), (&"worse".into(), &"better".into()));
    assert!((more / INSTRUCTIONS - 1.0).abs() < 0.02 && (more + less).abs() < 0.5, "{steps:?}");
    let measured = done.stderr.matches(" is measured").count();
    assert!((9..=15).contains(&measured), "{}", done.stderr);
    assert!(!trend().stderr.contains(" is measured"), "all is known");
}

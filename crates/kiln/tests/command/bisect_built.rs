//! `kiln bisect git:TREE@FIRST..LAST` and `--series`: the commit or the patch that did it.

use bisect::{Bisection, Candidate, Conclusion};
use bisect::{Kind, Point};
use verdict::{Comparison, Verdict};

use crate::support::source::{INSTRUCTIONS, Source};
use crate::support::{BUILD, Call, Done, Place};

const BROKEN: &str = "int broken;\n";

/// The bisection, and the only one that did it.
#[track_caller]
fn found(call: Call) -> (Bisection, Candidate) {
    culprit_of(&call.run_within(BUILD).expect(0))
}

#[track_caller]
fn culprit_of(done: &Done) -> (Bisection, Candidate) {
    let bisection: Bisection = done.stated();
    let Conclusion::Culprits { candidates, .. } = &bisection.conclusion else { panic!("{bisection:#?}") };
    let [culprit] = &candidates[..] else { panic!("{candidates:#?}") };
    let culprit = culprit.clone();
    (bisection, culprit)
}

#[track_caller]
fn holds(bisection: &Bisection, checks: usize) {
    assert_eq!(bisection.proof.len(), checks, "{:#?}", bisection.proof);
    for check in &bisection.proof {
        assert!(check.holds && check.untried.is_none(), "{check:#?}");
    }
}

/// Whether the last end was tested with the commit undone.
fn was_undone(bisection: &Bisection) -> bool {
    bisection.states.iter().any(|state| matches!(state.point, Point::Without(_)) && state.good == 1)
}

#[test]
fn the_one_commit_of_thirty_two_that_breaks_the_build_is_found_and_nothing_of_the_users_is_touched() {
    let place = Place::new();
    let source = place.source();
    source.grows("kernel", 20);
    let culprit = source.adds("kernel/wrong.c", BROKEN);
    source.grows("fs", 11);
    source.write("init/main.c", "int not_committed;\n");
    let before = source.listing();
    let range = format!("{}..main", source.first);
    let call = source.bisect(&place, &range, &["--build"]);
    let done = call.run_within(BUILD).expect(0);
    let title = format!("the first bad commit is {} (\"add kernel/wrong.c\")", &culprit[..12]);
    let done = done.says(&title).says("A. Developer").says("error: expected sense").says("kiln build");
    assert!(done.stderr.contains("1 change in") && done.stderr.contains("init/main.c"), "{}", done.stderr);

    let (bisection, named) = found(source.bisect(&place, &range, &["--build", "--json"]));
    assert_eq!((bisection.kind, bisection.candidates.len()), (Kind::Commits, 32));
    assert_eq!((named.name, named.files), (culprit, vec!["kernel/wrong.c".to_string()]));
    holds(&bisection, 3);
    assert!(was_undone(&bisection), "{:#?}", bisection.states);
    assert!(bisection.steps.taken <= bisection.steps.worst, "{:?}", bisection.steps);
    source.is_still(&before);
}

#[test]
fn commits_that_do_not_build_for_another_reason_are_worked_around() {
    let place = Place::new();
    let source = place.source();
    source.grows("kernel", 9);
    source.adds("kernel/other.c", "int ruined;\n");
    source.grows("kernel", 9);
    std::fs::remove_file(source.path.join("kernel/other.c")).expect("ours");
    source.commit("mend what is no concern of ours");
    source.grows("fs", 6);
    let culprit = source.adds("kernel/wrong.c", BROKEN);
    source.grows("fs", 5);
    let range = format!("{}..main", source.first);
    let (bisection, named) = found(source.bisect(&place, &range, &["--build", "--json"]));
    assert_eq!((named.name, bisection.candidates.len()), (culprit, 32));
    holds(&bisection, 3);
    let other = bisection.states.iter().filter_map(|state| state.untestable.as_ref());
    assert!(
        other.clone().count() >= 1 && other.clone().all(|why| why.contains("no such type")),
        "{bisection:#?}"
    );

    let (bisection, _) = found(source.bisect(&place, &range, &["--build", "--json", "--any-failure"]));
    assert!(bisection.states.iter().all(|state| state.untestable.is_none()));
}

#[test]
fn a_commit_on_a_branch_that_was_merged_is_found_there() {
    let place = Place::new();
    let source = place.source();
    source.grows("kernel", 3);
    source.git(&["checkout", "--quiet", "-b", "topic"]);
    source.grows("fs", 4);
    let culprit = source.adds("fs/wrong.c", BROKEN);
    source.grows("fs", 2);
    source.git(&["checkout", "--quiet", "main"]);
    source.grows("kernel", 3);
    source.git(&["merge", "--quiet", "--no-ff", "--message", "merge topic", "topic"]);
    let merge = source.git(&["rev-parse", "HEAD"]);
    source.grows("kernel", 3);
    let range = format!("{}..main", source.first);
    let (bisection, named) = found(source.bisect(&place, &range, &["--build", "--json"]));
    assert_eq!((named.name.as_str(), bisection.candidates.len()), (culprit.as_str(), 17));
    holds(&bisection, 3);

    let (bisection, named) = found(source.bisect(&place, &range, &["--build", "--json", "--first-parent"]));
    assert_eq!((named.name, bisection.candidates.len()), (merge, 10));
}

#[test]
fn only_commits_that_touch_a_path_are_candidates() {
    let place = Place::new();
    let source = place.source();
    for number in 0..4 {
        source.grows("kernel", 3);
        source.adds(&format!("fs/even_{number}.c"), "int even;\n");
    }
    let culprit = source.adds("fs/wrong.c", BROKEN);
    source.grows("kernel", 5);
    let range = format!("{}..main", source.first);
    let (bisection, named) = found(source.bisect(&place, &range, &["--build", "--json", "--path", "fs"]));
    assert_eq!((named.name, bisection.candidates.len()), (culprit, 5));
}

#[test]
fn the_commit_that_mends_the_build_is_found() {
    let place = Place::new();
    let source = place.source();
    let start = source.adds("kernel/wrong.c", BROKEN);
    source.grows("kernel", 7);
    std::fs::remove_file(source.path.join("kernel/wrong.c")).expect("ours");
    let culprit = source.commit("mend it");
    source.grows("kernel", 4);
    let call = source.bisect(&place, &format!("{start}..main"), &["--build", "--json", "--fixed"]);
    let (bisection, named) = found(call);
    assert_eq!((named.name, bisection.fixed), (culprit, true));
    holds(&bisection, 3);
}

/// Patches as `git format-patch` writes them, in a folder.
fn patches(place: &Place, source: &Source, range: &str) -> String {
    let folder = place.path().join("patches").display().to_string();
    source.git(&["format-patch", "--quiet", "--cover-letter", "--output-directory", &folder, range]);
    folder
}

#[test]
fn the_patch_of_a_series_that_breaks_the_build_is_found() {
    let place = Place::new();
    let source = place.source();
    source.git(&["checkout", "--quiet", "-b", "topic"]);
    source.grows("kernel", 4);
    source.adds("fs/wrong.c", BROKEN);
    source.grows("kernel", 3);
    let mails = patches(&place, &source, "main..topic");
    source.git(&["checkout", "--quiet", "main"]);
    source.git(&["branch", "--quiet", "-D", "topic"]);
    let before = source.listing();
    let base = format!("git:{}@main", source.path.display());
    let fragment = place.file("my.config", "CONFIG_64BIT=y\n").display().to_string();
    let (config, draft) = (format!("defconfig,{fragment}"), place.path().join("draft").display().to_string());
    let arguments = ["bisect", "--series", &mails, "--base", &base, "--config", &config, "--build", "--json"];
    let arguments = [&arguments[..], &["--mail", &draft]].concat();
    let call = place.kiln(arguments).env("XDG_CACHE_HOME", place.path().join("cache"));
    let done = call.run_within(BUILD).expect(0);
    assert!(done.stderr.contains("building the patches runs code of their senders"), "{}", done.stderr);
    let (bisection, named) = culprit_of(&done);
    let draft = std::fs::read_to_string(draft).expect("asked for");
    let own = place.path().to_str().expect("paths of tests are UTF-8");
    assert!(draft.contains("--config 'defconfig,./my.config'") && !draft.contains(own), "{draft}");
    assert_eq!((bisection.kind, bisection.candidates.len()), (Kind::Patches, 8));
    assert_eq!((named.title.as_str(), &named.files[..]), ("add fs/wrong.c", &["fs/wrong.c".to_string()][..]));
    holds(&bisection, 3);
    source.is_still(&before);
}

#[test]
fn commits_that_cannot_be_undone_alone_are_named_all_the_same() {
    let place = Place::new();
    let source = place.source();
    source.grows("kernel", 3);
    let culprit = source.adds("kernel/wrong.c", BROKEN);
    for number in 0..4 {
        source.adds("kernel/wrong.c", &format!("int still_broken_{number};\n"));
    }
    let range = format!("{}..main", source.first);
    let (bisection, named) = found(source.bisect(&place, &range, &["--build", "--json"]));
    assert_eq!(named.name, culprit);
    let [before, with, without] = &bisection.proof[..] else { panic!("{:#?}", bisection.proof) };
    assert!(before.holds && with.holds, "{before:#?} {with:#?}");
    assert!(without.untried.is_some() && !without.holds, "{without:#?}");
}

/// Seven commits of which none changes a kernel.
fn writes(source: &Source, part: usize) {
    for number in 0..7 {
        source.adds(&format!("Documentation/part-{part}-{number}.txt"), "words\n");
    }
}

/// Compares two builds of which one has the cost: it is found, measured and named, and nothing else is.
fn is_all_that_differs(place: &Place, base: &str, new: &str) {
    let done = place.kiln(["compare", base, new, "--why", "--json"]).run().expect(1);
    let comparison: Comparison = done.stated();
    let against = &comparison.others[0];
    assert!(against.rows.len() > 100, "{}", against.rows.len());
    // The other image takes another number of instructions to unpack.
    let found: Vec<_> = against
        .rows
        .iter()
        .filter(|row| row.verdict != Verdict::Same && row.metric != "boot/user-space")
        .collect();
    let [row] = found[..] else { panic!("{found:#?}") };
    assert_eq!((row.metric.as_str(), row.verdict), ("syscall/getppid", Verdict::Worse));
    assert!((row.difference / INSTRUCTIONS - 1.0).abs() < 0.02, "{row:?}");
    let why = row.why.as_ref().expect("it was asked for");
    let first = &why.functions[0];
    assert!(first.function.contains("sys_getppid"), "{why:?}");
    let gained = first.new.unwrap_or(0).abs_diff(first.base.unwrap_or(0));
    assert!((980..=1022).contains(&gained), "{why:?}");
    assert!(why.unexplained.abs() <= 20, "{why:?}");
    for missing in &against.missing {
        assert_eq!(missing.base, missing.new, "{missing:?}");
    }
}

#[test]
#[ignore = "takes minutes"]
fn the_commit_that_breaks_a_case_and_the_one_that_makes_a_system_call_dearer_are_found_in_debians_source() {
    let place = Place::new();
    let source = place.debian_source();
    writes(&source, 1);
    let dearer = source.makes_getppid_dearer();
    writes(&source, 2);
    writes(&source, 3);
    let breaks = source.breaks_pipes();
    writes(&source, 4);
    source.adds("Documentation/one.txt", "words\n");
    source.adds("Documentation/two.txt", "words\n");
    let range = format!("{}..main", source.first);

    let (bisection, named) = found(source.bisect(&place, &range, &["--case", "pipe/broken", "--json"]));
    assert_eq!((named.name, bisection.candidates.len()), (breaks, 32));
    holds(&bisection, 3);

    let (bisection, named) = found(source.bisect(&place, &range, &["--metric", "syscall/getppid", "--json"]));
    assert_eq!(named.name, dearer);
    holds(&bisection, 3);
    let [first, last] = [&bisection.first, &bisection.last].map(|end| end.state.values[0]);
    assert!(((last - first) / INSTRUCTIONS - 1.0).abs() < 0.02, "{first} {last}");

    // Both were built for the search.
    let [base, new] = [&source.first, &dearer].map(|commit| {
        let locator = format!("git:{}@{commit}", source.path.display());
        place.kiln(["build", &locator, "--config", "tiny"]).builds()
    });
    is_all_that_differs(&place, &base, &new);
}

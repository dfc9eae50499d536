//! `kiln bisect deb:FIRST..deb:LAST`: the first package that is bad, or good again.

use bisect::{Bisection, Conclusion};

use crate::support::{BUILD, Place, sessions};

/// From where on waiting for one of a hundred file descriptors takes 700 instructions more, and the XFS reflink race
/// is fixed: Debian's 6.1.180-1.
const CHANGED: &str = "deb:6.1.0-52-cloud-amd64";

const RANGE: &str = "deb:6.1.0-47-cloud..deb:6.1.0-56-cloud";

#[test]
#[ignore = "takes more than a minute of CPU"]
fn the_package_from_which_on_an_operation_costs_more_is_found_once_and_told_in_every_form() {
    let place = Place::new();
    let written = |name: &str| place.path().join(name).display().to_string();
    let (page, mail) = (written("page.html"), written("mail.txt"));
    let bisect = |more: &[&str]| {
        let first = ["bisect", RANGE, "--metric", "poll/epoll-wait-100", "--html", &page, "--mail", &mail];
        place.kiln([&first, more].concat()).run_within(BUILD).expect(0)
    };
    let done = bisect(&[]).says(&format!("the first bad package is {CHANGED}"));
    for path in [&page, &mail] {
        assert!(std::fs::read_to_string(path).expect("written").contains(CHANGED), "{path}");
    }

    // Whoever asks again is told what is known already.
    let again = bisect(&[]);
    assert!(!again.stderr.lines().any(|line| line.starts_with("now ")), "{}", again.stderr);
    assert!(again.stderr.contains("answers reused from an earlier session"), "{}", again.stderr);
    let verdict = |text: &str| text.lines().next().map(str::to_owned);
    assert_eq!(verdict(&again.stdout), verdict(&done.stdout));

    let bisection: Bisection = bisect(&["--json"]).stated();
    let Conclusion::Culprits { candidates, .. } = &bisection.conclusion else { panic!("{bisection:#?}") };
    let names: Vec<&str> = candidates.iter().map(|candidate| candidate.name.as_str()).collect();
    assert_eq!(names, [CHANGED]);
    assert_eq!(bisection.steps.reused, bisection.steps.runs);
    let threshold = bisection.threshold.expect("of a metric");
    for state in bisection.states {
        let is_late = state.name.as_str() >= CHANGED;
        assert!(state.values.iter().all(|&value| threshold.is_bad(value) == is_late), "{state:?}");
    }
    assert_eq!(sessions(&place.path().join("state")).len(), 0, "a measurement is no session");
}

#[test]
#[ignore = "takes minutes"]
fn the_package_that_mends_the_xfs_reflink_race_is_found() {
    let place = Place::new();
    let program = place.kept_program("xfs-reflink-race").display().to_string();
    let needs = "fs=xfs,program=mkfs.xfs,disk=512M,cpus=2";
    let more = ["--fixed", "--exec", &program, "--cpus", "2", "--need", needs];
    let done = place.kiln([&["bisect", RANGE], &more[..]].concat()).run_within(BUILD).expect(0);
    done.says(&format!("the first good package is {CHANGED} (\"6.1.180-1\")"));
}

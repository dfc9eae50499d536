//! `kiln bisect KERNEL --params`, `--config-good` and `--config-bad`: what did it, alone or only together.

use bisect::{Bisection, Conclusion};

use crate::support::{BUILD, Call, Done, KERNEL, Place};

/// Parameters that the kernel knows and that make no difference here.
const OTHERS: &str = "nowatchdog noirqdebug norandmaps nosoftlockup noautogroup noresume nohibernate \
                      no_console_suspend nohugeiomap nohugevmalloc rootwait noreplace-smp nosmt nogbpages audit=0";

/// A function `has` that looks for a word of the command line.
const HAS: &str = r#"
#include <sys/random.h>
static int has(const char *word) {
    char line[8192] = " ";
    FILE *file = fopen("/proc/cmdline", "r");
    if (!file || !fgets(line + 1, sizeof line - 2, file)) exit(125);
    line[strcspn(line, "\n")] = ' ';
    char text[64];
    snprintf(text, sizeof text, " %s ", word);
    return strstr(line, text) != NULL;
}
"#;

/// `kiln bisect KERNEL --params good bad` with more arguments.
fn parameters(place: &Place, good: &str, bad: &str, more: &[&str]) -> Call {
    place.kiln([&["bisect", KERNEL, "--params", good, bad], more].concat())
}

/// What did it; every check was made and holds.
#[track_caller]
fn culprits(bisection: &Bisection) -> Vec<&str> {
    let Conclusion::Culprits { candidates, .. } = &bisection.conclusion else { panic!("{bisection:#?}") };
    assert!(!bisection.proof.is_empty());
    for check in &bisection.proof {
        assert!(check.holds && check.untried.is_none(), "{check:#?}");
    }
    candidates.iter().map(|candidate| candidate.name.as_str()).collect()
}

fn stated(call: Call) -> (Done, Bisection) {
    let done = call.run_within(BUILD).expect(0);
    let bisection = done.stated();
    (done, bisection)
}

#[test]
#[ignore = "takes about a minute of CPU"]
fn the_parameter_whose_absence_makes_an_operation_cost_more_is_found() {
    let place = Place::new();
    let bad = "bad: threadirqs loglevel=3";
    let more = ["--metric", "pipe/round-trip"];
    let done = parameters(&place, "good: mitigations=off", bad, &more).run_within(BUILD).expect(0);
    let done = done.says("removing the parameter mitigations=off breaks it");
    // Commands that show both sides, for whoever does not believe it.
    let command = |wanted: &str| {
        let commands = done.stdout.lines().filter(|line| line.trim_start().starts_with("kiln measure"));
        commands.filter(|line| line.contains(wanted)).count()
    };
    assert!(command("mitigations=off") >= 1 && command("--metric pipe/round-trip") == 2, "{}", done.stdout);
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn the_parameter_that_puts_a_text_into_the_log_is_found() {
    let place = Place::new();
    let (few, _) = OTHERS.split_at(OTHERS.find("no_console_suspend").expect("it is there"));
    let bad = format!("{few} ipv6.disable=1");
    let more = ["--log", "IPv6: Loaded, but administratively disabled", "--json"];
    let (_, bisection) = stated(parameters(&place, "", &bad, &more));
    assert_eq!(culprits(&bisection), ["ipv6.disable=1"]);
    assert!(bisection.rate.always, "{:?}", bisection.rate);
    for check in &bisection.proof {
        let evidence = &check.state.as_ref().expect("it was tried").evidence;
        let shows = evidence.lines.iter().any(|line| line.contains(more[1]));
        assert_eq!(shows, check.expected, "{:?}", evidence.lines);
        let log = evidence.run.as_ref().map_or(0, |run| run.log.len());
        assert!(log > 100, "that of a boot has more than {log} lines");
    }
}

#[test]
#[ignore = "takes more than a minute of CPU"]
fn two_parameters_that_fail_only_together_are_both_found() {
    let place = Place::new();
    let body = r#"return has("bad-a") && has("bad-b");"#;
    let program = place.compile("together", body, HAS, &["-static"]).display().to_string();
    let bad = "bad-b o1 bad-a";
    let (done, bisection) = stated(parameters(&place, "quiet", bad, &["--exec", &program, "--json"]));
    let mut found = culprits(&bisection);
    found.sort_unstable();
    assert_eq!(found, ["bad-a", "bad-b"]);
    // Together alone; each of them alone; all others with each of them left out.
    let expected: Vec<bool> = bisection.proof.iter().map(|check| check.expected).collect();
    assert_eq!(expected.iter().filter(|&&shows| shows).count(), 1, "{expected:?}");
    assert_eq!(expected.len(), 5, "{expected:?}");
    assert!(done.stdout.contains("2 parameters break it only together"), "{}", done.stdout);
}

#[test]
#[ignore = "takes more than a minute of CPU"]
fn a_parameter_with_which_a_third_of_the_runs_fail_is_found() {
    let place = Place::new();
    let body = r#"
        unsigned char chance;
        if (getrandom(&chance, 1, 0) != 1) return 125;
        return has("bad") && chance < 77;"#;
    let program = place.compile("rare", body, HAS, &["-static"]).display().to_string();
    let (before, after) = OTHERS.split_at(OTHERS.find("nohugevmalloc").expect("it is there"));
    let bad = format!("{before} bad {after}");
    let (_, bisection) = stated(parameters(&place, "", &bad, &["--exec", &program, "--json"]));
    assert_eq!(culprits(&bisection), ["bad"]);
    assert_eq!(bisection.candidates.len(), 16);
    let rate = bisection.rate;
    assert!(!rate.always && (0.05..0.7).contains(&rate.mean), "{rate:?}");
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn a_parameter_that_keeps_a_kernel_from_its_user_space_is_found() {
    let place = Place::new();
    let bad = "rdinit=/nowhere nowatchdog";
    let mail = place.path().join("mail.txt").display().to_string();
    let (_, bisection) = stated(parameters(&place, "", bad, &["--boot", "--json", "--mail", &mail]));
    assert_eq!(culprits(&bisection), ["rdinit=/nowhere"]);
    let written = std::fs::read_to_string(mail).expect("asked for");
    assert!(written.contains("bug.tar"), "{written}");
    let folders = std::fs::read_dir(place.path().join("state/kiln/bisections")).expect("kept").flatten();
    let bundles: Vec<_> = folders.map(|folder| folder.path().join("bug.tar")).collect();
    assert!(matches!(&bundles[..], [bundle] if bundle.is_file()), "{bundles:?}");
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn the_parameter_without_which_a_kernel_boots_again_is_found() {
    let place = Place::new();
    let more = ["--boot", "--json", "--fixed"];
    let (_, fixed) = stated(parameters(&place, "good:", "bad: rdinit=/nowhere nowatchdog", &more));
    assert_eq!(culprits(&fixed), ["no rdinit=/nowhere"]);
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn runs_of_earlier_sessions_count_for_a_case_and_not_for_a_program_of_that_name() {
    const CASE: &str = "process/exit-status";
    const REUSED: &str = "(5 from earlier sessions)";
    let place = Place::new();
    place.kiln(["run", KERNEL, "--case", CASE, "--repeat", "5"]).run().expect(0);
    let done =
        parameters(&place, "", "nowatchdog", &["--case", CASE, "--tries", "5"]).run_within(BUILD).expect(2);
    assert!(done.stderr.contains(REUSED) && done.stderr.contains("nothing to search for"), "{}", done.stderr);

    let folder = place.path().join("suite/process");
    std::fs::create_dir_all(&folder).expect("writable");
    std::fs::rename(place.program("is-fine", "return 0;"), folder.join("exit-status")).expect("writable");
    let suite = format!("{}/", folder.parent().expect("suite").display());
    let other = ["--suite", &suite, "--case", CASE, "--tries", "5"];
    let done = parameters(&place, "", "nowatchdog", &other).run_within(BUILD).expect(2);
    assert!(
        !done.stderr.contains(REUSED) && done.stderr.contains("nothing to search for"),
        "{}",
        done.stderr
    );
}

/// Options that take little time to build and print nothing.
const PAGES: &str = "CODEPAGE_437 CODEPAGE_737 CODEPAGE_775 CODEPAGE_850 CODEPAGE_852 CODEPAGE_855 CODEPAGE_857 \
                     CODEPAGE_860 CODEPAGE_861 CODEPAGE_862 CODEPAGE_863 CODEPAGE_864 CODEPAGE_865 CODEPAGE_866 \
                     CODEPAGE_869 CODEPAGE_874 ISO8859_8 CODEPAGE_1250 CODEPAGE_1251 ASCII ISO8859_1 ISO8859_2 \
                     ISO8859_3 ISO8859_4 ISO8859_5 ISO8859_6 ISO8859_7 ISO8859_9 ISO8859_13 ISO8859_14 ISO8859_15 \
                     KOI8_R KOI8_U MAC_ROMAN MAC_CELTIC MAC_CENTEURO MAC_CROATIAN MAC_CYRILLIC MAC_GAELIC MAC_GREEK \
                     MAC_ICELAND MAC_INUIT UTF8";

#[test]
#[ignore = "takes minutes"]
fn one_of_the_options_in_which_two_configurations_differ_is_found() {
    let place = Place::new();
    let write = |name: &str, options: &str| {
        let path = place.path().join(name);
        std::fs::write(&path, options).expect("writable");
        format!("tiny,{}", path.display())
    };
    let pages: String = PAGES.split_whitespace().map(|page| format!("CONFIG_NLS_{page}=y\n")).collect();
    let good = write("good.config", "CONFIG_CRC32=y\n");
    let bad = write("bad.config", &format!("CONFIG_CRC32=y\nCONFIG_CRC32_SELFTEST=y\nCONFIG_NLS=y\n{pages}"));
    let ends = ["--config-good", &good, "--config-bad", &bad, "--arch", "um"];
    let ask = ["--log", "crc32: self tests passed", "--json"];
    let call = place.kiln([&["bisect", crate::support::SOURCE], &ends[..], &ask].concat());
    let (_, bisection) = stated(call);
    assert!(bisection.candidates.len() >= 40, "{}", bisection.candidates.len());
    assert_eq!(culprits(&bisection), ["CONFIG_CRC32_SELFTEST=y instead of n"]);
}

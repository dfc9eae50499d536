//! The configurations of `--config`: built, booted, run through the smoke suite, and made to find a fault of their kind.

use std::path::Path;

use judge::{Outcome, Run};

use crate::sources::{all_pass, passes_the_smoke_suite};
use crate::support::{BUILD, Call, Place, SOURCE};

/// The newest source of Debian 12.
const NEWER: &str = "deb-source:6.12";

const HEADERS: &str = "#include <sys/ioctl.h>\n#include <sys/mman.h>\n";

/// Allocates once where every allocation of this process fails.
const ALLOCATES: &str = r#"
const char *failslab[][2] = { { "task-filter", "Y" }, { "ignore-gfp-wait", "N" }, { "times", "-1" },
                              { "probability", "100" } };
for (int i = 0; i < 4; i++) {
    char path[80];
    snprintf(path, sizeof path, "/sys/kernel/debug/failslab/%s", failslab[i][0]);
    put(path, failslab[i][1]);
}
int fails = open("/proc/self/make-it-fail", O_WRONLY);
write(fails, "1", 1);
int result = syscall(SYS_eventfd2, 0, 0), error = errno;
write(fails, "0", 1);
printf("eventfd: %d, %s\n", result, strerror(error));
"#;

/// Counts the addresses that one system call passes in the kernel.
const COVERS: &str = r#"
unsigned long *cover;
int fd = open("/sys/kernel/debug/kcov", O_RDWR);
if (fd < 0 || ioctl(fd, _IOR('c', 1, unsigned long), 4096)) { perror("kcov"); return 1; }
cover = mmap(NULL, 4096 * sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
if (cover == MAP_FAILED || ioctl(fd, _IO('c', 100), 0)) { perror("enable"); return 1; }
__atomic_store_n(&cover[0], 0, __ATOMIC_RELAXED);
close(-1);
unsigned long count = __atomic_load_n(&cover[0], __ATOMIC_RELAXED);
ioctl(fd, _IO('c', 101), 0);
printf("addresses: %s\n", count > 2 ? "some" : "none");
"#;

/// What a program or script did on this kernel.
fn run(place: &Place, locator: &str, program: &Path) -> Run {
    let done = place.exec_on(locator, program, &[]).run_within(BUILD);
    let name = program.file_name().expect("a file").to_string_lossy().into_owned();
    done.document(&name)
}

/// LKDTM does this harm, and one of the kernel's reports has one of these titles.
#[track_caller]
fn reports(locator: &str, harm: &str, titles: &[&str]) {
    let place = Place::new();
    let script = place.script("harm", &format!("echo {harm} > /sys/kernel/debug/provoke-crash/DIRECT"));
    let run = run(&place, locator, &script);
    assert!(matches!(run.outcome, Outcome::Fail | Outcome::Crash), "{run:#?}");
    let mut found = run.kernel_reports.iter().map(|report| &report.title);
    assert!(found.any(|found| titles.iter().any(|title| found.contains(title))), "{:#?}", run.kernel_reports);
}

fn find_planted_faults(source: &str, arch: &str, configurations: &str) {
    let place = Place::new();
    let locator = place.kiln(["build", source, "--config", configurations, "--arch", arch]).builds();
    reports(&locator, "READ_AFTER_FREE", &["KASAN: "]);
    // It goes back to user space with the lock: what lockdep meets first is its to say.
    reports(&locator, "SPINLOCKUP", &["Invalid wait context", "lock held when returning to user space"]);
    let prints = |name: &str, code: &str, output: &str| {
        let place = Place::new();
        let program = place.compile(name, code, HEADERS, &["-static"]);
        let run = run(&place, &locator, &program);
        assert_eq!((run.outcome, run.output.as_str()), (Outcome::Pass, output), "{run:#?}");
    };
    prints("allocates", ALLOCATES, "eventfd: -1, Cannot allocate memory\n");
    if configurations.contains("cov") {
        prints("covers", COVERS, "addresses: some\n");
    }
    // A program of the host cannot be cloned.
    let more = if arch == "um" { &["--isolation", "suite"][..] } else { &[] };
    let smoke = place.kiln([&["run", &locator], more].concat());
    if (source, arch) == (SOURCE, "um") {
        passes_but_for_the_boot(smoke, "WARNING: suspicious RCU usage in mas_walk");
    } else {
        passes_the_smoke_suite(smoke, 50);
    }
}

/// The kernel reports a known defect of its own when it boots, and none in any case.
fn passes_but_for_the_boot(smoke: Call, defect: &str) {
    let (boots, cases): (Vec<Run>, Vec<Run>) =
        smoke.run_within(BUILD).expect(1).finished().into_iter().partition(|run| run.is_boot);
    let titles: Vec<&str> = boots.iter().map(|run| run.reason.as_str()).collect();
    assert_eq!(titles, [defect]);
    all_pass(&cases, 50);
}

#[test]
#[ignore = "takes half an hour of CPU"]
fn all_find_planted_faults_in_6_1() {
    find_planted_faults(SOURCE, "x86_64", "boot,debug,fault,cov");
}

#[test]
#[ignore = "takes half an hour of CPU"]
fn all_find_planted_faults_in_6_12() {
    find_planted_faults(NEWER, "x86_64", "boot,debug,fault,cov");
}

#[test]
#[ignore = "takes half an hour of CPU"]
fn all_find_planted_faults_in_6_1_as_a_program() {
    find_planted_faults(SOURCE, "um", "boot,debug,fault");
}

#[test]
#[ignore = "takes half an hour of CPU"]
fn all_find_planted_faults_in_6_12_as_a_program() {
    find_planted_faults(NEWER, "um", "boot,debug,fault");
}

/// The kernel's own unit tests, of which one cannot pass.
fn only_the_planted_failure_is_found(arch: kernel::Arch) {
    let place = Place::new();
    let source = place.debian_tree(NEWER, arch);
    let right = "KUNIT_EXPECT_TRUE(test, list_empty_careful(&list1));";
    source.changes("lib/list-test.c", right, &right.replace("TRUE", "FALSE"));
    let tree = source.path.to_str().expect("paths of tests are UTF-8");
    let locator = place.kiln(["build", tree, "--config", "kunit", "--arch", &arch.to_string()]).builds();
    let runs = place.kiln(["kunit", &locator]).run_within(BUILD).expect(1).finished();
    assert!(runs.len() > 100, "{}", runs.len());
    let bad: Vec<&Run> = runs.iter().filter(|run| !run.outcome.is_well()).collect();
    let [planted] = bad[..] else { panic!("{bad:#?}") };
    assert_eq!(
        (planted.case.as_str(), planted.outcome),
        ("list-kunit-test/list_test_list_init", Outcome::Fail)
    );
    let smoke = Place::new();
    passes_the_smoke_suite(smoke.kiln(["run", &locator, "--isolation", "suite"]), 50);
}

#[test]
#[ignore = "takes minutes"]
fn a_planted_failure_of_a_unit_test_of_6_12_is_the_only_one() {
    only_the_planted_failure_is_found(kernel::Arch::Um);
}

#[test]
#[ignore = "takes half an hour of CPU"]
fn all_find_a_planted_failure_of_a_unit_test_in_qemu() {
    only_the_planted_failure_is_found(kernel::Arch::X86_64);
}

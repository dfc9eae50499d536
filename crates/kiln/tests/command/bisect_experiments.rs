//! `kiln bisect --exp`: which change makes an experiment fail.

use std::fs;
use std::path::{Path, PathBuf};

use bisect::{Bisection, Conclusion};
use rustix::process::Signal;

use crate::support::{BUILD, Call, KERNEL, Place, SOURCE, text, until};

/// The kernel: it boots in a moment.
const UML: &str = "uml:deb";

/// How a script begins.
const BEGIN: &str = "experiment(question = \"why?\")\n";

/// A step whose machine must not have the parameter `bad`.
const FAILS_IF_BAD: &str = r#"
def look(lab):
    expect("bad" not in lab.machine().run("cat /proc/cmdline").output.split(), "the parameter is bad")

step(look)
"#;

/// A step that records which boot it is, and one that takes its time.
const RECORDS_ITS_BOOT: &str = r#"
def record(lab):
    note("boot " + lab.machine().run("cat /proc/sys/kernel/random/boot_id").output.strip())

def wait(lab):
    lab.sleep("300ms")

step(record)
step(wait)
"#;

/// A folder with a script of these steps.
fn experiment(place: &Place, steps: &str) -> PathBuf {
    let folder = place.path().join("look");
    fs::create_dir_all(&folder).expect("writable");
    fs::write(folder.join("experiment.star"), format!("{BEGIN}{steps}")).expect("writable");
    folder
}

/// A search among parameters for the one with which the experiment fails.
fn search(place: &Place, folder: &Path, bad: &str) -> Call {
    place.kiln(["bisect", UML, "--params", "good:", bad, "--exp", text(folder), "--json"])
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// The runs that the only bisection has kept.
fn runs(place: &Place) -> Vec<PathBuf> {
    let bisections = entries(&place.path().join("state/kiln/bisections"));
    bisections.iter().flat_map(|folder| entries(&folder.join("runs"))).collect()
}

#[track_caller]
fn culprits(bisection: &Bisection) -> Vec<&str> {
    let Conclusion::Culprits { candidates, .. } = &bisection.conclusion else { panic!("{bisection:#?}") };
    assert!(bisection.proof.iter().all(|check| check.holds), "{:#?}", bisection.proof);
    candidates.iter().map(|candidate| candidate.name.as_str()).collect()
}

/// Four parameters that the kernel does not know, and of which the experiment knows one.
const BAD: &str = "bad: o1 o2 bad o3";

#[test]
fn the_parameter_with_which_an_experiment_fails_is_found() {
    let place = Place::new();
    let folder = experiment(&place, FAILS_IF_BAD);
    let mail = place.path().join("mail.txt");
    let again = ["bisect", UML, "--params", "good:", BAD, "--exp", text(&folder), "--mail", text(&mail)];
    let bisection: Bisection = search(&place, &folder, BAD).run_within(BUILD).expect(0).stated();
    assert_eq!(culprits(&bisection), ["bad"]);
    let notes = &bisection.notes;
    assert!(notes.iter().any(|note| note.starts_with("there is no bundle")), "{notes:?}");
    // The command that shows it does what it says.
    let command = bisection.reproduce.iter().find(|line| line.contains("bad")).expect("one of both sides");
    let words = shlex::split(command).expect("a shell reads it");
    place.kiln(&words[1..]).run().expect(1).says("the parameter is bad");
    // Nothing is run again, and the draft of a mail tells nobody where the folder is.
    place.kiln(again).run().expect(0).says("the failure of look").says("kiln exp run");
    assert_eq!(runs(&place).len(), bisection.steps.runs as usize);
    let mail = fs::read_to_string(mail).expect("asked for");
    assert!(mail.contains("kiln exp run ./look ") && !mail.contains(text(&folder)), "{mail}");
}

/// Two metrics, of which one grows with each parameter and one with `bad`.
const RECORDS_ITS_WORDS: &str = r#"
experiment(
    question = "why?",
    measures = [
        metric_info("words", unit = "steps"),
        metric_info("answer", unit = "1/s", better = "more", kind = "timed"),
    ],
)

def look(lab):
    words = lab.machine().run("cat /proc/cmdline").output.split()
    metric("words", len(words) + (7 if "bad" in words else 0))
    metric("answer", (80 if "bad" in words else 100) + lab.random())

step(look)
"#;

#[test]
#[ignore = "takes most of a minute of CPU"]
fn the_parameter_that_moves_a_metric_of_an_experiment_is_found() {
    let place = Place::new();
    let folder = experiment(&place, "");
    fs::write(folder.join("experiment.star"), RECORDS_ITS_WORDS).expect("writable");
    let ask = |metric: &[&str]| {
        let call = ["bisect", UML, "--params", "good:", BAD, "--exp", text(&folder), "--metric"];
        place.kiln([&call[..], metric].concat()).run_within(BUILD).expect(0)
    };
    let worse_by = ["words", "--worse-by", "50%", "--json"];
    let bisection: Bisection = ask(&worse_by).stated();
    assert_eq!(culprits(&bisection), ["bad"]);
    ask(&["answer"]).says("a worse answer").says(" 1/s").says("kiln exp run");
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn a_killed_search_goes_on_in_the_experiment_that_ran() {
    let place = Place::new();
    let folder = experiment(&place, &format!("{RECORDS_ITS_BOOT}{FAILS_IF_BAD}"));
    let journal = |run: &Path| fs::read_to_string(run.join("journal.jsonl")).unwrap_or_default();
    let is_unfinished = |run: &PathBuf| text(run).contains("/.unfinished-");
    let running = search(&place, &folder, "bad: o1 bad").start();
    // The first step of a run is complete, and its second one is not.
    let half = until("a run is half done", || {
        let mut unfinished = runs(&place).into_iter().filter(is_unfinished).map(|run| journal(&run));
        unfinished.find(|journal| journal.matches("\"completed\"").count() == 1)
    });
    running.signal(Signal::KILL);
    assert_eq!(running.wait().code, None);
    let (_, boot) = half.split_once("boot ").expect("it is recorded");
    let boot = &boot[.."01234567-89ab-cdef-0123-456789abcdef".len()];
    let done = search(&place, &folder, "bad: o1 bad").run_within(BUILD).expect(0);
    assert_eq!(culprits(&done.stated()), ["bad"]);
    let runs = runs(&place);
    assert!(!runs.iter().any(is_unfinished), "{runs:?}");
    assert_eq!(runs.iter().filter(|run| journal(run).contains(boot)).count(), 1, "it was not booted again");
}

/// A step that looks at a file of `/proc` and at what a system call returns.
const LOOKS_AROUND: &str = r#"
experiment(question = "why?", measures = [metric_info("lines", unit = "lines")])

def look(lab):
    machine = lab.machine()
    metric("lines", len(machine.read("/proc/meminfo").splitlines()))
    expect(machine.run("umask 027; umask").output.strip() == "0027", "the umask is kept")

step(look)
"#;

#[test]
#[ignore = "takes minutes"]
fn the_commits_that_break_an_experiment_and_move_its_metric_are_found_in_debians_source() {
    let place = Place::new();
    let source = place.debian_source();
    const LINE: &str = "show_val_kb(m, \"MemFree:        \", i.freeram);";
    let planted = LINE.replace("MemFree:   ", "MemPlanted:");
    let longer = source.replaces("fs/proc/meminfo.c", LINE, &[LINE, &planted].concat());
    source.adds("Documentation/one.txt", "words\n");
    const RIGHT: &str = "mask & S_IRWXUGO);";
    let breaks = source.replaces("kernel/sys.c", RIGHT, "mask & 0700);");
    source.adds("Documentation/two.txt", "words\n");
    let folder = experiment(&place, "");
    fs::write(folder.join("experiment.star"), LOOKS_AROUND).expect("writable");
    let range = format!("{}..main", source.first);
    for (more, commit) in [(&[][..], breaks), (&["--metric", "lines"][..], longer)] {
        let asked = [&["--exp", text(&folder), "--json"][..], more].concat();
        let bisection: Bisection = source.bisect(&place, &range, &asked).run_within(BUILD).expect(0).stated();
        assert_eq!((culprits(&bisection), bisection.candidates.len()), (vec![commit.as_str()], 4));
    }
}

/// A step in which the kernel must not have tested itself.
const FAILS_IF_TESTED: &str = r#"
def look(lab):
    expect("crc32: self tests passed" not in lab.machine().run("dmesg").output, "the kernel tests itself")

step(look)
"#;

#[test]
#[ignore = "takes minutes"]
fn the_option_with_which_an_experiment_fails_is_found_in_debians_source() {
    let place = Place::new();
    let folder = experiment(&place, FAILS_IF_TESTED);
    let write = |name: &str, options: &str| format!("tiny,{}", text(&place.file(name, options)));
    let good = write("good.config", "CONFIG_CRC32=y\n");
    let bad =
        write("bad.config", "CONFIG_CRC32=y\nCONFIG_CRC32_SELFTEST=y\nCONFIG_NLS=y\nCONFIG_NLS_ASCII=y\n");
    let ends = ["--config-good", &good, "--config-bad", &bad, "--arch", "um"];
    let ask = ["--exp", text(&folder), "--json"];
    let call = place.kiln([&["bisect", SOURCE], &ends[..], &ask].concat());
    let bisection: Bisection = call.run_within(BUILD).expect(0).stated();
    assert_eq!(culprits(&bisection), ["CONFIG_CRC32_SELFTEST=y instead of n"]);
    assert!(bisection.candidates.len() >= 3, "{:#?}", bisection.candidates);
}

#[track_caller]
fn refused(call: Call, words: &[&str]) {
    let done = call.run().expect(2);
    for word in words {
        assert!(done.stderr.contains(word), "no {word:?} in\n{}", done.stderr);
    }
    assert!(done.stdout.is_empty(), "{}", done.stdout);
}

#[test]
fn experiments_that_cannot_be_asked() {
    let place = Place::new();
    let ask = |name: &str| place.kiln(["bisect", KERNEL, "--params", "good:", "bad: quiet", "--exp", name]);
    let data = place.path().join("data");
    let known = data.join("kiln/experiments/dock");
    fs::create_dir_all(&known).expect("writable");
    fs::write(known.join("experiment.star"), BEGIN).expect("writable");
    let meant = |name: &str| ask(name).env("XDG_DATA_HOME", &data).from(text(place.path()));
    refused(meant("dok"), &["there is no experiment \"dok\": did you mean dock?"]);
    refused(meant("nothing-like-it"), &["there is no experiment \"nothing-like-it\": there is dock"]);
    refused(ask("./nowhere"), &["./nowhere: there is no experiment.star in it"]);
    let folder = experiment(&place, "def f(lab):\n    lab.mashine()\nstep(f)\n");
    refused(ask(text(&folder)), &["--exp ", "experiment.star:3:", "did you mean machine?"]);
    let two = format!("{}{FAILS_IF_BAD}", BEGIN.replace(")", ", kernels = 2)"));
    fs::write(folder.join("experiment.star"), two).expect("writable");
    refused(ask(text(&folder)), &["look: takes 2 kernels at once: a bisection runs it on one"]);
    let measures = RECORDS_ITS_WORDS.replace("steps", "things");
    fs::write(folder.join("experiment.star"), measures).expect("writable");
    let metric = |name: &str| {
        let call =
            ["bisect", KERNEL, "--params", "good:", "bad: quiet", "--exp", text(&folder), "--metric", name];
        place.kiln(call)
    };
    refused(metric("word"), &["--metric word: look declares no such metric: did you mean words?"]);
    refused(metric("syscall/getppid"), &["look declares no such metric: there is words, answer"]);
}

#[test]
fn what_does_not_go_together_with_an_experiment() {
    let place = Place::new();
    let ask =
        |more: &[&str]| place.kiln([&["bisect", KERNEL, "--params", "good:", "bad: quiet"], more].concat());
    for more in [
        &["--case", "pipe/full"][..],
        &["--suite", "ltp"],
        &["--exec", "/bin/true"],
        &["--need", "cpus=2"],
        &["--timed"],
        &["--metric", "cost", "--timed"],
        &["--boot"],
        &["--build"],
        &["--log", "text"],
        &["--root", "debian"],
        &["--case-timeout", "5s"],
        &["--", "argument"],
    ] {
        refused(ask(&[&["--exp", "dock"], more].concat()), &["cannot be used with"]);
    }
    refused(ask(&["--boot", "--short"]), &["cannot be used with"]);
    refused(ask(&["--exp", "dock", "--worse-by", "1%"]), &["--metric"]);
    refused(ask(&["--short"]), &["--exp"]);
}

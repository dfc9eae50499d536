//! Experiments as sessions: shown, run again, handed over.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use judge::Outcome;
use judge::run::Run;
use lab::event::Session;

use crate::support::bundle::unpack;
use crate::support::{BUILD, Done, KERNEL, Place, kernel_of, sessions, text};

/// It has a helper, a program and a link. It fails where the file `expected` is not what the guest says.
const SCRIPT: &str = r#"
load("helper.star", "said")
experiment(question = "Who is it?", time = "5m", measures = [metric_info("letters", unit = "1")])

def asks(lab):
    m = lab.machine()
    m.put(lab.file("link"), "/tmp/who")
    m.put(lab.file("expected"), "/tmp/expected")
    answer = said(m)
    metric("letters", len(answer))
    finding("it says", answer = answer + "\x1b[2J")
    table("all", ["who"], [[answer]])
    note("kept " + m.get("/proc/version"))
    expect(answer == m.read("/tmp/expected").strip(), "it says who it is")

step(asks)
"#;

const HELPER: &str = "def said(machine):\n    return machine.run(\"/tmp/who\").output.strip()\n";

/// The experiment `it` in a place, which expects this answer.
fn experiment(place: &Place, expected: &str) -> PathBuf {
    let folder = place.path().join("it");
    fs::create_dir_all(folder.join("programs")).expect("writable");
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).expect("writable");
    write("experiment.star", SCRIPT);
    write("helper.star", HELPER);
    write("expected", expected);
    write("programs/who.sh", "#!/bin/sh\nuname -s\n");
    let program = folder.join("programs/who.sh");
    fs::set_permissions(program, PermissionsExt::from_mode(0o775)).expect("writable");
    symlink("programs/who.sh", folder.join("link")).expect("writable");
    folder
}

/// The only Run of a session.
fn run_of(session: &Path) -> Run {
    let document = fs::read(session.join("cases/exp/it.json")).expect("it has a Run");
    serde_json::from_slice(&document).expect("a document")
}

/// What a session was about.
fn session_of(session: &Path) -> Session {
    let document = fs::read(session.join("session.json")).expect("it is one");
    serde_json::from_slice(&document).expect("a document")
}

/// A bundle of what `wanted` names, as it is elsewhere.
fn bundle(place: &Place, wanted: &str) -> (Done, PathBuf) {
    let archive = place.path().join("bug.tar.zst");
    let done = place.kiln(["bundle", wanted, "-o", text(&archive)]).run_within(BUILD).expect(0);
    (done, unpack(place, &archive))
}

#[test]
fn each_run_is_a_session_that_is_listed_run_again_and_handed_over() {
    let place = Place::new();
    let folder = experiment(&place, "Linux");
    let kernels = ["--kernel", "uml:deb", "--kernel", KERNEL];
    let done =
        place.kiln([&["exp", "run", text(&folder)], &kernels[..]].concat()).run_within(BUILD).expect(0);
    done.says("letters = 5").says("pass    exp/it on uml:deb").says("all kernels");
    let all = sessions(&place.path().join("state"));
    assert_eq!(all.len(), 2, "{all:?}");
    for session in &all {
        assert_eq!((run_of(session).outcome, run_of(session).case.as_str()), (Outcome::Pass, "exp/it"));
        assert!(session.join("0-version").is_file() && session.join("journal.jsonl").is_file());
        assert_eq!(
            fs::read_link(session.join("experiment/it/link")).expect("a copy"),
            Path::new("programs/who.sh")
        );
    }
    let shown = place.kiln(["exp", "show", text(&folder)]).run().expect(0);
    for session in &all {
        let name = session.file_name().expect("a name").to_string_lossy();
        assert!(shown.stdout.contains(&format!("pass (session {name})")), "{}", shown.stdout);
    }
    let on_uml = all.iter().find(|session| session_of(session).kernel == "uml:deb");
    let on_uml = on_uml.expect("it ran there");
    let name = on_uml.file_name().expect("a name").to_string_lossy();
    place.kiln(["replay", &*name]).run().expect(0).says("same as before: pass exp/it");
    let (done, unpacked) = bundle(&place, &name);
    done.says("unpack it and call kiln replay bug");
    assert_eq!(
        fs::read(unpacked.join("result.json")).expect("packed"),
        fs::read(on_uml.join("result.json")).expect("kept")
    );
    let readme = fs::read_to_string(unpacked.join("README")).expect("packed");
    assert!(
        readme.starts_with("pass  exp/it\n\nWho is it?\n")
            && readme.contains(&kernel_of("uml:deb").identity("")),
        "{readme}"
    );
    // Nothing of this host but the cache of packages is there.
    fs::remove_dir_all(&folder).expect("ours");
    let other = Place::new();
    let there = other.path().join("bug");
    fs::rename(&unpacked, &there).expect("one file system");
    let again = other.kiln(["replay", text(&there)]).run_within(BUILD).expect(0);
    again.says("letters = 5").says("same as before: pass exp/it");
    let [made] = &sessions(&other.path().join("state"))[..] else { panic!("one session") };
    assert_eq!(session_of(made).directory, there, "paths of its request begin there");
    let inside = other.kiln(["replay", "."]).from(text(&there)).run_within(BUILD).expect(0);
    inside.says("same as before: pass exp/it");
}

#[test]
fn a_run_is_made_again_with_the_files_that_it_had() {
    let place = Place::new();
    let folder = experiment(&place, "BSD");
    let call = ["exp", "run", text(&folder), "--kernel", "uml:deb"];
    place.kiln(call).run().expect(1).says("replay  kiln replay 20");
    place.kiln(["replay", "last"]).run().expect(1).says("same as before: fail exp/it: expected: ");
    fs::write(folder.join("expected"), "Linux").expect("writable");
    let done = place.kiln(["replay", "last"]).run().expect(1);
    done.says("the experiment has changed since session 20").says("same as before: fail exp/it");
    let (done, unpacked) = bundle(&place, "last");
    done.says("the experiment has changed since session 20");
    assert_eq!(fs::read_to_string(unpacked.join("experiment/it/expected")).expect("packed"), "BSD");
    let shell = place.kiln(["replay", "last", "--shell"]).run().expect(2);
    assert!(shell.stderr.contains("the script of an experiment makes its machines"), "{}", shell.stderr);
    // A bundle that was changed or lost something is refused before anything boots.
    let refused = |why: &str| {
        let done = place.kiln(["replay", text(&unpacked)]).run().expect(2);
        assert!(done.stderr.contains(why) && done.stderr.lines().count() == 1, "{}", done.stderr);
    };
    fs::write(unpacked.join("experiment/it/expected"), "Linux").expect("writable");
    refused("the experiment is no longer that of session bug: its files have changed");
    fs::remove_dir_all(unpacked.join("experiment")).expect("ours");
    refused("experiment/it is no folder of an experiment");
    fs::write(unpacked.join("result.json"), "{").expect("writable");
    refused("result.json: is not a document of kiln");
    fs::write(unpacked.join("session.json"), "{").expect("writable");
    refused("session.json: is not a document of kiln");
    fs::remove_file(unpacked.join("session.json")).expect("ours");
    refused("is not the folder of a session: it has no session.json");
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn a_kernel_that_is_no_package_goes_along_with_its_modules() {
    let place = Place::new();
    let folder = experiment(&place, "Linux");
    let package = kernel_of("uml:deb");
    let root = package.image.ancestors().nth(3).expect("below usr/bin");
    let ours = place.path().join("kernel");
    machine::Folder::survey(root).expect("readable").copy_to(&ours).expect("writable");
    let image = ours.join("usr/bin/linux.uml");
    place.kiln(["exp", "run", text(&folder), "--kernel", text(&image)]).run().expect(0);
    let (_, unpacked) = bundle(&place, "last");
    fs::remove_dir_all(&ours).expect("ours");
    let gone = place.kiln(["replay", "last"]).run().expect(2);
    assert!(gone.stderr.contains("linux.uml: no such file or directory"), "{}", gone.stderr);
    place.kiln(["replay", text(&unpacked)]).run().expect(0).says("same as before: pass exp/it");
    let image = unpacked.join("kernels/1/usr/bin/linux.uml");
    let mut content = fs::read(&image).expect("packed");
    content.push(0);
    fs::write(&image, content).expect("writable");
    let changed = place.kiln(["replay", text(&unpacked)]).run().expect(2);
    assert!(
        changed.stderr.contains("linux.uml is no longer the kernel of session bug"),
        "{}",
        changed.stderr
    );
}

#[test]
fn forms_of_one_document_have_one_run() {
    let place = Place::new();
    let folder = experiment(&place, "Linux");
    let call =
        |more: &[&str]| place.kiln([&["exp", "run", text(&folder), "--kernel", "uml:deb"], more].concat());
    let report = call(&["--format", "junit"]).run().expect(0).stdout;
    let report = quick_junit::Report::deserialize_from_str(&report).expect("JUnit");
    assert_eq!((report.tests, report.failures), (1, 0));
    call(&["--format", "ktap"]).run().expect(0).says("  ok 1 it\nok 1 exp\n");
    let done = call(&["--format", "junit", "--kernel", "uml:deb"]).run().expect(2);
    assert!(done.stderr.contains("have one run, not 2: call kiln once for each kernel"), "{}", done.stderr);
}

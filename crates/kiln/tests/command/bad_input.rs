//! What a user can get wrong: one clear message, the right exit code, and nothing left behind.

use std::path::PathBuf;

use crate::support::{KERNEL, Place, UML, kernel, text};

/// A call that is refused with these words; `lines` is the most that the message may take.
#[track_caller]
fn refused(place: &Place, arguments: &[&str], code: i32, words: &[&str]) {
    let done = place.kiln(arguments).run().expect(code);
    check(place, &done.stderr, words);
    assert!(done.stdout.is_empty(), "{}", done.stdout);
}

#[track_caller]
fn check(place: &Place, message: &str, words: &[&str]) {
    for word in words {
        assert!(message.contains(word), "no {word:?} in\n{message}");
    }
    // The command line's own reader adds a tip, the usage and where to find help.
    let most = if message.contains("try '--help'") { 4 } else { 2 };
    let lines = message.lines().filter(|line| !line.trim().is_empty()).count();
    assert!((1..=most).contains(&lines), "{message}");
    assert!(!place.path().join("state").exists(), "nothing is recorded of what was refused");
}

/// The image of the test kernel.
fn image() -> PathBuf {
    kernel().image
}

#[test]
fn locators_that_name_nothing() {
    let place = Place::new();
    refused(
        &place,
        &["run", "deb:9.9.9-99-nowhere-amd64"],
        2,
        &["deb:9.9.9-99-nowhere-amd64", "`kiln kernels`"],
    );
    refused(&place, &["run", "/nowhere/bzImage"], 2, &["/nowhere/bzImage: no such file or directory"]);
    refused(&place, &["run", text(place.path())], 2, &["neither a built kernel tree nor"]);
    refused(&place, &["run", ""], 2, &["the locator is empty"]);
    refused(&place, &["run", "git:~/linux@v6.12"], 2, &["~/linux"]);
    refused(&place, &["run"], 2, &["<KERNEL>"]);
}

#[test]
fn results_that_are_no_folder() {
    let place = Place::new();
    for verb in ["run", "measure", "matrix"] {
        refused(&place, &[verb, KERNEL, "--results", "/dev/null"], 2, &["/dev/null", "this is no directory"]);
    }
}

#[test]
fn instruments_that_cannot_be_meant() {
    let place = Place::new();
    refused(&place, &["latency", "--interval", "1"], 2, &["--interval", "500ns"]);
    refused(&place, &["latency", "--interval", "999ns"], 2, &["999", "1000"]);
    refused(&place, &["latency", "--policy", "other", "--priority", "7"], 2, &["priority 7 of SCHED_OTHER"]);
    refused(&place, &["latency", "--cpu", "1-"], 2, &["--cpu", "0,2-3"]);
    refused(&place, &["latency", "--memory", "2G"], 2, &["no machine to set up", "--in"]);
    refused(&place, &["race", "time/timerfd-setime"], 2, &["no case of suite races", "time/timerfd-settime"]);
    refused(&place, &["steal", "--load", "net:upd"], 2, &["no load", "net:upd", "did you mean net:udp?"]);
    refused(&place, &["steal", "--load", "net:udp,pps=0"], 2, &["pps of", "1 to 10000000"]);
    refused(&place, &["steal", "--load", "net:udp", "--setup", "rps=2"], 2, &["rps=2", "xdp=drop"]);
    refused(&place, &["steal", "--load", "net:request", "--setup", "xdp=drop"], 2, &["XDP", "net:udp"]);
    refused(&place, &["steal", "--duration", "1ms"], 2, &["duration", "50"]);
    refused(&place, &["run", KERNEL, "--exec", "kiln:latenzy"], 2, &["kiln:latenzy", "latency, probe, race"]);
}

#[test]
fn options_of_a_build_where_nothing_is_built() {
    let place = Place::new();
    for option in [&["--make", "W=1"][..], &["--arch", "um"], &["--allow-unmet"]] {
        let arguments = [&["run", KERNEL], option].concat();
        refused(&place, &arguments, 2, &[KERNEL, option[0], "nothing is built here"]);
    }
    refused(&place, &["compare", KERNEL, KERNEL, "--make", "W=1"], 2, &["--make", "nothing is built here"]);
}

#[test]
fn interpreters_that_need_more_than_a_file() {
    let place = Place::new();
    let python = place.file("it.py", "#!/usr/bin/env python3\nprint(1)\n");
    let wrapper = place.script("wrapper", "exec python3 \"$@\"");
    let wrapped = place.file("it", format!("#!{}\n", wrapper.display()));
    for (program, word) in [(&python, "python3"), (&wrapped, "wrapper")] {
        refused(&place, &["run", KERNEL, "--exec", text(program)], 2, &[word, "use a script for sh or bash"]);
        refused(
            &place,
            &["measure", KERNEL, "--exec", text(program)],
            2,
            &[word, "use a script for sh or bash"],
        );
    }
}

#[test]
fn a_package_that_does_not_exist_leaves_nothing_in_the_cache() {
    let place = Place::new();
    let cache = place.path().join("cache");
    let call = place.kiln(["run", "deb:9.9.9-99-nowhere-amd64"]).env("XDG_CACHE_HOME", &cache);
    check(&place, &call.run().expect(2).stderr, &["apt knows no package"]);
    let files = std::process::Command::new("find").arg(&cache).args(["-type", "f"]).output().expect("find");
    let files = String::from_utf8(files.stdout).expect("paths of tests are UTF-8");
    assert!(files.lines().all(|file| file.ends_with("/deb/.lock")), "{files}");
}

#[test]
fn files_that_are_no_kernels() {
    let place = Place::new();
    let arm64 = [&[0; 0x38][..], b"ARM\x64", &[0; 4096]].concat();
    let mut i386 = std::fs::read(image()).expect("the image is there");
    let truncated = i386[..1 << 20].to_vec();
    i386[0x236] &= !1;
    for (name, content, words) in [
        ("text", b"hello\n".to_vec(), "is a text file, not a kernel image"),
        ("empty", Vec::new(), "is an empty file"),
        ("truncated", truncated, "is a truncated kernel image"),
        ("arm64", arm64, "is for another architecture (arm64 Image)"),
        ("i386", i386, "is for another architecture (32-bit x86"),
        ("zeros", vec![0; 4096], "is not a kernel image"),
    ] {
        let file = place.file(name, content);
        refused(&place, &["run", text(&file)], 2, &[text(&file), words]);
        refused(&place, &["shell", text(&file)], 2, &[words]);
    }
}

#[test]
fn cases_and_suites_that_do_not_exist() {
    let place = Place::new();
    refused(&place, &["cases", "--suite", "rough"], 2, &["unknown suite \"rough\"", "smoke"]);
    refused(&place, &["cases", "--case", "pipe/ful"], 2, &["did you mean pipe/full", "kiln cases"]);
    refused(&place, &["run", text(&image()), "--case", "no/such"], 2, &["\"no/such\"", "kiln cases"]);
    refused(&place, &["run", text(&image()), "--suite", "rough"], 2, &["unknown suite \"rough\""]);
}

#[test]
fn options_that_make_no_sense() {
    let place = Place::new();
    for (option, value) in [
        ("--memory", "lots"),
        ("--memory", "-1G"),
        ("--cpus", "0"),
        ("--cpus", "many"),
        ("--timeout", "soon"),
        ("--case-timeout", "0"),
        ("--format", "nonsense"),
        ("--accel", "magic"),
        ("--color", "blue"),
        ("--nonsense", "x"),
    ] {
        refused(&place, &["run", KERNEL, &format!("{option}={value}")], 2, &[option]);
    }
    refused(&place, &["run", KERNEL, "--exec", "/bin/true", "--case", "pipe/*"], 2, &["--exec", "--case"]);
    refused(&place, &["run", KERNEL, "--", "x"], 2, &["--exec"]);
    refused(&place, &["nonsense"], 2, &["nonsense"]);
}

#[test]
fn machines_that_cannot_be() {
    let place = Place::new();
    let image = image();
    let run = |more: &[&'static str]| [&["run", text(&image), "--case", "pipe/full"], more].concat();
    refused(&place, &run(&["--memory", "16M"]), 2, &["--memory 16M is too little", "need at least"]);
    refused(&place, &run(&["--memory", "8T"]), 3, &["MiB of memory left", "use a smaller --memory"]);
}

#[test]
fn programs_that_cannot_be_shipped() {
    let place = Place::new();
    let image = image();
    let i386 = [b"\x7fELF\x01\x01\x01", &[0; 9][..], &[2, 0, 3, 0], &[0; 100]].concat();
    let arm64 = [b"\x7fELF\x02\x01\x01", &[0; 9][..], &[2, 0, 0xb7, 0], &[0; 100]].concat();
    for (name, content, words) in [
        ("text", b"hello\n".to_vec(), "is neither a 64-bit ELF program nor a script"),
        ("i386", i386, "is neither a 64-bit ELF program nor a script"),
        ("arm64", arm64, "is a program for another architecture"),
        ("script", b"#!/no/such/interpreter\n".to_vec(), "needs /no/such/interpreter"),
    ] {
        let file = place.file(name, content);
        refused(&place, &["run", text(&image), "--exec", text(&file)], 2, &[text(&file), words]);
    }
    refused(&place, &["run", text(&image), "--exec", "/nowhere"], 2, &["/nowhere: No such file"]);
    refused(&place, &["run", text(&image), "--exec", "/tmp"], 2, &["/tmp: is not a file"]);
    let needs = ["run", text(&image), "--exec", "/bin/true", "--need"];
    refused(&place, &[&needs[..], &["xfs"]].concat(), 2, &["\"xfs\" is not a need", "fs=TYPE"]);
    refused(&place, &[&needs[..], &["999 CPUs"]].concat(), 2, &["999 CPUs", "from 1 to 255"]);
    refused(&place, &["measure", text(&image), "--need", "2 CPUs"], 2, &["--exec"]);
    for choice in ["--suite=smoke", "--case=fs/*", "--kselftest=timers"] {
        refused(&place, &["run", text(&image), choice, "--", "-x"], 2, &["ARGUMENT"]);
    }
}

#[test]
fn comparisons_that_make_no_sense() {
    let place = Place::new();
    let image = image();
    let image = text(&image);
    let two = |more: &[&str], code, words: &[&str]| {
        refused(
            &place,
            &[&["compare", image, image, "--metric", "syscall/getppid"], more].concat(),
            code,
            words,
        );
    };
    two(&["--timed", "--why"], 2, &["--timed", "--why"]);
    two(&["--accel", "kvm"], 2, &["--accel kvm", "--timed can use KVM"]);
    two(&["--cpus", "2"], 2, &["--cpus", "--timed can have them"]);
    two(&["--suite", "smoke"], 2, &["smoke", "micro"]);
    two(&["--min-effect", "nonsense"], 2, &["--min-effect", "2%"]);
    two(&["--fail-on", "x"], 2, &["--fail-on", "2%"]);
    two(&["--memory", "16M"], 2, &["--memory 16M is too little"]);
    two(&["--params", "a", "b"], 2, &["name only one"]);
    two(&["--metric", "syscal/getpid"], 2, &["\"syscal/getpid\"", "did you mean syscall/getpid"]);
    two(&["--", "x"], 2, &["arguments after --", "--exec"]);
    two(&["--need", "module loop"], 2, &["--need", "--exec"]);
    let one = |more: &[&str], words: &[&str]| {
        refused(&place, &[&["compare", image], more].concat(), 2, words);
    };
    one(&[], &["there is only one kernel to compare", "--params"]);
    one(&["--params", "a"], &["--params", "2 values"]);
    one(&["--exec-a", "/bin/true"], &["--exec-b"]);
    one(&["--exec-b", "/bin/true"], &["--exec-a"]);
    one(&["--exec-a", "/nowhere", "--exec-b", "/bin/true"], &["/nowhere: No such file"]);
    refused(&place, &["measure", image, "--exec", "/nowhere"], 2, &["/nowhere: No such file"]);
    let needs = ["measure", image, "--exec", "/bin/true", "--need"];
    refused(&place, &[&needs[..], &["disk=1M"]].concat(), 2, &["disk=SIZE", "--timed can have one"]);
    refused(&place, &[&needs[..], &["2 CPUs"]].concat(), 2, &["cpus=N", "--timed can have them"]);
    refused(&place, &["measure", UML], 2, &["User-Mode Linux cannot be measured", "x86_64"]);
    refused(&place, &["run", image, "--suite", "micro"], 2, &["micro", "`kiln measure`"]);
    let file = place.file("file", "in the way");
    two(&["--results", text(&file)], 2, &["this is no directory", "--results"]);
}

#[test]
fn results_that_cannot_be_kept() {
    let place = Place::new();
    let image = image();
    let file = place.file("file", "in the way");
    let below = file.join("below");
    for (folder, words) in [(text(&below), "Not a directory"), ("/sys", "only 0 MiB are free")] {
        let call = ["run", text(&image), "--case", "pipe/full", "--results", folder];
        refused(&place, &call, 3, &[&format!("results folder {folder}"), words, "--results"]);
    }
}

#[test]
fn a_host_without_qemu() {
    let place = Place::new();
    let image = image();
    let call = place.kiln(["run", text(&image), "--case", "pipe/full"]).env("PATH", "/nowhere");
    let done = call.run().expect(3);
    check(&place, &done.stderr, &["qemu-system-x86_64 is not installed: apt-get install qemu-system-x86"]);
    let doctor = place.kiln(["doctor"]).env("PATH", "/nowhere").run().expect(3);
    assert!(doctor.stdout.starts_with("MISSING  QEMU"), "{}", doctor.stdout);
}

#[test]
fn kvm_where_there_is_none_says_why() {
    let place = Place::new();
    let done = place.kiln(["run", text(&image()), "--accel", "kvm", "--case", "pipe/full"]).run();
    // Where KVM works the case passes; elsewhere nothing is started.
    if done.code != Some(0) {
        let done = done.expect(3);
        check(&place, &done.stderr, &["--accel kvm: ", "without --accel kiln uses TCG"]);
    }
}

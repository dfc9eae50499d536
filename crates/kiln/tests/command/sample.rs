//! `kiln sample`: programs of which it is known where they are.

use protocol::count::CountReport;
use protocol::sample::{Node, Part, SampleReport};

use crate::support::{COMPLETE, Done, KERNEL, Place, text};

/// A shell that makes fifty processes.
const FIFTY: &str = "i=0; while [ $i -lt 50 ]; do (exit 0); i=$((i+1)); done; exit 3";

fn sampled(done: &Done) -> SampleReport {
    let report: SampleReport = done.stated();
    assert_eq!(report.validate(), Ok(()));
    report
}

#[test]
fn each_fork_is_a_sample_with_its_calls_here_and_in_a_machine() {
    let place = Place::new();
    let program = place.script("fifty", FIFTY);
    for kernel in [&[][..], &["--in", KERNEL]] {
        let call = ["sample", "--event", "forks", "--json", "--exec", text(&program)];
        let report = sampled(&place.kiln([&call[..], kernel].concat()).run().expect(0));
        assert_eq!((report.samples, report.lost, report.status), (50, 0, Some(3)), "{kernel:?}");
        let has = |part, name: &str| report.functions.iter().any(|one| one.part == part && one.name == name);
        assert!(has(Part::Thread, "fifty") && has(Part::Kernel, "kernel_clone"), "{:?}", report.functions);
        let is_of_the_library = |file: &str| file.contains("libc.so") || file.contains("sh");
        assert!(report.functions.iter().any(|one| one.part == Part::User && is_of_the_library(&one.file)));
    }
}

#[test]
fn a_probe_shows_who_calls_a_function_of_the_kernel() {
    let place = Place::new();
    let program = place.script("fifty", FIFTY);
    let call =
        ["sample", "--in", KERNEL, "--event", "kprobe:kernel_clone", "--json", "--exec", text(&program)];
    let report = sampled(&place.kiln(call).run().expect(0));
    assert_eq!((report.samples, report.lost), (50, 0));
    assert!(report.functions.iter().any(|one| one.name == "do_syscall_64"), "{:?}", report.functions);
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn a_program_is_where_it_computes_on_two_kernels() {
    let place = Place::new();
    let program = place.script("busy", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done");
    for kernel in [KERNEL, COMPLETE] {
        let call = ["sample", "--in", kernel, "--json", "--exec", text(&program)];
        let report = sampled(&place.kiln(call).run().expect(0));
        let user = |part| {
            let own =
                report.nodes.iter().filter(|node| report.functions[node.function as usize].part == part);
            own.map(|node| node.own).sum::<u64>()
        };
        assert!(user(Part::User) > user(Part::Kernel), "{kernel}: {:?}", report.functions);
        assert!(report.missing.is_empty(), "{:?}", report.missing);
    }
}

#[test]
fn instructions_of_a_machine_are_sampled_by_its_clock() {
    let place = Place::new();
    let program = place.program("loop", "for (volatile int i = 0; i < 10000000; i++);");
    let machine = ["--in", KERNEL, "--json", "--exec", text(&program)];
    let count = [&["count", "--events", "instructions"][..], &machine].concat();
    let counted: CountReport = place.kiln(count).run().expect(0).stated();
    // Each sample takes some thousands of instructions itself.
    let sample = [&["sample", "--event", "instructions", "--every", "100000"][..], &machine].concat();
    let report = sampled(&place.kiln(sample).run().expect(0));
    let expected = counted.counted[0].value / 100_000;
    assert!(report.samples.abs_diff(expected) <= expected / 5, "{} of {expected}", report.samples);
    let of_main = |node: &&Node| report.functions[node.function as usize].name == "main";
    let own: u64 = report.nodes.iter().filter(of_main).map(|node| node.own).sum();
    assert!(own >= report.samples / 2, "{own} of {}", report.samples);
}

#[test]
fn pages_and_pictures_show_the_calls() {
    let place = Place::new();
    let (flame, folded) = (place.path().join("f.svg"), place.path().join("f.folded"));
    let files = ["--flame", text(&flame), "--folded", text(&folded)];
    let call = ["sample", "--event", "page-faults", "--exec", "sh", "--tree"];
    let done = place.kiln([&call[..], &files, &["--", "-c", "exit 7"]].concat()).run().expect(0);
    for text in ["sh -c exit 7, exit status 7", "samples of page-faults", "one at each event", "CALLS"] {
        assert!(done.stdout.contains(text), "{text}\n{}", done.stdout);
    }
    let picture = std::fs::read_to_string(&flame).expect("it was written");
    assert!(picture.starts_with("<svg ") && picture.contains("page-faults"));
    let lines = std::fs::read_to_string(&folded).expect("it was written");
    let samples = lines.lines().map(|line| line.rsplit(' ').next().unwrap_or_default());
    let sum: u64 = samples.map(|samples| samples.parse::<u64>().expect("a number")).sum();
    assert!(sum > 10, "{lines}");
    let everything = place.kiln(["sample", "--event", "ctx", "--duration", "200ms"]).run().expect(0);
    assert!(everything.stdout.starts_with("everything: "), "{}", everything.stdout);
}

#[test]
fn what_cannot_be_meant_is_one_clear_message() {
    let place = Place::new();
    for (arguments, code, message) in [
        (&["--exec", "true", "--event", "page-fault"][..], 2, "did you mean page-faults?"),
        (&["--exec", "true", "--every", "1us"], 2, "each 10 us"),
        (&["--exec", "true", "--event", "ctx", "--every", "1ms"], 2, "a number of events"),
        (&["--exec", "true", "--stack", "100000"], 2, "at most 61440"),
        (&["--exec", "true", "--flame", "/nowhere/f.svg"], 2, "name a file that can be written"),
        (&["--event", "ctx"], 2, "--duration"),
        (&["--exec", "/nowhere"], 4, "/nowhere"),
        (&["--exec", "true", "--event", "no:such"], 4, "no such tracepoint"),
        (&["--exec", "/nowhere", "--in", KERNEL], 4, "/nowhere"),
    ] {
        let done = place.kiln([&["sample"], arguments].concat()).run().expect(code);
        assert!(done.stderr.contains(message), "{arguments:?}: {}", done.stderr);
    }
}

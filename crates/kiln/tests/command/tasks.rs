//! The tasks of a kernel, as the memory of its machine has them.

use std::path::PathBuf;

use introspect::{Dump, Kernel, Physical};
use serde_json::Value;

use crate::support::{KERNEL, NEWER, Place, text};

/// One waits for a pipe, one sleeps, and one has the kernel die.
const LOAD: &str = "sleep 1000 | cat &
until grep -q pipe /proc/[0-9]*/wchan; do :; done
echo c > /proc/sysrq-trigger";

/// The dump of a kernel that died of that, on two CPUs.
fn dump(place: &Place, kernel: &str) -> PathBuf {
    let program = place.script("load", LOAD);
    let machine = ["--memory", "256M", "--cpus", "2", "--dump"];
    let done = place.exec_on(kernel, &program, &machine).run().expect(1);
    done.results().join("cases/load.vmcore")
}

fn reads_tasks_of(kernel: &str) {
    let place = Place::new();
    let dump = dump(&place, kernel);
    let call = ["observe", "tasks", text(&dump)];
    let page = place.kiln(call).run().expect(0).stdout;
    let places: Vec<Option<usize>> =
        ["tasks: ", "load (", "  sysrq_handle_crash+0x", "  write_sysrq_trigger+0x", "  entry_SYSCALL_64"]
            .map(|text| page.find(text))
            .to_vec();
    assert!(places.is_sorted() && places[0] == Some(0), "{places:?}\n{page}");
    let all: Value = place.kiln([&call[..], &["--json"]].concat()).run().expect(0).stated();
    let all = all.as_array().expect("a list");
    let of =
        |name: &str| all.iter().find(|task| task["name"] == name).unwrap_or_else(|| panic!("{name}: {page}"));
    let calls = |task: &Value| -> Vec<String> {
        let calls = task["calls"].as_array().expect("a list");
        calls.iter().map(|call| call["text"].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!((&of("cat")["state"], of("kthreadd")["pid"].as_u64()), (&Value::from("S"), Some(2)));
    assert!(calls(of("cat")).iter().any(|call| call.starts_with("pipe_read+0x")), "{:?}", of("cat"));
    assert!(calls(of("sleep")).iter().any(|call| call.contains("nanosleep+0x")), "{:?}", of("sleep"));
    // Each stack is known to its end: where a system call or a thread of the kernel begins.
    let ends = ["entry_SYSCALL_64", "ret_from_fork"];
    for task in all.iter().filter(|task| task["on-cpu"].is_null() && task["state"] != "Z") {
        let last = calls(task).pop().unwrap_or_default();
        assert!(ends.iter().any(|end| last.starts_with(end)), "{task}");
        assert!(
            task["calls"].as_array().is_some_and(|calls| calls.iter().all(|call| call["is-guess"] == false))
        );
    }
    let every = place.kiln([&call[..], &["--all"]].concat()).run().expect(0).stdout;
    assert!(every.contains("kthreadd (2) S\n  __schedule+0x"), "{every}");
}

#[test]
fn the_tasks_of_a_dead_kernel_are_in_its_dump() {
    reads_tasks_of(KERNEL);
}

/// Its list of symbols, frames and modules have other forms.
#[test]
#[ignore = "takes most of a minute of CPU"]
fn the_tasks_of_a_newer_kernel_are_read_too() {
    reads_tasks_of(NEWER);
}

/// Memory that lies now and then, each time in another place.
struct Liar {
    dump: Dump,
    random: u64,
    /// One of so many reads is wrong.
    rarity: u64,
}

impl Physical for Liar {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> bool {
        let is_there = self.dump.read(address, bytes);
        // xorshift64
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        if self.random.is_multiple_of(self.rarity) {
            let at = usize::try_from(self.random >> 32).unwrap_or(0) % bytes.len().max(1);
            bytes.iter_mut().skip(at).take(8).for_each(|byte| *byte ^= (self.random >> 24) as u8);
        }
        is_there
    }
}

#[test]
fn a_kernel_that_lies_costs_no_more_than_its_tasks() {
    let place = Place::new();
    let dump = dump(&place, KERNEL);
    let read = |random, rarity| {
        let dump = Dump::open(&dump).expect("it is one");
        let (tables, cpus) = (dump.tables, dump.cpus.clone());
        let mut liar = Liar { dump, random, rarity };
        Kernel::find(&mut liar, tables).and_then(|mut kernel| kernel.tasks(&cpus))
    };
    let honest = read(1, u64::MAX).expect("it can be read").len();
    let mut found = 0;
    for seed in 1..48_u64 {
        let tasks = read(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15), 10 << (seed % 24)).unwrap_or_default();
        found += usize::from(!tasks.is_empty());
        assert!(tasks.len() <= 2 * honest, "{} of {honest}", tasks.len());
    }
    assert!(found > 0, "the rarest lies are too rare to matter");
}

#[test]
fn what_is_no_dump_is_one_clear_message() {
    let place = Place::new();
    let program = place.script("load", LOAD);
    for (path, message) in [
        (text(&program), "no memory of a machine as QEMU dumps it: no ELF file for 64 bits"),
        ("/bin/sh", "no memory of a machine as QEMU dumps it: it has no CPU"),
        ("/nowhere", "No such file"),
    ] {
        let done = place.kiln(["observe", "tasks", path]).run().expect(2);
        assert!(done.stderr.contains(message), "{path}: {}", done.stderr);
    }
}

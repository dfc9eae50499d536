//! `--on slurm`: sessions on the nodes of a cluster.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Instant;

use bisect::{Bisection, Conclusion};
use rustix::process::Signal;
use serde_json::Value;

use crate::support::cluster::{Cluster, NODES};
use crate::support::held::as_it_is;
use crate::support::{BUILD, Call, Done, KERNEL, Place, until};

/// Another kernel of the same flavour.
const OTHER: &str = "deb:6.1.0-55-cloud-amd64";

/// What decides about the colours of a grid: cases, and how they ended on each kernel.
fn outcomes(done: &Done) -> Vec<(String, Vec<String>)> {
    let grids: Value = serde_json::from_str(&done.stdout).expect("JSON");
    let rows = grids[0]["rows"].as_array().expect("rows").iter();
    let word = |cell: &Value| cell["outcome"].as_str().unwrap_or("none").to_owned();
    let cells = |row: &Value| row["cells"].as_array().expect("cells").iter().map(word).collect();
    rows.map(|row| (row["case"].as_str().expect("a name").to_owned(), cells(row))).collect()
}

/// A QEMU of the nodes that waits until the gate is open, and writes down the place in the array and the process session of its job; and a squeue that writes down that it was
/// called.
struct Gate {
    folder: PathBuf,
}

impl Gate {
    fn new(place: &Place) -> Self {
        let folder = place.path().join("programs");
        std::fs::create_dir_all(&folder).expect("writable");
        let (name, real) = as_it_is("qemu-system-x86_64");
        let body = format!(
            "if [ -n \"$SLURM_JOB_ID\" ]; then
    echo \"$SLURM_ARRAY_TASK_ID\" >> {folder}/arrived
    while [ ! -e {folder}/open ]; do sleep 0.1; done
    echo \"$SLURM_ARRAY_TASK_ID $(cut -d' ' -f6 /proc/self/stat)\" >> {folder}/passed
fi
exec {real}",
            folder = folder.display()
        );
        std::fs::rename(place.script(name, &body), folder.join(name)).expect("the same disk");
        let (name, real) = as_it_is("squeue");
        let body = format!("{real}\ncode=$?\necho >> {}/looked\nexit $code", folder.display());
        std::fs::rename(place.script(name, &body), folder.join(name)).expect("the same disk");
        Self { folder }
    }

    fn give(&self, call: Call) -> Call {
        let path = std::env::var("PATH").expect("it is set");
        call.env("PATH", format!("{}:{path}", self.folder.display()))
    }

    fn lines(&self, name: &str) -> BTreeSet<String> {
        let text = std::fs::read_to_string(self.folder.join(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Waits until both jobs stand before it.
    fn await_both(&self) {
        until("both jobs begin", || (self.lines("arrived").len() == 2).then_some(()));
    }

    /// Waits until a kiln has looked at the jobs: when it looks once more, it has done what it does after a look.
    fn await_look(&self) {
        let looks = || std::fs::read_to_string(self.folder.join("looked")).unwrap_or_default().len();
        let before = looks();
        until("kiln looks twice", || (looks() >= before + 2).then_some(()));
    }

    fn open(&self) {
        std::fs::write(self.folder.join("open"), "").expect("writable");
    }
}

/// A PATH with all programs of this host but QEMU: jobs have that of the call.
fn without_qemu(place: &Place) -> PathBuf {
    let folder = place.path().join("programs");
    std::fs::create_dir(&folder).expect("writable");
    let path = std::env::var_os("PATH").expect("it is set");
    let all = std::env::split_paths(&path)
        .flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten().flatten());
    for program in all.filter(|program| !program.file_name().to_string_lossy().starts_with("qemu")) {
        // The first of a name counts.
        let _ = std::os::unix::fs::symlink(program.path(), folder.join(program.file_name()));
    }
    folder
}

/// Names of sessions that are kept.
fn sessions(place: &Place) -> BTreeSet<String> {
    let listed = place.kiln(["results", "--limit", "0", "--json"]).run().expect(0).stdout;
    let runs = listed.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    runs.map(|run| run["session"].as_str().expect("a name").to_owned()).collect()
}

fn submissions(place: &Place) -> usize {
    let entries = std::fs::read_dir(place.path().join("state/kiln/runs/.slurm")).expect("it was made");
    entries.flatten().filter(|entry| entry.path().is_dir()).count()
}

#[test]
#[ignore = "needs Slurm and root"]
fn the_grid_is_that_of_this_host() {
    let (here, there) = (Place::new(), Place::new());
    let asked = ["matrix", OTHER, KERNEL, "--case", "pipe/*", "--json"];
    let local = here.kiln(asked).run().expect(0);
    let cluster = Cluster::new(&there);
    let on_slurm = || cluster.give(there.kiln([&asked[..], &["--on", "slurm"]].concat()));
    let done = on_slurm().run().expect(0);
    assert_eq!(outcomes(&done), outcomes(&local));
    assert!(outcomes(&done).iter().all(|(_, cells)| cells.len() == 2), "{}", done.stdout);
    let jobs = cluster.jobs();
    let has_worked = |node: &&str| jobs.iter().any(|job| job.ends_with(&format!(" {node}")));
    assert!(jobs.len() == 2 && NODES.iter().all(has_worked), "{jobs:?}");
    assert_eq!(on_slurm().run().expect(0).stdout, done.stdout);
    assert_eq!((cluster.jobs().len(), sessions(&there).len()), (2, 2), "the ledger has all");
}

#[test]
#[ignore = "needs Slurm and root"]
fn nothing_is_lost_or_run_twice_whatever_ends() {
    let place = Place::new();
    let (mut cluster, gate) = (Cluster::new(&place), Gate::new(&place));
    let own = place.templates();
    let asked = ["matrix", OTHER, KERNEL, "--case", "pipe/*", "--json", "--on", "slurm"];
    let call = |cluster: &Cluster| gate.give(cluster.give(place.kiln(asked))).env("XDG_CACHE_HOME", &own);
    let first = call(&cluster).start();
    gate.await_both();
    first.signal(Signal::KILL);
    assert_eq!(first.wait().code, None);
    cluster.restart_controller();
    cluster.lose_node(NODES[0]);
    let second = call(&cluster).start();
    cluster.start_node(NODES[0]);
    gate.await_look();
    gate.open();
    let done = second.wait().expect(0);
    assert!(
        outcomes(&done).iter().flat_map(|(_, cells)| cells).all(|cell| cell == "pass"),
        "{}",
        done.stdout
    );
    let passed = gate.lines("passed");
    assert_eq!((passed.len(), sessions(&place).len()), (2, 2), "{passed:?}");
    assert_eq!(cluster.jobs().len(), 2, "{:?}", cluster.jobs());
}

#[test]
#[ignore = "needs Slurm and root"]
fn jobs_outlive_an_interrupt_and_stay_cancelled() {
    let place = Place::new();
    let (cluster, gate) = (Cluster::new(&place), Gate::new(&place));
    let asked = ["matrix", OTHER, KERNEL, "--case", "pipe/full", "--on", "slurm"];
    let call = || gate.give(cluster.give(place.kiln(asked)));
    let first = call().start();
    gate.await_both();
    first.signal(Signal::INT);
    let done = first.wait().expect(130);
    let advice = done.stderr.split_once("scancel --name=").expect("it says how to end them").1;
    let name = advice.split(' ').next().expect("a name").to_owned();
    let second = call().start();
    gate.await_look();
    cluster.ask("scancel", &[&format!("--name={name}")]);
    let done = second.wait().expect(3);
    assert_eq!(done.stderr.matches("somebody cancelled its job").count(), 2, "{}", done.stderr);
    assert_eq!((sessions(&place).len(), cluster.jobs().len(), submissions(&place)), (0, 2, 0));
}

#[test]
#[ignore = "needs Slurm and root"]
fn results_come_back_from_nodes_that_share_no_files() {
    let place = Place::new();
    let cluster = Cluster::apart(&place, place.path().join("state/kiln"));
    let asked = ["matrix", OTHER, KERNEL, "--case", "pipe/full", "--json", "--on", "slurm"];
    let done = cluster.give(place.kiln(asked)).run().expect(0);
    assert_eq!(outcomes(&done), [("pipe/full".to_owned(), vec!["pass".to_owned(); 2])]);
    assert_eq!((sessions(&place).len(), cluster.jobs().len(), submissions(&place)), (2, 2, 0));
}

#[test]
#[ignore = "needs Slurm and root"]
fn what_a_node_lacks_is_broken_by_the_host_and_what_slurm_refuses_is_said() {
    let place = Place::new();
    let cluster = Cluster::new(&place);
    let asked = ["matrix", KERNEL, "--case", "pipe/full", "--json", "--on", "slurm"];
    let refused = cluster.give(place.kiln(asked)).env("SBATCH_PARTITION", "none").run().expect(3).stderr;
    let message = "kiln: sbatch: invalid partition specified: none; Batch job submission failed: Invalid partition name specified\n";
    assert_eq!(refused, message);
    let done = cluster.give(place.kiln(asked)).env("PATH", without_qemu(&place)).run().expect(3);
    assert_eq!(outcomes(&done), [("pipe/full".to_owned(), vec!["broken".to_owned()])]);
    assert!(done.stderr.contains(": qemu-system-x86_64 is not installed: "), "{}", done.stderr);
    let broken = place.kiln(["results", "--json"]).run().expect(0).stdout;
    assert!(broken.contains("\"blame\":\"host\"") && broken.contains("node n"), "{broken}");
    let done = cluster.give(place.kiln(asked)).run().expect(0);
    assert_eq!(outcomes(&done), [("pipe/full".to_owned(), vec!["pass".to_owned()])]);
}

/// A program that fails with seeds that end so: three of ten.
const SOMETIMES: &str = "case $KILN_SEED in *[036]) exit 1;; esac";

#[test]
#[ignore = "needs Slurm and root"]
fn a_repeat_is_spread_over_jobs_and_reported_as_one() {
    let place = Place::new();
    let cluster = Cluster::new(&place);
    let program = place.script("sometimes", SOMETIMES);
    let program = program.to_str().expect("a path");
    let asked = ["run", KERNEL, "--exec", program, "--repeat", "24", "--boots", "4", "--on", "slurm"];
    let done = cluster.give(place.kiln([&asked[..], &["--format", "json"]].concat())).run().expect(1);
    let events: Vec<Value> =
        done.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let finished: Vec<&Value> = events.iter().filter(|event| event["event"] == "finished").collect();
    assert_eq!(finished.len(), 1, "{}", done.stdout);
    let repeats = finished[0]["repeats"].as_array().expect("all Runs");
    let of = |key: &str| repeats.iter().map(|one| one[key].to_string()).collect::<BTreeSet<_>>();
    assert_eq!((repeats.len(), of("boot").len(), of("clone").len(), of("seed").len()), (24, 4, 24, 24));
    let failures = repeats.iter().filter(|one| one["outcome"] == "fail").count();
    let is_unlucky = |one: &&Value| one["seed"].as_str().is_some_and(|seed| seed.ends_with(['0', '3', '6']));
    let expected = repeats.iter().filter(is_unlucky).count();
    assert_eq!(failures, expected, "{repeats:?}");
    assert!(done.stderr.contains("kiln show "), "{}", done.stderr);
    let session = sessions(&place);
    assert_eq!((cluster.jobs().len(), session.len()), (4, 4));
    let again = cluster.give(place.kiln(asked)).run().expect(1);
    assert_eq!(cluster.jobs().len(), 4, "the ledger has all");
    assert!(again.stdout.contains(&format!("{failures} of 24")), "{}", again.stdout);
    let more = [&asked[..], &["--first-boot", "2"]].concat();
    cluster.give(place.kiln(more)).run().expect(1);
    assert_eq!(cluster.jobs().len(), 6, "two of the boots are new");
}

/// A program that fails with one parameter, three times of ten.
fn fails_with_bad(place: &Place) -> String {
    let body =
        format!("read -r line < /proc/cmdline\ncase \" $line \" in *\" bad \"*) {SOMETIMES};; esac\nexit 0");
    place.script("fails", &body).display().to_string()
}

/// A search for it among three.
fn search(cluster: &Cluster, place: &Place, program: &str) -> Call {
    let params = ["quiet", "o1 bad o2"];
    let asked = ["bisect", KERNEL, "--params", params[0], params[1], "--exec", program, "--json"];
    cluster.give(place.kiln([&asked[..], &["--on", "slurm"]].concat()))
}

fn names_bad(done: &Done) {
    let bisection: Bisection = done.stated();
    let Conclusion::Culprits { candidates, confidence, .. } = &bisection.conclusion else {
        panic!("{bisection:#?}")
    };
    assert_eq!(candidates.iter().map(|candidate| candidate.name.as_str()).collect::<Vec<_>>(), ["bad"]);
    assert!(*confidence >= 0.99 && bisection.proof.iter().all(|check| check.holds), "{bisection:#?}");
}

#[test]
#[ignore = "needs Slurm and root"]
fn the_tests_of_a_bisection_are_jobs_and_its_answers_stay() {
    let place = Place::new();
    let cluster = Cluster::new(&place);
    let program = fails_with_bad(&place);
    names_bad(&search(&cluster, &place, &program).run_within(BUILD).expect(0));
    let (jobs, kept) = (cluster.jobs().len(), sessions(&place).len());
    assert_eq!((jobs, submissions(&place)), (kept, 0), "a session for each job");
    names_bad(&search(&cluster, &place, &program).run().expect(0));
    assert_eq!(cluster.jobs().len(), jobs, "all is known");
}

#[test]
#[ignore = "needs Slurm and root"]
fn a_bisection_that_is_killed_runs_no_job_twice() {
    let place = Place::new();
    let (cluster, gate) = (Cluster::new(&place), Gate::new(&place));
    let program = fails_with_bad(&place);
    let call = || gate.give(search(&cluster, &place, &program));
    let first = call().start();
    gate.await_both();
    first.signal(Signal::KILL);
    assert_eq!(first.wait().code, None);
    let before = cluster.jobs().len();
    let second = call().start();
    gate.await_look();
    assert_eq!(cluster.jobs().len(), before, "it waits for the jobs of the first");
    gate.open();
    names_bad(&second.wait_within(BUILD).expect(0));
    assert_eq!(cluster.jobs().len(), sessions(&place).len(), "a session for each job");
}

#[test]
fn what_a_bisection_cannot_ask_of_jobs_is_refused() {
    let place = Place::new();
    for question in [&["--log", "BUG"][..], &["--build"], &["--metric", "poll/*"], &["--boot", "--fresh"]] {
        let asked = ["bisect", KERNEL, "--params", "quiet", "o1", "--on", "slurm"];
        let done = place.kiln([&asked[..], question].concat()).run().expect(2);
        assert!(done.stderr.contains("cannot be used with"), "{question:?}: {}", done.stderr);
    }
    let asked = ["bisect", KERNEL, "--params", "quiet", "o1", "--case", "pipe/full", "--on", "slurm"];
    let done = place.kiln(asked).env("PATH", "/nonexistent").run().expect(3);
    assert!(done.stderr.contains("is not installed"), "{}", done.stderr);
}

#[test]
fn what_jobs_side_by_side_cannot_do_is_refused() {
    let place = Place::new();
    for option in ["--until-fail", "--resume", "--dump", "--dry-run"] {
        let done = place.kiln(["run", KERNEL, "--on", "slurm", option]).run().expect(2);
        assert!(done.stderr.contains("cannot be used with"), "{option}: {}", done.stderr);
    }
    let done = place.kiln(["run", KERNEL, "--on", "slurm"]).env("PATH", "/nonexistent").run().expect(3);
    assert!(done.stderr.contains("is not installed"), "{}", done.stderr);
}

/// Jobs of the largest array that Slurm takes unless it is told otherwise.
const THOUSAND: &str = "1000";

#[test]
#[ignore = "needs Slurm and root, and compares times"]
fn compared_with_sbatch_a_thousand_jobs_take_at_most_five_times_as_long() {
    let place = Place::new();
    let cluster = Cluster::new(&place);
    cluster.ask("scontrol", &["update", "nodename=n1,n2", "state=drain", "reason=test"]);
    let program = place.script("job", "true");
    let program = program.to_str().expect("a path");
    let asked = ["run", KERNEL, "--exec", program, "--repeat", THOUSAND, "--boots", THOUSAND];
    let begun = Instant::now();
    place.kiln([&asked[..], &["--dry-run"]].concat()).run().expect(0);
    cluster.ask("sbatch", &["--array=0-999", "--job-name=bare", "--mem=64M", program]);
    let bare = begun.elapsed();
    assert_eq!(cluster.ask("squeue", &["-h", "--array", "--name=bare"]).lines().count(), 1000);
    let begun = Instant::now();
    let call = cluster.give(place.kiln([&asked[..], &["--on", "slurm"]].concat())).start();
    until("all jobs are submitted", || (cluster.jobs().len() == 1000).then_some(()));
    let kiln = begun.elapsed();
    call.signal(Signal::INT);
    let done = call.wait().expect(130);
    let ratio = kiln.as_secs_f64() / bare.as_secs_f64();
    println!("1,000 jobs: kiln {kiln:?}; its plan and sbatch {bare:?}; ratio {ratio:.2}");
    assert!(ratio <= 5.0, "{ratio}\n{}", done.stderr);
}

//! What kiln leaves on the disk stays within its bounds.

use std::path::Path;

use judge::{Outcome, Run};

use crate::support::small_room::{SmallRoom, in_small_room};
use crate::support::{KERNEL, Place, sessions};

/// Most sessions that kiln keeps.
const SESSIONS_MAX: usize = 2_000;

/// The folder of all sessions with so many old ones, in each of which something failed.
fn fill(place: &Place, count: usize) {
    let run = Run { case: "a".into(), outcome: Outcome::Fail, ..Run::unstarted() };
    let run = serde_json::to_string(&run).expect("a document");
    for number in 0..count {
        let folder = place.path().join(format!("state/kiln/runs/2020-01-01T00-00-00Z-{number}"));
        std::fs::create_dir_all(folder.join("cases")).expect("writable");
        std::fs::write(folder.join("session.json"), "{}").expect("writable");
        std::fs::write(folder.join("cases/a.json"), &run).expect("writable");
    }
}

/// How many sessions there are, and how many of them are new.
fn counted(place: &Place) -> (usize, usize) {
    let all = sessions(&place.path().join("state"));
    let is_old =
        |path: &&Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("2020-"));
    let old = all.iter().map(AsRef::as_ref).filter(is_old).count();
    (all.len(), all.len() - old)
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn replays_and_bisections_make_room_and_keep_what_they_need() {
    let place = Place::new();
    let program = place.script("fails", "exit 1");
    place.exec(&program, &[]).run().expect(1);
    fill(&place, SESSIONS_MAX + 5);
    place.kiln(["replay", "last"]).run().expect(1).says("MiB of old sessions to stay within");
    assert_eq!(counted(&place), (SESSIONS_MAX + 1, 2));
    // Each boot has a session. They pass, so they would be the first to go.
    let program = place.script("passes", "exit 0").display().to_string();
    let bisect = ["bisect", KERNEL, "--params", "quiet", "loglevel=3", "--exec", &program, "--tries", "6"];
    let done = place.kiln(bisect).run().expect(2);
    assert!(done.stderr.contains("nothing to search for"), "{}", done.stderr);
    assert_eq!(done.stderr.matches("MiB of old sessions to stay within").count(), 1, "{}", done.stderr);
    let (all, new) = counted(&place);
    assert!(all <= SESSIONS_MAX + 4 && new >= 2 + 3, "{all} {new}");
    assert!(!done.stderr.contains("No such file"), "{}", done.stderr);
}

#[test]
fn a_dump_for_which_there_is_no_room_is_a_note_and_so_is_a_disk_that_is_nearly_full() {
    let place = Place::new();
    let program = place.script("panic", "echo c > /proc/sysrq-trigger");
    let (room, copy) = (place.path().join("room"), place.path().join("copy"));
    let call = place.exec(&program, &["--dump", "--results", room.to_str().expect("UTF-8")]);
    let Some(done) = in_small_room(call, SmallRoom { folder: &room, mib: 40, beside: ":" }, &copy) else {
        return;
    };
    let done =
        done.expect(1).says(&format!("MiB are free for {}: choose another with --results", room.display()));
    done.says("no memory dump: it needs ");
    let [past] = &ledger::sessions(&copy)[..] else { panic!("one session") };
    let run = past.run("panic").expect("kept");
    assert!(run.notes.iter().any(|note| note.starts_with("no memory dump: it needs ")), "{:?}", run.notes);
}

//! Programs of the host that wait when their work is done, so that kiln can be met in the middle of its own.

use std::fs;

use machine::program::Program;

use super::stopping::await_program;
use super::{Call, Place, Running};

/// The variable that names the one which waits.
const HELD: &str = "KILN_TEST_HELD";

/// The same call, which finds these programs before the host's own: each does what its script does, and `held` then waits.
pub(crate) fn with_programs(place: &Place, call: Call, programs: &[(&str, String)], held: &str) -> Call {
    let folder = place.path().join("programs");
    fs::create_dir_all(&folder).expect("writable");
    for (name, body) in programs {
        let holds = format!("{body}\ncode=$?\nif [ \"${HELD}\" = {name} ]; then sleep 3600; fi\nexit $code");
        fs::rename(place.script(name, &holds), folder.join(name)).expect("the same disk");
    }
    let path = std::env::var("PATH").expect("it is set");
    call.env("PATH", format!("{}:{path}", folder.display())).env(HELD, held)
}

/// The program of this name as it is on the host.
pub(crate) fn as_it_is(name: &'static str) -> (&'static str, String) {
    let found = Program::find(name).expect("scripts/setup installs it");
    (name, format!("{} \"$@\"", found.display()))
}

/// Waits until a program is held.
pub(crate) fn await_held(running: &Running) {
    await_program(running, "sleep");
}

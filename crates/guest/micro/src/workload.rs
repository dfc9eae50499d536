//! A program of the user instead of an operation: from its start to its end.

use std::process::Stdio;

use harness::check::{Checked, fail, program_failed, skip};
use harness::execute::not_executed;
use harness::needs::missing;
use protocol::Command;

use super::Meter;

/// Measures a program; it must end with 0 each time.
pub(super) fn measure(command: &Command, meter: &mut Meter) -> Checked {
    let Some((program, arguments)) = command.argv.split_first() else { return fail("no program") };
    if let Some(text) = command.needs.iter().find_map(|need| missing(need.borrowed())) {
        return skip(&text);
    }
    let prepare = || {
        let mut started = std::process::Command::new(program);
        started.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(started)
    };
    let run =
        |started: &mut std::process::Command| started.status().or_else(|error| not_executed(program, &error));
    meter.around(prepare, run, |_, status| {
        if status.success() { Ok(()) } else { program_failed(&format!("the program ended with {status}")) }
    })
}

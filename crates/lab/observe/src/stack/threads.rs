//! The stacks of all threads of a process at one moment.

use std::io;
use std::time::{Duration, Instant};

use unwind::{Call, Frame, Names};

use super::Unwinding;
use crate::error::Error;
use crate::monitor::ptrace::Stop;
use crate::process;

/// How long all threads together may take to stop: one that waits for a device does not.
const STOP_LIMIT: Duration = Duration::from_millis(500);

/// The stack of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadStack {
    /// The thread.
    pub thread: i32,
    /// What it is called.
    pub comm: String,
    /// The kernel function in which it waits, if it does.
    pub waits_in: Option<String>,
    /// The calls in the kernel, the innermost first, where the kernel shows them.
    pub kernel: Vec<String>,
    /// The functions of the program.
    pub frames: Vec<Frame>,
    /// The thread did not stop, so there are no functions.
    pub is_stuck: bool,
}

/// Stops all threads of a process for some milliseconds and gives their stacks.
///
/// # Errors
///
/// When there is no such process, or it cannot be traced.
pub fn stacks(process: i32) -> Result<Vec<ThreadStack>, Error> {
    let threads = process::threads(process)?;
    let refused = |error| Error::Process(process, error);
    let mut unwinding = Unwinding::new(process).map_err(refused)?;
    // What they wait in is read before they are stopped.
    let waiting: Vec<_> = threads.iter().map(|&thread| waiting(process, thread)).collect();
    let calls = stopped_calls(&threads, &mut unwinding).map_err(refused)?;
    let mut names = Names::default();
    let stack = |(mut stack, calls): (ThreadStack, Option<Vec<Call>>)| {
        stack.is_stuck = calls.is_none();
        stack.frames = unwinding.frames(&calls.unwrap_or_default(), &mut names);
        stack
    };
    Ok(waiting.into_iter().zip(calls).map(stack).collect())
}

/// The calls of threads, all of which are stopped meanwhile; nothing for one that does not stop. Fails if none can be traced.
fn stopped_calls(threads: &[i32], unwinding: &mut Unwinding) -> io::Result<Vec<Option<Vec<Call>>>> {
    let mut stops: Vec<_> = threads.iter().map(|&thread| Stop::request(thread)).collect();
    if let Some(refused) = stops.iter().position(Result::is_err)
        && stops.iter().all(Result::is_err)
    {
        return Err(stops.swap_remove(refused).err().unwrap_or_else(|| io::ErrorKind::NotFound.into()));
    }
    let deadline = Instant::now() + STOP_LIMIT;
    let calls = stops.iter_mut().map(|stop| Some(unwinding.calls(&stop.as_mut().ok()?.wait(deadline)?)));
    Ok(calls.collect())
}

/// What the kernel says of a thread without stopping it.
fn waiting(process: i32, thread: i32) -> ThreadStack {
    let read = |name: &str| {
        std::fs::read_to_string(format!("/proc/{process}/task/{thread}/{name}")).unwrap_or_default()
    };
    let wchan = read("wchan");
    // [<0>] function+0x12/0x34
    let kernel = read("stack").lines().filter_map(|line| Some(line.split_once(' ')?.1.to_owned())).collect();
    ThreadStack {
        thread,
        comm: read("comm").trim_end().to_owned(),
        waits_in: (!matches!(wchan.as_str(), "" | "0")).then_some(wchan),
        kernel,
        frames: Vec::new(),
        is_stuck: false,
    }
}

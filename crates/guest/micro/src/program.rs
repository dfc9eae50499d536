//! The instrument from its start to its last answer.

use std::fs::File;
use std::io::Read;
use std::time::Duration;

use harness::check::{Checked, Stop, broken, describe, skip};
use harness::child::{exit, fork};
use harness::needs::missing;
use harness::plain::plain;
use harness::storage::{enter_root, mount, own_mounts};
use harness::sys::time_stamp;
use protocol::measure::{Answer, Clock, Order, decode, encode};
use protocol::root::VIEW;
use protocol::{Report, ReportKind, Work};
use rustix::io::{Errno, retry_on_intr, write};
use rustix::mount::MountFlags;
use rustix::pipe::pipe;
use rustix::process::{WaitOptions, waitpid};
use rustix::time::{ClockId, Timespec, clock_gettime};

use super::exchange::Exchange;
use super::recording::Recording;
use super::{LIMIT, Meter, Operation, find, marks, port, prepare};

/// Jobs begin at multiples of this time, so that what one leaves behind is done with before the next begins, and
/// each meets the kernel's timer interrupt in the same way however long those before it took.
const GRID: Duration = Duration::from_millis(40);

/// How long a kernel is left alone before it is measured, by the guest's clock.
const SETTLE_SECONDS: i64 = 5;

/// Prepares, stops the machine to be cloned unless there is an order already, does what is ordered, and stops the
/// machine for good. It gets the time-stamp counter of the moment when user space began, and if there is a root, what keeps
/// programs from it: an empty text if nothing does.
///
/// # Errors
///
/// What kept it from that, when there is no host to tell it to.
pub fn run(began: u64, root: Option<&str>) -> Result<(), String> {
    port::open().map_err(|error| format!("no I/O ports: {}", describe(error)))?;
    let mut exchange = Exchange::open().map_err(|error| format!("no shared memory: {error}"))?;
    let trouble = prepare::all();
    if exchange.order().is_none() {
        settle();
        let before = time_stamp();
        port::stop();
        exchange.answer(&Answer::Resumed(time_stamp().wrapping_sub(before)));
    }
    for text in trouble {
        exchange.answer(&Answer::Trouble(text));
    }
    match exchange.order() {
        Some(Ok(order)) => obey(&order, (began, root), &mut exchange),
        Some(Err(error)) => exchange.answer(&Answer::Trouble(format!("the order: {error}"))),
        None => exchange.answer(&Answer::Trouble("there is no order".to_string())),
    }
    exchange.answer(&Answer::Done);
    port::stop();
    Ok(())
}

fn obey(order: &Order, (began, root): (u64, Option<&str>), exchange: &mut Exchange) {
    if let Clock::Instructions { shift } = order.clock {
        exchange.answer(&Answer::Booted(began >> shift));
    }
    let recording = order.trace.as_ref().map(|request| Recording::start(request, exchange)).transpose();
    let recording = match recording {
        Ok(recording) => recording,
        Err(why) => return exchange.answer(&Answer::Trouble(why.text)),
    };
    for (job, work) in (0..).zip(&order.jobs) {
        exchange.answer(&Answer::Begun(job));
        wait_for_grid();
        let lost = |text| Answer::NotMeasured { job, report: Report { kind: ReportKind::Broken, text } };
        let measured = in_child(|| measure(job, work, order.clock, (root, recording.as_ref())));
        exchange.answer(&measured.unwrap_or_else(lost));
        marks::job_done();
    }
    if let Some(Err(why)) = recording.map(Recording::finish) {
        exchange.answer(&Answer::Trouble(why.text));
    }
    if order.symbols {
        copy_symbols(exchange);
    }
}

/// Does the work of a job in a process of its own; gives its answer, or why there is none.
fn in_child(work: impl FnOnce() -> Answer) -> Result<Answer, String> {
    let failed = |error: Errno| describe(error);
    let (mut reader, writer) = pipe().map(|(reader, writer)| (File::from(reader), writer)).map_err(failed)?;
    let Some(child) = fork().map_err(failed)? else {
        drop(reader);
        let sent = encode(&work()).is_ok_and(|bytes| retry_on_intr(|| write(&writer, &bytes)).is_ok());
        exit(i32::from(!sent))
    };
    drop(writer);
    let (_, status) =
        waitpid(Some(child), WaitOptions::empty()).map_err(failed)?.ok_or("it cannot be waited for")?;
    match (status.exit_status(), status.terminating_signal()) {
        (Some(0), _) => {}
        (_, Some(libc::SIGALRM)) => return Err("it did not come to its end".to_string()),
        (_, Some(signal)) => return Err(format!("signal {signal} ended it")),
        (code, _) => return Err(format!("it exited with {}", plain(&code))),
    }
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    decode(&bytes).map_err(|error| error.to_string())
}

fn measure(
    job: u32,
    work: &Work,
    clock: Clock,
    (root, recording): (Option<&str>, Option<&Recording>),
) -> Answer {
    let mut meter = if recording.is_some() { Meter::of_recording(clock) } else { Meter::new(clock) };
    let begun = recording.map_or(Ok(()), Recording::begin_here).and_then(|()| begin(root));
    match begun.and_then(|()| perform(work, &mut meter)) {
        Ok(()) => Answer::Measured { job, samples: meter.into_samples() },
        Err(Stop(report)) => Answer::NotMeasured { job, report },
    }
}

/// Mounts and a directory of its own, in the root if there is one, and an end in any case.
fn begin(root: Option<&str>) -> Checked {
    // SAFETY: sets the timer of this process.
    unsafe { libc::alarm(u32::try_from(LIMIT.as_secs()).unwrap_or(u32::MAX)) };
    match root {
        None => own_mounts()?,
        Some(hindrance) => enter_root(VIEW, hindrance)?,
    }
    mount("tmp", "/tmp", "tmpfs", MountFlags::empty(), "")?;
    Ok(rustix::process::chdir("/tmp")?)
}

fn perform(work: &Work, meter: &mut Meter) -> Checked {
    match work {
        Work::Case(name) => match find(name) {
            Some(operation) => operate(operation, meter),
            None => broken(&format!("there is no operation {name}")),
        },
        Work::Program(command) => super::workload::measure(command, meter),
    }
}

fn operate(operation: &Operation, meter: &mut Meter) -> Checked {
    match operation.needs.iter().find_map(|&need| missing(need)) {
        Some(why) => skip(&why),
        None => (operation.body)(meter),
    }
}

/// Lets the kernel come to the end of what it does by itself after a boot, such as tests of its crypto. Time in which
/// counted instructions are none costs nothing.
fn settle() {
    let time = Timespec { tv_sec: SETTLE_SECONDS, tv_nsec: 0 };
    // Woken early it would still have waited.
    let _ = rustix::thread::clock_nanosleep_relative(ClockId::Monotonic, &time);
}

/// Sleeps until the next line of the grid, and at least half of its width.
fn wait_for_grid() {
    let grid = GRID.as_nanos();
    let now = Duration::try_from(clock_gettime(ClockId::Monotonic)).unwrap_or_default().as_nanos();
    let line = (now + grid / 2).next_multiple_of(grid);
    let line = Duration::from_nanos(u64::try_from(line).unwrap_or(u64::MAX));
    if let Ok(line) = Timespec::try_from(line) {
        // Woken early it would still have waited.
        let _ = rustix::thread::clock_nanosleep_absolute(ClockId::Monotonic, &line);
    }
}

/// The table of the kernel's symbols, with those of modules.
fn copy_symbols(exchange: &mut Exchange) {
    let Ok(mut file) = File::open("/proc/kallsyms") else { return };
    let room = exchange.symbols();
    let mut length = 0;
    while let Ok(more @ 1..) = file.read(&mut room[length..]) {
        length += more;
    }
    exchange.set_symbols(length);
}

//! Process 1 of the machine.
//!
//! * [`mounts`]: what an init mounts
//! * [`fresh`]: makes a clone one of its own
//! * [`port`]: the control port
//! * [`kernel_log`]: follows `/dev/kmsg`
//! * [`by_hand`]: a person runs a case from a shell
//! * [`by_itself`]: a run without anybody beside the machine
//! * [`instrument`]: a machine that measures
//! * [`session`]: waits for all of them at once
//! * [`work`]: runs one case or program; [`launch`] is its side in the child process
//! * [`leftovers`]: removes what a case left behind
//! * [`stuck`]: what the processes of a case that does not end are doing
//! * [`shell`]: gives the console to a shell
//! * [`window`]: makes the files that the host sends to a machine that is up

pub mod by_hand;
mod by_itself;
mod fresh;
mod instrument;
mod kernel_log;
pub(crate) mod launch;
mod leftovers;
mod mounts;
mod port;
mod session;
mod shell;
mod stuck;
mod window;
mod work;

use harness::sys::time_stamp;
use protocol::{FromAgent, ToAgent};
use rustix::system::{RebootCommand, reboot};

use session::Session;

/// Runs the machine until it is powered off.
pub fn run() -> ! {
    let began = time_stamp();
    let trouble = mounts::mount_all();
    launch::prepare();
    match Session::open() {
        Ok(mut session) => match by_itself::waiting() {
            Some(request) => by_itself::run(&mut session, &request, &trouble),
            None if instrument::is_there() => instrument::run(&mut session, began, &trouble),
            None => {
                session.send(&hello());
                serve(&mut session, &trouble);
            }
        },
        Err(error) => kernel_log::write(&format!("kiln: no control port: {error}")),
    }
    power_off()
}

/// Does what the machine asks for until it wants to be powered off; tells it first what went wrong so
/// far.
fn serve(session: &mut Session, trouble: &[String]) {
    loop {
        for message in session.wait(None, None).messages {
            match message {
                ToAgent::Start { now_us, entropy, .. } => {
                    for text in trouble.iter().cloned().chain(fresh::make(now_us, entropy)) {
                        session.send(&FromAgent::Trouble { text });
                    }
                }
                ToAgent::Unpack => session.send(&FromAgent::Unpacked { trouble: window::unpack().err() }),
                ToAgent::Run(request) => work::run(session, &request),
                ToAgent::Shell { argv, term, rows, columns } => {
                    shell::run(session, &argv, &term, shell::size(rows, columns));
                }
                ToAgent::PowerOff => return,
                // Pings are answered by the session; a size is of use only to a running shell, the end of a
                // time only to a running case.
                ToAgent::Ping { .. } | ToAgent::Resize { .. } | ToAgent::TimeUp { .. } => {}
            }
        }
    }
}

fn hello() -> FromAgent {
    let uname = rustix::system::uname();
    let system = rustix::system::sysinfo();
    let memory = (system.totalram as u64).saturating_mul(u64::from(system.mem_unit));
    let uptime = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    FromAgent::Hello {
        protocol: protocol::VERSION,
        release: uname.release().to_string_lossy().into_owned(),
        arch: uname.machine().to_string_lossy().into_owned(),
        uptime_ms: session::milliseconds(uptime),
        memory_mib: memory >> 20,
        cpus: harness::needs::cpus(),
        window: window::is_there(),
    }
}

fn power_off() -> ! {
    rustix::fs::sync();
    // It returns only if the kernel cannot power off; the machine then ends us.
    let _ = reboot(RebootCommand::PowerOff);
    loop {
        let _ = rustix::thread::nanosleep(&rustix::time::Timespec { tv_sec: 3600, tv_nsec: 0 });
    }
}

//! Process 1 of the machine, until it is powered off.

use harness::sys::time_stamp;
use protocol::{FromAgent, ToAgent};

use crate::jobs::Jobs;
use crate::session::Session;
use crate::system::{hello, power_off};
use crate::{
    devices, environment, instrument, kernel_log, launch, mounts, root, shell, standalone, wake, window, work,
};

/// Runs the machine until it is powered off.
pub(crate) fn run() -> ! {
    let began = time_stamp();
    let mut trouble = mounts::mount_all();
    trouble.extend(environment::prepare());
    trouble.extend(devices::prepare());
    launch::prepare();
    launch::fork_once();
    root::prepare();
    match Session::open() {
        Ok(mut session) => match standalone::request() {
            Some(request) => standalone::run(&mut session, &request, &trouble),
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

/// Serves the host until it asks for the end, and reports first what went wrong so far.
fn serve(session: &mut Session, trouble: &[String]) {
    let mut jobs = Jobs::default();
    loop {
        let ready = session.wait(&jobs.pipes(), None);
        jobs.follow(session, &ready.readable);
        for message in ready.messages {
            match message {
                ToAgent::Start { now_us, entropy, .. } => {
                    if root::wake() {
                        session.keep_mounts();
                    }
                    for text in trouble.iter().cloned().chain(wake::renew(now_us, entropy)) {
                        session.send(&FromAgent::Trouble { text });
                    }
                }
                ToAgent::Unpack { ranges } => {
                    session.send(&FromAgent::Unpacked { trouble: window::unpack(&ranges).err() });
                }
                ToAgent::Run(request) => work::run(session, &request),
                ToAgent::Shell { command, term, rows, columns } => {
                    shell::run(session, &command, &term, shell::size(rows, columns));
                }
                ToAgent::Do { number, order } => jobs.perform(session, number, order),
                ToAgent::PowerOff => return,
                // Pings are answered by the session; a size is of use only to a running shell, the end of a
                // time only to a running case.
                ToAgent::Ping { .. } | ToAgent::Resize { .. } | ToAgent::TimeUp { .. } => {}
            }
        }
    }
}

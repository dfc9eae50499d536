//! From the start of a machine's program to the agent's hello.
//!
//! * [`unprinted`]: what the kernel logged and did not print

mod unprinted;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use console::Death;
use protocol::FromAgent;

use super::own::Own;
use super::{CONSOLE_LINES, INTERRUPT_INTERVAL, Vmm};
use crate::error::{BootFailure, BootTrouble, ConsoleSupport};
use crate::instrument::{Channel, Measuring};
use crate::memory::Memory;
use crate::spec::Spec;
use crate::template::{About, Body, Template};
use crate::{Event, Machine};

/// The silence after which the memory of a machine is searched for a panic; it is searched again when the silence has
/// doubled.
const LOOK_INTERVAL: Duration = Duration::from_secs(2);

/// Most lines of its console that a template keeps.
const LINES_MAX: usize = 10_000;

/// A machine whose agent has said hello.
#[derive(Debug)]
pub struct Booted {
    /// The machine.
    pub machine: Vmm,
    /// `uname -r`.
    pub release: String,
    /// From the start of its program to the hello.
    pub took: Duration,
}

/// A machine on its way to the agent's hello.
#[derive(Debug)]
pub struct Starting<'a> {
    pub(super) machine: Vmm,
    pub(super) command_line: String,
    pub(super) spec: &'a Spec,
    /// Whether its kernel can print on the console.
    pub(super) console: ConsoleSupport,
    /// Its memory, where that can be read.
    pub(super) memory: Option<Memory>,
    /// What clones are started with, if it is to be cloned.
    pub(super) template: Option<Body>,
    /// What only a machine that measures has.
    pub(super) channel: Option<Channel>,
    pub(super) start: Instant,
    pub(super) own: Own,
}

/// What an agent says of its machine first.
struct Hello {
    release: String,
    window: bool,
}

impl Starting<'_> {
    /// The command line of its program, as a shell reads it.
    #[must_use]
    pub fn command_line(&self) -> &str {
        &self.command_line
    }

    /// Follows the machine to the agent's hello; `console` gets every line on the way.
    ///
    /// # Errors
    ///
    /// When the kernel does not boot, or `interrupt` is set.
    pub fn wait_for_hello(
        mut self,
        interrupt: &AtomicBool,
        console: &mut dyn FnMut(&str),
    ) -> Result<Booted, BootFailure> {
        let Hello { release, .. } = self.follow(interrupt, console)?;
        self.machine.send(&self.own.message());
        Ok(Booted { machine: self.machine, release, took: self.start.elapsed() })
    }

    /// Follows the machine to the agent's hello and stops it there, to be cloned; `console` gets every line
    /// on the way.
    ///
    /// # Errors
    ///
    /// When the kernel does not boot, `interrupt` is set, or the machine cannot be cloned.
    pub fn wait_for_template(
        mut self,
        interrupt: &AtomicBool,
        console: &mut dyn FnMut(&str),
    ) -> Result<Template, BootFailure> {
        // Its boot would be in vain.
        if let Some(why) = self.machine.blocks_clones() {
            return Err(self.fail(BootTrouble::Unclonable(why)));
        }
        let mut lines = Vec::new();
        let Hello { release, window } = self.follow(interrupt, &mut |line| {
            if lines.len() < LINES_MAX {
                lines.push(line.to_string());
            }
            console(line);
        })?;
        let Some((body, memory)) = self.template.take().zip(self.memory.take()) else {
            return Err(self.fail(BootTrouble::Unclonable("it was not started as a template".to_string())));
        };
        if self.spec.timing.is_some() {
            self.follow_to_stop(interrupt)?;
        }
        let took = self.start.elapsed();
        self.age(interrupt)?;
        let saved = self.machine.freeze();
        let frozen = saved.map_err(|why| self.fail(BootTrouble::Unclonable(why)))?;
        let about = About { release, took, console: lines, window };
        Ok(Template::new(body, memory, frozen, about))
    }

    /// Follows the machine to the agent's hello; then it measures. `console` gets every line on the way.
    ///
    /// # Errors
    ///
    /// When the kernel does not boot, `interrupt` is set, or it is no machine that measures.
    pub fn wait_for_measuring(
        mut self,
        interrupt: &AtomicBool,
        console: &mut dyn FnMut(&str),
    ) -> Result<(Measuring, String, Duration), BootFailure> {
        let Hello { release, .. } = self.follow(interrupt, console)?;
        let took = self.start.elapsed();
        match self.channel.take() {
            Some(channel) => Ok((Measuring::new(self.machine, channel), release, took)),
            None => Err(self.fail(BootTrouble::Machine("it has no instrument".to_string()))),
        }
    }

    /// Follows a machine that measures to the point where it stops itself.
    fn follow_to_stop(&mut self, interrupt: &AtomicBool) -> Result<(), BootFailure> {
        self.machine.let_guest_go_first();
        let mut trouble = None;
        while !interrupt.load(Ordering::Relaxed) {
            match self.machine.next(Instant::now() + INTERRUPT_INTERVAL) {
                Event::Stopped => return Ok(()),
                Event::Agent(FromAgent::Trouble { text }) => trouble = Some(text),
                Event::Ended(death) => {
                    let of_death = || BootTrouble::of(death, self.spec.engine.port_option());
                    return Err(self.fail(trouble.map_or_else(of_death, BootTrouble::Machine)));
                }
                Event::Quiet if self.lived() >= self.spec.boot_limit * 2 => {
                    let why = "its instrument does not become ready".to_string();
                    return Err(self.fail(BootTrouble::Machine(why)));
                }
                _ => {}
            }
        }
        Err(self.fail(BootTrouble::Interrupted))
    }

    /// Lets the machine grow older, for a clone begins as old as its template.
    fn age(&mut self, interrupt: &AtomicBool) -> Result<(), BootFailure> {
        let end = Instant::now() + self.spec.aging;
        while Instant::now() < end {
            if interrupt.load(Ordering::Relaxed) {
                return Err(self.fail(BootTrouble::Interrupted));
            }
            if let Event::Ended(death) = self.machine.next(end.min(Instant::now() + INTERRUPT_INTERVAL)) {
                return Err(self.fail(BootTrouble::of(death, self.spec.engine.port_option())));
            }
        }
        Ok(())
    }

    /// Follows the machine to the agent's hello.
    fn follow(
        &mut self,
        interrupt: &AtomicBool,
        console: &mut dyn FnMut(&str),
    ) -> Result<Hello, BootFailure> {
        let mut last_line = Duration::ZERO;
        let mut look_after = LOOK_INTERVAL;
        let mut stop = None;
        while !interrupt.load(Ordering::Relaxed) {
            let deadline = self.spec.boot_limit.min(last_line + self.spec.silence_limit);
            let left = deadline.saturating_sub(self.lived());
            let event = self.machine.next(Instant::now() + left.min(INTERRUPT_INTERVAL));
            match event {
                Event::Console(line) => {
                    last_line = self.lived();
                    look_after = LOOK_INTERVAL;
                    console(&line);
                    if line.contains("kiln: no control port") {
                        return Err(
                            self.fail(BootTrouble::NoControlPort { option: self.spec.engine.port_option() })
                        );
                    }
                }
                Event::Agent(FromAgent::Hello { protocol, .. }) if protocol != protocol::VERSION => {
                    return Err(self.fail(BootTrouble::Protocol(protocol)));
                }
                // It comes by another thread of kiln than the hello, which a busy host may run first.
                Event::Stopped => stop = Some(Event::Stopped),
                Event::Agent(FromAgent::Hello { release, window, .. }) => {
                    self.machine.put_back(stop.into_iter().collect());
                    return Ok(Hello { release, window });
                }
                Event::Agent(FromAgent::Answer { trouble: Some(why), .. }) => {
                    return Err(self.fail(BootTrouble::NotStarted(why)));
                }
                // What comes before the hello is the driver's or the firmware's.
                Event::Agent(_) | Event::Stranger(_) | Event::Hazard(_) => {}
                Event::Ended(death) => {
                    // A kernel that panics and cannot print may restart at once.
                    let panic = (death == Death::Reset).then(|| self.silent_panic(interrupt)).flatten();
                    let of_death = || self.fail(BootTrouble::of(death, self.spec.engine.port_option()));
                    return Err(panic.unwrap_or_else(of_death));
                }
                Event::Quiet if self.lived() >= deadline => {
                    let silence = self.lived().saturating_sub(last_line);
                    return Err(self.too_late(silence, interrupt));
                }
                Event::Quiet if self.lived() >= last_line + look_after => {
                    if let Some(panic) = self.silent_panic(interrupt) {
                        return Err(panic);
                    }
                    look_after *= 2;
                }
                Event::Quiet => {}
            }
        }
        Err(self.fail(BootTrouble::Interrupted))
    }

    /// The time since the start, without what the machine waited for a CPU of the host.
    fn lived(&mut self) -> Duration {
        self.machine.lived(self.start)
    }

    /// The time is over: the kernel has been silent, or it talked to the end.
    fn too_late(&mut self, silence: Duration, interrupt: &AtomicBool) -> BootFailure {
        // A user's limit may be over before the silence is as long as it usually must be.
        if silence >= self.spec.silence_limit / 2 {
            let (lines, seconds) = (self.machine.console.lines(), silence.as_secs());
            let trouble = match lines {
                0 => BootTrouble::NoConsole { seconds, support: self.console },
                _ => BootTrouble::Hang { lines, seconds },
            };
            return self.silent(trouble, interrupt);
        }
        self.fail(BootTrouble::Late { seconds: self.start.elapsed().as_secs(), remedy: "--timeout" })
    }

    fn fail(&self, trouble: BootTrouble) -> BootFailure {
        self.machine.failure(trouble)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Idle;
    use super::*;
    use crate::instrument::Timing;

    fn starting<'a>(machine: Vmm, spec: &'a Spec) -> Starting<'a> {
        Starting {
            machine,
            command_line: String::new(),
            spec,
            console: ConsoleSupport::Present("a console"),
            memory: None,
            template: None,
            channel: None,
            start: Instant::now(),
            own: Own::new(false).unwrap(),
        }
    }

    fn hello() -> FromAgent {
        FromAgent::Hello {
            protocol: protocol::VERSION,
            release: "6.1.0".into(),
            arch: "x86_64".into(),
            uptime_ms: 900,
            memory_mib: 512,
            cpus: 1,
            window: false,
        }
    }

    #[test]
    fn a_machine_that_has_stopped_before_its_hello_is_read_has_stopped() {
        let timing = Some(Timing::Instructions { seed: 1 });
        let spec = Spec {
            timing,
            boot_limit: Duration::from_secs(60),
            silence_limit: Duration::from_secs(60),
            ..Spec::example()
        };
        let interrupt = AtomicBool::new(false);
        for events in [[Event::Stopped, Event::Agent(hello())], [Event::Agent(hello()), Event::Stopped]] {
            let mut starting = starting(Idle::start().machine, &spec);
            starting.machine.put_back(events.into());
            assert_eq!(starting.follow(&interrupt, &mut |_| ()).unwrap().release, "6.1.0");
            assert_eq!(starting.machine.next(Instant::now()), Event::Stopped);
        }
    }
}

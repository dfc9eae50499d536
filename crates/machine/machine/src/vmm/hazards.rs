//! A machine is stopped where something in it waits for too long, or writes to what is watched.

use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use ::hazard::Loop;
use introspect::Sleeper;
use protocol::hazard::{BEGIN, END, Hot, Site, WAITS, WORKS};
use serde_json::json;

use super::Vmm;
use super::lock_waits::LockWaits;
use super::plugin::{Plugin, waits};
use crate::Event;
use crate::hazards::{Conditions, Hazard, Spin};

/// How long the plugin may take to say what it has counted.
const TIMEOUT: Duration = Duration::from_secs(10);

/// What looks for hazards in a machine.
#[derive(Debug, Default)]
pub(super) struct Hazards {
    /// What is one.
    conditions: Conditions,
    /// Finds those that are in what is executed.
    pub(super) plugin: Option<Plugin>,
    /// Finds those that are in its memory.
    lock_waits: Option<LockWaits>,
    /// How long the machine was stopped for them.
    pub(super) stopped: Duration,
}

impl Vmm {
    /// The same with the plugin at the other end of this socket.
    pub(super) fn with_plugin(mut self, channel: UnixStream) -> Self {
        self.hazards.plugin = Some(Plugin::new(channel));
        self.open += 1;
        self
    }

    /// The same in which these are looked for, once that begins.
    pub(super) fn with_hazards(mut self, conditions: Conditions) -> Self {
        self.hazards.conditions = conditions;
        self
    }

    pub(super) fn begin_to_look(&mut self) -> Result<(), String> {
        if let Some(bound) = self.hazards.conditions.lock_wait() {
            self.driver.find_sleepers(&self.process).map_err(|why| format!("lock-wait: {why}"))?;
            self.hazards.lock_waits = Some(LockWaits::new(bound, Instant::now()));
        }
        self.begin_to_watch()?;
        self.hazards.plugin.iter().for_each(|plugin| plugin.tell(BEGIN));
        Ok(())
    }

    fn begin_to_watch(&mut self) -> Result<(), String> {
        let conditions = self.hazards.conditions.clone();
        let variables = conditions.writes();
        if variables.is_empty() {
            return Ok(());
        }
        let watched = self.stop_cpus(None).and_then(|()| self.driver.watch(&self.process, &variables));
        // It may have ended.
        let _ = self.driver.hold(false);
        watched.map_err(|why| format!("write: {why}"))
    }

    /// QEMU has stopped the machine. Where it does not stand at a write that is watched, it will do nothing more.
    pub(super) fn is_paused(&mut self) {
        // It was held meanwhile, and what it wrote was seen then.
        if self.driver.is_held() || self.runs() {
            return;
        }
        let begin = Instant::now();
        if self.driver.hold(true).is_err() || !self.sees_write() {
            return self.end();
        }
        let _ = self.driver.hold(false);
        self.was_stopped(begin.elapsed());
    }

    fn runs(&mut self) -> bool {
        let status = self.driver.execute("query-status", &json!({}));
        status.is_ok_and(|status| status["running"] == true)
    }

    /// Whether the machine, which is held, stands at a write that is watched, which is told then.
    pub(super) fn sees_write(&mut self) -> bool {
        let write = self.driver.written();
        let is_seen = write.is_some();
        self.queue.extend(write.map(|write| Event::Hazard(Box::new(Hazard::Write(write)))));
        is_seen
    }

    /// When somebody has to look at it at the latest.
    pub(super) fn next_look(&self, deadline: Instant) -> Instant {
        self.hazards.lock_waits.as_ref().map_or(deadline, |waits| waits.next().min(deadline))
    }

    /// Looks who sleeps for a lock, if it is time for that, and stops the machine for those who do so for too long.
    pub(super) fn look_at_sleepers(&mut self) {
        let begin = Instant::now();
        let Some(waits) = self.hazards.lock_waits.as_mut().filter(|waits| waits.next() <= begin) else {
            return;
        };
        let is_held = self.driver.is_held();
        if is_held {
            waits.forget();
        }
        let late = waits.see(begin, self.driver.sleepers());
        waits.looked(begin.elapsed());
        if !late.is_empty() && !is_held {
            self.stop_for(&late);
        }
    }

    fn stop_for(&mut self, late: &[(Sleeper, Duration)]) {
        let begin = Instant::now();
        // It may have ended.
        if self.stop_cpus(None).is_ok() {
            let waits = self.driver.examine_waits(late).into_iter();
            self.queue.extend(waits.map(|wait| Event::Hazard(Box::new(Hazard::LockWait(wait)))));
        }
        let _ = self.driver.hold(false);
        self.was_stopped(begin.elapsed());
    }

    /// Nothing in it has waited meanwhile.
    fn was_stopped(&mut self, time: Duration) {
        self.hazards.stopped += time;
        self.hazards.lock_waits.iter_mut().for_each(|waits| waits.was_stopped(time));
    }

    /// Looks no more, and gives what the plugin has counted.
    pub(super) fn end_to_look(&mut self) -> Vec<Site> {
        self.hazards.lock_waits = None;
        if !self.hazards.conditions.writes().is_empty() {
            // It may have ended. What it writes now is of nobody.
            let _ = self.hold_cpus(None).and_then(|()| self.driver.end_watch());
            let _ = self.driver.hold(false);
        }
        if let Some(plugin) = &mut self.hazards.plugin {
            plugin.sites = None;
            plugin.tell(END);
        }
        let deadline = Instant::now() + TIMEOUT;
        let has_said =
            |machine: &Self| machine.hazards.plugin.as_ref().is_none_or(|plugin| plugin.sites.is_some());
        while !has_said(self) && self.wait_while_running(deadline) {}
        self.hazards.plugin.as_mut().and_then(|plugin| plugin.sites.take()).unwrap_or_default()
    }

    /// Takes in what the plugin says.
    pub(super) fn hear_plugin(&mut self, bytes: &[u8]) {
        self.hazards.plugin.iter_mut().for_each(|plugin| plugin.feed(bytes));
        while let Some(hot) = self.hazards.plugin.as_mut().and_then(Plugin::next_hot) {
            self.is_hot(&hot);
        }
    }

    /// All CPUs stand still in the plugin, since one has passed a loop too often.
    fn is_hot(&mut self, hot: &Hot) {
        match waits(hot) {
            Some(found) => {
                let spin = self.stop_at(hot, &found);
                self.queue.push_back(Event::Hazard(Box::new(Hazard::LockSpin(spin))));
            }
            None => self.hazards.plugin.iter().for_each(|plugin| plugin.tell(WORKS)),
        }
    }

    /// Looks at the machine while it is where it is.
    fn stop_at(&mut self, hot: &Hot, found: &Loop) -> Spin {
        let begin = Instant::now();
        let held = self.stop_cpus(Some(WAITS));
        let Self { driver, process, .. } = self;
        let mut spin = Spin {
            site: hot.site,
            cpu: hot.cpu,
            address: found.address(),
            function: None,
            code: found.lines(),
            looks_at: Vec::new(),
            calls: Vec::new(),
            tasks: Vec::new(),
            missing: None,
            program: None,
        };
        let examined = held.and_then(|()| driver.examine_spin(process, found, &mut spin));
        spin.missing = examined.err();
        // It may have ended.
        let _ = driver.hold(false);
        self.was_stopped(begin.elapsed());
        spin
    }
}

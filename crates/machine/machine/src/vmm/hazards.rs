//! A machine is stopped where a CPU waits for too long.

use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use ::hazard::Loop;
use protocol::hazard::{BEGIN, END, Hot, Message, Site, WAITS, WORKS};

use super::Vmm;
use super::plugin::Plugin;
use crate::Event;
use crate::hazards::Hazard;

/// How long the plugin may take to say what it has counted.
const TIMEOUT: Duration = Duration::from_secs(10);

impl Vmm {
    /// The same with the plugin at the other end of this socket.
    pub(super) fn with_plugin(mut self, channel: UnixStream) -> Self {
        self.plugin = Some(Plugin::new(channel));
        self.open += 1;
        self
    }

    pub(super) fn tell_plugin_to_begin(&mut self) {
        self.plugin.iter().for_each(|plugin| plugin.tell(BEGIN));
    }

    /// Has the plugin look no more, and gives what it has counted.
    pub(super) fn counted_by_plugin(&mut self) -> Vec<Site> {
        if let Some(plugin) = &mut self.plugin {
            plugin.sites = None;
            plugin.tell(END);
        }
        let deadline = Instant::now() + TIMEOUT;
        let has_said = |machine: &Self| machine.plugin.as_ref().is_none_or(|plugin| plugin.sites.is_some());
        while !has_said(self) && self.wait_while_running(deadline) {}
        self.plugin.as_mut().and_then(|plugin| plugin.sites.take()).unwrap_or_default()
    }

    /// How long the machine was stopped in hazards.
    pub(super) fn stopped_in_hazards(&self) -> Duration {
        self.plugin.as_ref().map_or(Duration::ZERO, |plugin| plugin.stopped)
    }

    /// Takes in what the plugin says.
    pub(super) fn hear_plugin(&mut self, bytes: &[u8]) {
        self.plugin.iter_mut().for_each(|plugin| plugin.feed(bytes));
        while let Some(message) = self.plugin.as_mut().and_then(Plugin::next) {
            match message {
                Message::Hot(hot) => self.is_hot(&hot),
                Message::Sites(sites) => {
                    if let Some(plugin) = &mut self.plugin {
                        plugin.sites = Some(sites);
                    }
                }
            }
        }
    }

    /// All CPUs stand still in the plugin, since one has passed a loop too often.
    fn is_hot(&mut self, hot: &Hot) {
        match Loop::decode(&hot.blocks).filter(Loop::waits) {
            Some(found) => {
                let hazard = self.stop_at(hot, &found);
                self.queue.push_back(Event::Hazard(Box::new(hazard)));
            }
            None => self.plugin.iter().for_each(|plugin| plugin.tell(WORKS)),
        }
    }

    /// Looks at the machine while it is where it is.
    fn stop_at(&mut self, hot: &Hot, found: &Loop) -> Hazard {
        let begin = Instant::now();
        let Self { plugin, driver, process, .. } = self;
        // QEMU waits until its CPUs have stopped, which they do when the plugin lets them go.
        let held = std::thread::scope(|scope| {
            let answer = || plugin.iter().for_each(|plugin| plugin.tell_when_stopping(WAITS, process.id));
            scope.spawn(answer);
            driver.hold(true)
        });
        let mut hazard = Hazard {
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
        let examined = held.and_then(|()| driver.examine_hazard(process, found, &mut hazard));
        hazard.missing = examined.err();
        // It may have ended.
        let _ = driver.hold(false);
        plugin.iter_mut().for_each(|plugin| plugin.stopped += begin.elapsed());
        hazard
    }
}

//! Instances that run together.

use std::time::{Duration, Instant};

use protocol::stress::{InstanceReport, StressReport, StressRequest};

use super::plan::Plan;
use super::process::{Job, Process};
use super::signals::{Told, wait};
use super::{Refusal, described};
use crate::board::Board;
use crate::directory::Home;
use crate::strays;

/// How long the engine waits for a signal before it looks around.
const TICK: Duration = Duration::from_millis(20);

/// How often it reports without being asked.
const REPORT: Duration = Duration::from_secs(1);

/// From SIGTERM to SIGKILL.
const KILL: Duration = Duration::from_secs(1);

/// Workers of one or more instances.
pub(super) struct Round<'a> {
    request: &'a StressRequest,
    plans: &'a [Plan],
    board: Board,
    home: Home,
    /// The workers of each plan; those of the first begin at place 0 of the board.
    crews: Vec<Vec<Process>>,
    began: Instant,
    stopped: Option<Instant>,
    is_interrupted: bool,
}

impl<'a> Round<'a> {
    /// Starts all workers, and lets them begin together.
    ///
    /// # Errors
    ///
    /// When there is no memory or no directory for them.
    pub(super) fn start(request: &'a StressRequest, plans: &'a [Plan]) -> Result<Self, Refusal> {
        let places: usize = plans.iter().map(|plan| plan.workers as usize).sum();
        let board = Board::new(places)
            .map_err(|error| Refusal::broken("shared memory", harness::check::describe(error)))?;
        let home =
            Home::new(places).map_err(|error| Refusal::broken("a directory for the workers", error))?;
        let mut first = 0;
        let mut crews = Vec::new();
        for plan in plans {
            crews.push(start_crew(request, plan, &board, &home, first));
            first += plan.workers as usize;
        }
        board.control().start();
        Ok(Self {
            request,
            plans,
            board,
            home,
            crews,
            began: Instant::now(),
            stopped: None,
            is_interrupted: false,
        })
    }

    /// Waits until all workers have ended, and ends them when it is time; gives what was done so far to `so_far`.
    pub(super) fn watch(&mut self, so_far: &mut dyn FnMut(Vec<InstanceReport>, bool)) {
        let mut reported = Instant::now();
        loop {
            self.crews.iter_mut().flatten().for_each(Process::poll);
            if self.crews.iter().flatten().all(Process::has_ended) {
                return;
            }
            self.end_in_time();
            let told = wait(TICK);
            self.is_interrupted |= told == Some(Told::Stop);
            if told == Some(Told::Report) || reported.elapsed() >= REPORT {
                so_far(self.reports(), self.is_interrupted);
                reported = Instant::now();
            }
        }
    }

    /// Asks workers to stop when their time is over, and insists when they do not.
    fn end_in_time(&mut self) {
        let timeout = self.request.timeout_ms.map(Duration::from_millis);
        let is_over = self.is_interrupted || timeout.is_some_and(|timeout| self.began.elapsed() >= timeout);
        if !is_over {
            return;
        }
        self.board.control().stop();
        let late = self.stopped.get_or_insert_with(Instant::now).elapsed();
        let Some(late) = late.checked_sub(Duration::from_millis(self.request.grace_ms)) else { return };
        for process in self.crews.iter_mut().flatten() {
            process.terminate();
            if late >= KILL {
                process.kill();
            }
            if late >= KILL + strays::KILL {
                process.give_up();
            }
        }
    }

    fn reports(&self) -> Vec<InstanceReport> {
        let mut first = 0;
        let mut reports = Vec::new();
        for (plan, crew) in self.plans.iter().zip(&self.crews) {
            let places = crew.iter().zip(first..);
            let workers =
                places.filter_map(|(process, place)| Some(process.report(plan, self.board.desk(place)?)));
            reports.push(InstanceReport { workers: workers.collect(), ..described(plan) });
            first += plan.workers as usize;
        }
        reports
    }

    /// Adds what was done to `report`, and removes what was left behind.
    pub(super) fn finish(self, report: &mut StressReport) {
        report.leftovers.extend(strays::remove());
        report.instances.extend(self.reports());
        report.interrupted |= self.is_interrupted;
        report.leftovers.extend(self.home.remove());
    }
}

/// Starts the workers of a plan, unless it cannot run here.
fn start_crew(
    request: &StressRequest,
    plan: &Plan,
    board: &Board,
    home: &Home,
    first: usize,
) -> Vec<Process> {
    if plan.refused.is_some() {
        return Vec::new();
    }
    let start = |number: u32| {
        let place = first + number as usize;
        let desk = board.desk(place)?;
        Some(Process::start(Job { request, plan, board, desk, directory: &home.of(place), number }))
    };
    (0..plan.workers).filter_map(start).collect()
}

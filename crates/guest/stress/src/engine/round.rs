//! Instances that run together.

use std::time::{Duration, Instant};

use harness::check::{Checked, Stop};
use protocol::stress::{InstanceReport, StressReport, StressRequest};

use super::plan::Plan;
use super::process::{Job, Process};
use super::signals::{Told, wait};
use super::{Refusal, described};
use crate::board::Board;
use crate::coverage::{Points, Text, Traces};
use crate::directory::Home;
use crate::strays;

/// How long the engine waits for a signal before it looks around.
const TICK: Duration = Duration::from_millis(20);

/// How often it reports without being asked.
const REPORT: Duration = Duration::from_secs(1);

/// From SIGTERM to SIGKILL.
const KILL: Duration = Duration::from_secs(1);

/// What plans reach of the kernel.
struct Covered {
    text: Text,
    /// Of the workers of each plan.
    traces: Vec<Vec<Traces>>,
    points: Vec<Points>,
}

impl Covered {
    fn open(plans: &[Plan]) -> Checked<Self> {
        let traces = |plan: &Plan| (0..plan.runs()).map(|_| Traces::open()).collect::<Result<_, _>>();
        Ok(Self {
            traces: plans.iter().map(traces).collect::<Result<_, _>>()?,
            text: Text::find()?,
            points: plans.iter().map(|_| Points::default()).collect(),
        })
    }

    /// Takes out what is recorded; says whether there was no room for more.
    fn take(&mut self) -> bool {
        let mut overflowed = false;
        for (traces, points) in self.traces.iter().zip(&mut self.points) {
            traces.iter().for_each(|traces| overflowed |= traces.take(points, self.text));
        }
        overflowed
    }
}

/// Workers of one or more instances.
pub(super) struct Round<'a> {
    request: &'a StressRequest,
    plans: &'a [Plan],
    board: Board,
    home: Home,
    /// The workers of each plan; those of the first begin at place 0 of the board.
    crews: Vec<Vec<Process>>,
    /// What each plan reaches of the kernel, if that is asked for.
    coverage: Option<Covered>,
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
        let coverage = request.coverage.then(|| Covered::open(plans)).transpose();
        let coverage = coverage.map_err(|Stop(why)| Refusal::Stopped(why))?;
        let mut round = Self {
            request,
            plans,
            board,
            home,
            crews: Vec::new(),
            coverage,
            began: Instant::now(),
            stopped: None,
            is_interrupted: false,
        };
        let mut first = 0;
        for (number, plan) in plans.iter().enumerate() {
            round.crews.push(round.start_crew(number, plan, first));
            first += plan.workers as usize;
        }
        round.board.control().start();
        round.began = Instant::now();
        Ok(round)
    }

    /// Starts the workers of a plan, unless it cannot run here. The first has this place on the board.
    fn start_crew(&self, number: usize, plan: &Plan, first: usize) -> Vec<Process> {
        let traces = self.coverage.as_ref().map_or(&[][..], |covered| &covered.traces[number]);
        let start = |number: u32| {
            let place = first + number as usize;
            let (board, desk) = (&self.board, self.board.desk(place)?);
            let (directory, traces) = (&self.home.of(place), traces.get(number as usize));
            Some(Process::start(Job { request: self.request, plan, board, desk, directory, traces, number }))
        };
        (0..plan.runs()).filter_map(start).collect()
    }

    /// Waits until all workers have ended, and ends them when it is time; gives what was done so far to `so_far`.
    pub(super) fn watch(&mut self, so_far: &mut dyn FnMut(Vec<InstanceReport>, bool)) {
        let mut reported = Instant::now();
        loop {
            self.crews.iter_mut().flatten().for_each(Process::poll);
            let is_full = self.coverage.as_mut().is_some_and(Covered::take);
            if self.crews.iter().flatten().all(Process::has_ended) {
                return;
            }
            self.end_in_time();
            let told = wait(if is_full { Duration::ZERO } else { TICK });
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
        let mut instances = self.reports();
        if let Some(covered) = &self.coverage {
            let coverage = covered.points.iter().map(Points::report);
            instances
                .iter_mut()
                .zip(coverage)
                .for_each(|(instance, points)| instance.coverage = Some(points));
        }
        report.instances.extend(instances);
        report.interrupted |= self.is_interrupted;
        report.leftovers.extend(self.home.remove());
    }
}

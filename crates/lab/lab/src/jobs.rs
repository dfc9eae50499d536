//! What is measured on a Kernel, and what its machine needs for that.

use std::path::Path;

use judge::Outcome;
use kernel::Kernel;
use machine::catalogue;
use measure::measurement::PROGRAM;
use measure::{Job, NotMeasured};
use protocol::catalogue::{Case, Operation};
use protocol::waiting::CASE_COMMAND;
use protocol::{Command, Need, Work};

use crate::plan::{Fixed, Plan};
use crate::suites::select::MICRO;
use crate::user_program::{self, UserProgram};

/// What is measured on a Kernel, in the order in which it is measured.
#[derive(Debug)]
pub struct Jobs {
    /// All of it.
    pub jobs: Vec<Job>,
    /// The machine for it; the plan has no items.
    pub plan: Plan,
}

impl Jobs {
    /// The operations that are wanted. Their machine is that for all operations, so that a figure does not depend on
    /// what else is measured.
    ///
    /// # Errors
    ///
    /// When a module's files are damaged.
    pub fn of_operations(
        wanted: &[&Operation],
        kernel: &Kernel,
        fixed: Fixed,
    ) -> Result<Self, machine::Error> {
        let mut plan = Plan::empty(MICRO, &[], fixed);
        let mut modules: Vec<String> = Vec::new();
        let mut jobs = Vec::new();
        for operation in catalogue::operations() {
            let needs: Vec<_> = operation.needs.iter().map(Need::borrowed).collect();
            let (needed, skip) = plan.provide(kernel, &needs)?;
            add_new(&mut modules, needed);
            if wanted.iter().any(|wanted| wanted.name == operation.name) {
                jobs.push(of_operation(operation, skip));
            }
        }
        plan.payload.instrument(&modules);
        Ok(Self { jobs, plan })
    }

    /// Cases, each of which is run as a person runs it from a shell. Their machine has the memory that they need; those that need a
    /// disk or several CPUs are skipped.
    ///
    /// # Errors
    ///
    /// When a module's files are damaged.
    pub fn of_cases(cases: &[&Case], kernel: &Kernel, fixed: Fixed) -> Result<Self, machine::Error> {
        let needs = cases.iter().flat_map(|case| &case.needs).map(Need::borrowed);
        let memory: Vec<_> = needs.filter(|need| matches!(need, Need::Memory(_))).collect();
        let mut plan = Plan::empty("cases", &memory, fixed);
        let mut modules: Vec<String> = Vec::new();
        let mut jobs = Vec::new();
        for case in cases {
            let needs: Vec<_> = case.needs.iter().map(Need::borrowed).collect();
            let (needed, skip) = plan.provide(kernel, &needs)?;
            add_new(&mut modules, needed);
            let argv = vec![CASE_COMMAND.to_owned(), case.name.clone()];
            let (name, about) = (case.name.clone(), case.about.clone());
            let work = Work::Program(Command::new(argv));
            jobs.push(Job { name, about, work, skip: skip.map(skipped) });
        }
        plan.payload.instrument(&modules);
        Ok(Self { jobs, plan })
    }

    /// A user's own program, from its start to its end.
    ///
    /// # Errors
    ///
    /// When it cannot be read or is no program, or a module's files are damaged.
    pub fn of_program(kernel: &Kernel, user: UserProgram<'_>, fixed: Fixed) -> Result<Self, machine::Error> {
        let program = user.load(fixed.has_root)?;
        let needs = user.needs();
        let mut plan = Plan::empty("program", &needs, fixed);
        // The same path for all takes as many instructions.
        let place = user_program::place(PROGRAM);
        plan.payload.program(program, &place);
        let (modules, skip) = plan.provide(kernel, &needs)?;
        plan.payload.instrument(&modules);
        let job = Job {
            name: name_of(user.path),
            about: "the program from its start to its end, with exec and exit".to_string(),
            work: Work::Program(Command { needs: user.needs.to_vec(), ..user.command(place) }),
            skip: skip.map(skipped),
        };
        Ok(Self { jobs: vec![job], plan })
    }
}

/// Adds modules that are not there yet.
fn add_new(modules: &mut Vec<String>, needed: Vec<String>) {
    for module in needed {
        if !modules.contains(&module) {
            modules.push(module);
        }
    }
}

/// What a program is called in tables. Behind a colon is what else is counted; in front of a slash, an area.
fn name_of(program: &Path) -> String {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    name.chars().map(|c| if c == ':' || c.is_control() { '_' } else { c }).collect()
}

fn of_operation(operation: &Operation, skip: Option<String>) -> Job {
    Job {
        name: operation.name.clone(),
        about: operation.about.clone(),
        work: Work::Case(operation.name.clone()),
        skip: skip.map(skipped),
    }
}

fn skipped(reason: String) -> NotMeasured {
    NotMeasured { outcome: Outcome::Skip, reason }
}

//! What operations cost before the patches and with them, to the instruction.

use compare::{CompareRequest, SideRequest, SidesRequest};
use kernel::Kernel;
use lab::request::{FiguresRequest, KernelRequest, Version};
use ledger::Progress;
use verdict::{Row, Verdict};

use crate::Error;
use crate::document::{Change, CostChange};
use crate::environment::{Emit, Environment};
use crate::request::CheckRequest;

/// Most functions that are named for an operation.
const FUNCTIONS_MAX: usize = 10;

/// What came of comparing operations.
#[derive(Debug, Default)]
pub(crate) struct Costs {
    /// How many were compared.
    pub(crate) operations: usize,
    /// How many differ by no more than what counts.
    pub(crate) slight: usize,
    /// Those that cost more or less, the dearer ones first.
    pub(crate) changes: Vec<CostChange>,
    pub(crate) notes: Vec<String>,
}

/// Compares the operations that are asked for.
pub(crate) fn costs(
    request: &CheckRequest,
    [before, after]: [&Kernel; 2],
    environment: &Environment<'_>,
    emit: Emit<'_>,
) -> Result<Costs, Error> {
    let side = |kernel: &Kernel| -> Result<SideRequest, Error> {
        let exact = kernel.exact_locator().parse().map_err(bisect::Error::from)?;
        Ok(SideRequest::Kernel(KernelRequest::named(exact)))
    };
    let wanted = CompareRequest {
        version: Version,
        sides: SidesRequest::Kernels { sides: vec![side(before)?, side(after)?], program: None },
        figures: FiguresRequest { operations: request.operations.clone(), ..FiguresRequest::default() },
        why: true,
        experiment: None,
        allowed: Some(0.0),
        machine: request.machine.clone(),
    };
    let place = compare::Environment {
        backend: environment.backend,
        interrupt: environment.interrupt,
        measurements: environment.measurements.clone(),
    };
    let compared = compare::compare(&wanted, &place, &mut |progress| match progress {
        compare::Progress::Preparing(text) => emit(Progress::Working(text)),
        compare::Progress::Note(text) => emit(Progress::Note(text)),
        compare::Progress::Measuring(_) => emit(Progress::Working("counting instructions".to_owned())),
    })?;
    let others = &compared.comparison.others;
    let rows = || others.iter().flat_map(|against| &against.rows).filter(|row| row.metric != measure::BOOT);
    let is_slight = |row: &&Row| row.percent.is_some_and(|percent| percent.abs() <= request.worse_by * 100.0);
    let (slight, others): (Vec<&Row>, Vec<&Row>) = rows().partition(is_slight);
    let mut changes: Vec<CostChange> = others.into_iter().filter_map(changed).collect();
    changes.sort_by_key(|change| change.change);
    let slight = slight.into_iter().filter_map(changed).count();
    Ok(Costs { operations: rows().count(), slight, changes, notes: compared.comparison.notes.clone() })
}

fn changed(row: &Row) -> Option<CostChange> {
    let change = match row.verdict {
        Verdict::Worse => Change::Worse,
        Verdict::Better => Change::Better,
        Verdict::Undecided | Verdict::Same => return None,
    };
    let functions = row.why.iter().flat_map(|why| &why.functions).take(FUNCTIONS_MAX);
    Some(CostChange {
        operation: row.metric.clone(),
        change,
        before: row.base.median,
        after: row.new.median,
        functions: functions.map(|it| (it.function.clone(), it.base, it.new)).collect(),
        culprit: None,
    })
}

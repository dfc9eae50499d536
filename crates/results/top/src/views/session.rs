//! A session: its Runs.

use crate::list::List;
use crate::look::RunRow;
use crate::paint::{self, Piece};
use crate::table::{Column, Row, Table, Target};

const COLUMNS: &[Column] = &[
    Column { head: "OUTCOME", width: 7 },
    Column { head: "TIME", width: 10 },
    Column { head: "CASE", width: 28 },
    Column { head: "WHY", width: 0 },
];

/// A session that is opened.
#[derive(Debug)]
pub(crate) struct SessionPage {
    /// Its name.
    pub(crate) name: String,
    /// Its Runs, or why they are not known, as soon as somebody has looked.
    pub(crate) runs: Option<Result<Vec<RunRow>, String>>,
    pub(crate) list: List,
}

impl SessionPage {
    pub(crate) fn new(name: String) -> Self {
        Self { name, runs: None, list: List::default() }
    }

    /// By which the selected Run is found again.
    pub(crate) fn selected_key(&self) -> Option<String> {
        let table = self.table();
        self.list.selected(table.rows.len()).map(|at| table.rows[at].key.clone())
    }

    /// Selects the Run of that key, if it is there.
    pub(crate) fn select(&mut self, key: Option<&str>) {
        if let Some(place) = key.and_then(|key| self.table().place(key)) {
            self.list.select(place);
        }
    }

    /// Its Runs, what went wrong first.
    pub(crate) fn table(&self) -> Table {
        let (mut runs, empty): (Vec<&RunRow>, _) = match &self.runs {
            None => (Vec::new(), "reading"),
            Some(Err(_)) => (Vec::new(), "its Runs cannot be read"),
            Some(Ok(runs)) => (runs.iter().collect(), "no case has finished"),
        };
        runs.sort_by_key(|run| run.outcome.is_well());
        Table { columns: COLUMNS, rows: runs.into_iter().map(|run| self.row(run)).collect(), empty }
    }

    fn row(&self, run: &RunRow) -> Row {
        let cells = vec![
            Piece::new(paint::style(report::style::of(run.outcome)), run.outcome.name()),
            Piece::plain(report::seconds(run.duration)),
            Piece::plain(&run.case),
            Piece::plain(&run.why),
        ];
        Row {
            key: run.case.clone(),
            cells,
            details: vec![run.case.clone(), run.why.clone()],
            opens: Some(Target::Run(self.name.clone(), run.case.clone())),
            command: vec!["show".to_owned(), format!("{}/{}", self.name, run.case)],
        }
    }
}

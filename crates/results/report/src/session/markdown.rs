//! A session as Markdown.

use judge::Run;
use judge::run::stamp;
use script::Figure;

use super::{SessionPage, TEXTS_MAX, UNFINISHED, hazard_text, known, repeated, replay, title};
use crate::columns::Columns;
use crate::evidence::{self, collect};
use crate::markdown::{Document, Wrap, Writer, code, prose};
use crate::repeats::repeats;
use crate::words::{seconds, why};

/// Columns of the word before a line of evidence.
const LABEL: usize = 6;

const CASES: Columns<4> = Columns { head: ["case", "outcome", "time", "why"], right: &[2], spared: &[2] };

const FIGURES: Columns<2> = Columns { head: ["metric", "value"], right: &[1], spared: &[] };

/// What the page says, in the same order.
pub(super) fn document(shown: SessionPage<'_>, wrap: Wrap) -> Document {
    let SessionPage { session, runs, figures, hazards, took, .. } = shown;
    let mut writer = Writer::new(wrap);
    writer.block(&repeated(session).unwrap_or_default());
    if took.is_none() {
        writer.paragraph(&format!("Note: {UNFINISHED}."));
    }
    for (label, fact) in known(shown).iter().filter(|(_, fact)| !fact.is_empty()) {
        writer.item(&format!("{label}: {}", prose(fact)));
    }
    let mut failures = runs.iter().filter(|run| !run.outcome.is_well()).peekable();
    if failures.peek().is_some() {
        writer.heading(2, "What went wrong");
    }
    let mut used = 0;
    failures.for_each(|run| failure(run, shown, &mut used, &mut writer));
    if let Some(hazards) = hazards {
        writer.heading(2, "Hazards");
        writer.block(&hazard_text(hazards));
    }
    if !figures.is_empty() {
        writer.heading(2, "Figures");
        let row = |figure: &Figure| [figure.name.clone(), figure.value.to_string()];
        writer.table(&FIGURES, figures.iter().map(row).collect(), &[0]);
    }
    writer.heading(2, "All cases");
    let row = |run: &Run| [run.case.clone(), run.outcome.name().to_owned(), seconds(run.duration), why(run)];
    writer.table(&CASES, runs.iter().map(row).collect(), &[0]);
    writer.document(&title(shown))
}

fn failure(run: &Run, shown: SessionPage<'_>, used: &mut usize, writer: &mut Writer) {
    writer.heading(3, &format!("{}: {}", run.outcome.name(), code(&run.case)));
    writer.paragraph(&prose(&run.about));
    writer.paragraph(&prose(why(run)));
    writer.paragraph(&repeats(run).map(prose).unwrap_or_default());
    let evidence = collect(run, evidence::LINES);
    let lines = evidence.lines.iter().map(|(label, line)| format!("{label:<LABEL$}  {line}\n"));
    writer.block(&lines.collect::<String>());
    if evidence.more > 0 {
        writer.paragraph(&format!("{} more lines below.", evidence.more));
    }
    if let Some(replay) = replay(shown, run) {
        writer.paragraph("To repeat it:");
        writer.block(&replay);
    }
    texts(run, used, writer);
}

/// What it printed and what the kernel logged.
fn texts(run: &Run, used: &mut usize, writer: &mut Writer) {
    *used += run.output.len() + run.log.iter().map(|record| record.text.len()).sum::<usize>();
    if *used > TEXTS_MAX {
        writer.paragraph("Its output and its kernel log are left out: the report would be too large.");
        return;
    }
    let log: String = run.log.iter().map(|record| format!("{} {}\n", stamp(record), record.text)).collect();
    for (name, text) in [("Output", run.output.as_str()), ("Kernel log", log.as_str())] {
        if !text.trim().is_empty() {
            writer.paragraph(&format!("{name}:"));
            writer.block(text);
        }
    }
    for note in &run.notes {
        writer.paragraph(&format!("Note: {}", prose(note)));
    }
    writer.paragraph(&format!("It took {}.", seconds(run.duration)));
}

//! Kernels and suites to choose, and the command lines that run them.

use std::collections::BTreeSet;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::keys::Move;
use crate::list::List;
use crate::look::{Look, Offer, OfferedKernel, OfferedSuite};
use crate::paint::{self, BOLD, DIM, Piece, REVERSED};

/// Pairs that are started together; each takes machines of this host.
pub(crate) const PAIRS_MAX: usize = 16;

/// Columns of the suites.
const SUITES: u16 = 26;

/// What is chosen.
#[derive(Debug, Default)]
pub(crate) struct StartPage {
    /// What there is, as soon as somebody has looked.
    pub(crate) offer: Option<Offer>,
    kernels: Choice,
    suites: Choice,
    is_at_suites: bool,
}

/// One of two lists.
#[derive(Debug, Default)]
struct Choice {
    list: List,
    marked: BTreeSet<String>,
}

impl StartPage {
    /// Takes what there is, and the kernels of sessions besides.
    pub(crate) fn offer(&mut self, mut offer: Offer, look: &Look) {
        for locator in look.sessions.iter().filter_map(|session| session.locator.as_ref()) {
            if !offer.kernels.iter().any(|kernel| kernel.locator == *locator) {
                offer
                    .kernels
                    .push(OfferedKernel { locator: locator.clone(), about: "in a session".to_owned() });
            }
        }
        self.offer = Some(offer);
    }

    /// Goes to the kernels or to the suites.
    pub(crate) fn go_to(&mut self, suites: bool) {
        self.is_at_suites = suites;
    }

    pub(crate) fn step(&mut self, step: Move, area: Rect) {
        let rows = self.names(self.is_at_suites).len();
        self.choice().list.step(step, rows, height(area));
    }

    /// Marks what is selected, or takes the mark away.
    pub(crate) fn mark(&mut self) {
        let names = self.names(self.is_at_suites);
        let choice = self.choice();
        if let Some(name) = choice.list.selected(names.len()).map(|at| names[at].clone())
            && !choice.marked.remove(&name)
        {
            choice.marked.insert(name);
        }
    }

    /// Selects and marks what is clicked at.
    pub(crate) fn click(&mut self, area: Rect, (column, row): (u16, u16)) {
        let (_, suites) = halves(area);
        let is_at_suites = column >= suites.x;
        let (rows, list) = (self.names(is_at_suites).len(), self.of(is_at_suites).list);
        let line = row.checked_sub(area.y).and_then(|line| line.checked_sub(1));
        let seen = list.seen(rows, height(area));
        let at = line.map(|line| seen.start + usize::from(line)).filter(|at| seen.contains(at));
        self.is_at_suites = is_at_suites;
        if let Some(at) = at {
            self.choice().list.select(at);
            self.mark();
        }
    }

    /// The arguments of the kilns that are to be started: each marked kernel with each marked suite, or what is selected where nothing is.
    pub(crate) fn calls(&self, results: Option<&str>) -> Vec<Vec<String>> {
        let suites = self.chosen(true);
        let with = |kernel: &String, suite: &String| {
            let words = ["run", kernel, "--suite", suite].into_iter();
            words.chain(results.iter().flat_map(|folder| ["--results", folder])).map(str::to_owned).collect()
        };
        let kernels = self.chosen(false);
        kernels.iter().flat_map(|kernel| suites.iter().map(move |suite| with(kernel, suite))).collect()
    }

    fn chosen(&self, suites: bool) -> Vec<String> {
        let (names, choice) = (self.names(suites), self.of(suites));
        let mut marked: Vec<String> =
            names.iter().filter(|name| choice.marked.contains(*name)).cloned().collect();
        if marked.is_empty() {
            marked.extend(choice.list.selected(names.len()).map(|at| names[at].clone()));
        }
        marked
    }

    fn names(&self, suites: bool) -> Vec<String> {
        self.rows(suites).into_iter().map(|(name, _)| name).collect()
    }

    /// The names of kernels or suites, with what else is to say.
    fn rows(&self, suites: bool) -> Vec<(String, String)> {
        let Some(offer) = &self.offer else { return Vec::new() };
        if suites {
            let row = |suite: &OfferedSuite| (suite.name.clone(), format!("{} cases", suite.cases));
            offer.suites.iter().map(row).collect()
        } else {
            let row = |kernel: &OfferedKernel| (kernel.locator.clone(), kernel.about.clone());
            offer.kernels.iter().map(row).collect()
        }
    }

    fn of(&self, suites: bool) -> &Choice {
        if suites { &self.suites } else { &self.kernels }
    }

    fn choice(&mut self) -> &mut Choice {
        if self.is_at_suites { &mut self.suites } else { &mut self.kernels }
    }

    /// Draws both lists.
    pub(crate) fn draw(&self, area: Rect, buffer: &mut Buffer) {
        let (kernels, suites) = halves(area);
        let Some(offer) = &self.offer else {
            paint::text(buffer, area, 2, DIM, "  looking for kernels");
            return;
        };
        self.draw_half(false, kernels, buffer);
        self.draw_half(true, suites, buffer);
        if offer.kernels.is_empty() {
            paint::text(buffer, kernels, 2, DIM, "  none is here: `kiln kernels` lists what can be fetched");
        }
    }

    fn draw_half(&self, suites: bool, area: Rect, buffer: &mut Buffer) {
        let (rows, Choice { list, marked }) = (self.rows(suites), self.of(suites));
        let is_here = suites == self.is_at_suites;
        let head = if suites { "SUITE" } else { "KERNEL" };
        paint::text(buffer, area, 0, if is_here { BOLD } else { DIM }, format!("      {head}"));
        let selected = list.selected(rows.len());
        for (line, at) in (1..).zip(list.seen(rows.len(), height(area))) {
            let (name, about) = &rows[at];
            let sign = if selected == Some(at) && is_here { ">" } else { " " };
            let mark = if marked.contains(name) { "[x]" } else { "[ ]" };
            let signs = Piece::plain(format!("{sign} {mark} "));
            let pieces = [signs, Piece::plain(name), Piece::new(DIM, format!("  {about}"))];
            paint::pieces(buffer, area, (line, 0), &pieces);
            if sign == ">" {
                paint::whole_line(buffer, area, line, REVERSED);
            }
        }
    }

    /// Draws the command lines.
    pub(crate) fn draw_calls(&self, results: Option<&str>, area: Rect, buffer: &mut Buffer) {
        let calls = self.calls(results);
        let shown = usize::from(area.height.saturating_sub(1));
        let more = calls.len().saturating_sub(shown);
        for (line, arguments) in (1..).zip(calls.iter().take(shown)) {
            let is_last = usize::from(line) == shown && more > 0;
            let rest = if is_last { format!("  and {more} more") } else { String::new() };
            paint::text(buffer, area, line, Style::new(), format!("$ {}{rest}", call(arguments)));
        }
    }
}

/// A call of kiln, as a shell reads it.
pub(crate) fn call(arguments: &[String]) -> String {
    lab::request::words::call(arguments)
}

fn height(area: Rect) -> usize {
    usize::from(area.height.saturating_sub(1))
}

/// Where kernels are, and where suites.
fn halves(area: Rect) -> (Rect, Rect) {
    let width = SUITES.min(area.width / 2);
    let left = area.width - width;
    (Rect { width: left.saturating_sub(1), ..area }, Rect { x: area.x.saturating_add(left), width, ..area })
}

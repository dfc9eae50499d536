//! What is shown, and how it changes.
//!
//! * [`wishes`]: what somebody at the terminal wants becomes another state

mod wishes;

use jiff::Timestamp;
use ratatui::crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::{Rect, Size};
use report::ShownLine;

use crate::areas::Areas;
use crate::list::List;
use crate::look::{Child, Look, Offer, RunRow};
use crate::table::{Table, Target};
use crate::tabs::Tab;
use crate::views::run::RunPage;
use crate::views::session::SessionPage;
use crate::views::start::StartPage;
use crate::views::{changes, problems, sessions};

/// What a user chose.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Colours, besides words and signs.
    pub colour: bool,
    /// A penguin in the corner.
    pub mascot: bool,
    /// The folder of the sessions, where it is not the usual one: calls of kiln name it.
    pub results: Option<String>,
}

/// What happened.
#[derive(Debug, Clone)]
pub enum Input {
    /// A key was pressed.
    Key(KeyEvent),
    /// The mouse was used.
    Mouse(MouseEvent),
    /// The terminal has this size now.
    Size(Size),
    /// What there is now.
    Look(Box<Look>),
    /// Nothing but that time goes on.
    Now(Timestamp),
    /// The Runs of a session that was opened.
    Runs {
        /// The name of the session.
        session: String,
        /// Its Runs, or why they are not known.
        runs: Result<Vec<RunRow>, String>,
    },
    /// The text about a Run that was opened.
    Run {
        /// The name of the session.
        session: String,
        /// The case.
        case: String,
        /// The text, or why there is none.
        lines: Result<Vec<ShownLine>, String>,
    },
    /// What can be started.
    Offer(Offer),
    /// All that was started from here.
    Children(Vec<Child>),
    /// Worth a line.
    Note(String),
}

/// What a state asks of whoever has the terminal, the ledger and the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Read the Runs of a session.
    ReadSession(String),
    /// Read a Run.
    ReadRun {
        /// The name of its session.
        session: String,
        /// Its case.
        case: String,
    },
    /// Look for what can be started.
    ReadOffer,
    /// Start a kiln with each of these arguments.
    Start(Vec<Vec<String>>),
    /// Draw everything again: something else wrote to the terminal.
    Redraw,
    /// Leave.
    Leave {
        /// Stop what was started from here.
        stop: bool,
    },
}

/// What is opened above a view.
#[derive(Debug)]
pub(crate) enum Page {
    Session(SessionPage),
    Run(RunPage),
}

/// What stands above everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overlay {
    Help,
    Leave,
}

/// What is shown.
#[derive(Debug)]
pub struct State {
    pub(crate) options: Options,
    pub(crate) now: Timestamp,
    pub(crate) size: Size,
    /// Nothing has been looked at yet.
    pub(crate) is_first: bool,
    pub(crate) look: Look,
    pub(crate) children: Vec<Child>,
    pub(crate) note: String,
    pub(crate) tab: Tab,
    /// Those of the views that are lists.
    pub(crate) lists: [List; 3],
    pub(crate) start: StartPage,
    pub(crate) pages: Vec<Page>,
    pub(crate) overlay: Option<Overlay>,
}

impl State {
    /// What is shown before anything is known, on a terminal of this size.
    #[must_use]
    pub fn new(options: Options, size: Size, now: Timestamp) -> Self {
        Self {
            options,
            now,
            size,
            is_first: true,
            look: Look::default(),
            children: Vec::new(),
            note: String::new(),
            tab: Tab::Sessions,
            lists: [List::default(); 3],
            start: StartPage::default(),
            pages: Vec::new(),
            overlay: None,
        }
    }

    /// Takes notice of what happened; gives what is to be done.
    pub fn on(&mut self, input: Input) -> Vec<Effect> {
        let effects = match input {
            Input::Key(key) => self.on_key(key),
            Input::Mouse(mouse) => self.on_mouse(mouse),
            Input::Size(size) => {
                self.size = size;
                Vec::new()
            }
            Input::Look(look) => self.on_look(*look),
            Input::Now(now) => {
                self.now = now;
                Vec::new()
            }
            Input::Runs { session, runs } => self.on_runs(&session, runs),
            Input::Run { session, case, lines } => self.on_run(&session, &case, lines),
            Input::Offer(offer) => {
                self.start.offer(offer, &self.look);
                Vec::new()
            }
            Input::Children(children) => {
                self.keep_selected(|state| state.children = children);
                Vec::new()
            }
            Input::Note(note) => {
                self.note = note;
                Vec::new()
            }
        };
        self.settle();
        effects
    }

    /// Has a new look shown; a session that is opened is read again.
    fn on_look(&mut self, look: Look) -> Vec<Effect> {
        if std::mem::take(&mut self.is_first) {
            self.note.clear();
        }
        self.keep_selected(|state| state.look = look);
        let opened = self.pages.iter().filter_map(|page| match page {
            Page::Session(page) => Some(Effect::ReadSession(page.name.clone())),
            Page::Run(_) => None,
        });
        opened.collect()
    }

    fn on_runs(&mut self, session: &str, runs: Result<Vec<RunRow>, String>) -> Vec<Effect> {
        if let Err(why) = &runs {
            self.note.clone_from(why);
        }
        for page in &mut self.pages {
            if let Page::Session(page) = page
                && page.name == session
            {
                let key = page.selected_key();
                page.runs = Some(runs);
                page.select(key.as_deref());
                break;
            }
        }
        Vec::new()
    }

    fn on_run(&mut self, session: &str, case: &str, lines: Result<Vec<ShownLine>, String>) -> Vec<Effect> {
        let pages = self.pages.iter_mut().filter_map(|page| match page {
            Page::Run(page) if page.session == session && page.case == case => Some(page),
            _ => None,
        });
        if let Some(page) = pages.last() {
            match lines {
                Ok(lines) => page.pager.show(lines),
                Err(why) => page.trouble = Some(why),
            }
        }
        Vec::new()
    }

    /// Changes what the lists have; the same rows stay selected.
    fn keep_selected(&mut self, change: impl FnOnce(&mut Self)) {
        let tabs = [Tab::Sessions, Tab::Changes, Tab::Problems];
        let keys = tabs.map(|tab| {
            let table = self.table_of(tab)?;
            let at = self.lists[tab as usize].selected(table.rows.len())?;
            // At the top the newest is looked at.
            (at > 0).then(|| table.rows[at].key.clone())
        });
        change(self);
        for (tab, key) in tabs.into_iter().zip(keys) {
            let place = key.and_then(|key| self.table_of(tab)?.place(&key));
            if let Some(place) = place {
                self.lists[tab as usize].select(place);
            }
        }
    }

    /// The parts of the terminal.
    pub(crate) fn areas(&self) -> Areas {
        Areas::of(Rect::new(0, 0, self.size.width, self.size.height))
    }

    /// The list that a view is; nothing of one that is none.
    pub(crate) fn table_of(&self, tab: Tab) -> Option<Table> {
        match tab {
            Tab::Sessions => Some(sessions::table(&self.look, &self.children, self.now)),
            Tab::Changes => Some(changes::table(&self.look)),
            Tab::Problems => Some(problems::table(&self.look)),
            Tab::Start => None,
        }
    }

    /// The list that is shown, with its place; nothing where a text is, or what can be started.
    pub(crate) fn table(&self) -> Option<(Table, List)> {
        match self.pages.last() {
            None => self.table_of(self.tab).map(|table| (table, self.lists[self.tab as usize])),
            Some(Page::Session(page)) => Some((page.table(), page.list)),
            Some(Page::Run(_)) => None,
        }
    }

    fn list(&mut self) -> Option<&mut List> {
        match self.pages.last_mut() {
            None => self.lists.get_mut(self.tab as usize),
            Some(Page::Session(page)) => Some(&mut page.list),
            Some(Page::Run(_)) => None,
        }
    }

    /// Has what is selected seen, whatever has changed.
    fn settle(&mut self) {
        let height = Table::height(self.areas().body);
        let rows = self.table().map_or(0, |(table, _)| table.rows.len());
        if let Some(list) = self.list() {
            list.settle(rows, height);
        }
    }

    /// The call of kiln that says the same as what is selected.
    pub(crate) fn command(&self) -> Option<Vec<String>> {
        let mut arguments = match (self.pages.last(), self.tab) {
            (Some(Page::Run(page)), _) => vec!["show".to_owned(), page.name()],
            (None, Tab::Start) => return None,
            _ => {
                let (table, list) = self.table()?;
                let at = list.selected(table.rows.len())?;
                table.rows.into_iter().nth(at)?.command
            }
        };
        let has_results = arguments.iter().any(|argument| argument == "--results");
        if let Some(results) = self.options.results.as_ref().filter(|_| !has_results) {
            arguments.extend(["--results".to_owned(), results.clone()]);
        }
        Some(arguments)
    }

    /// Opens what a row leads to.
    fn open(&mut self, target: Target) -> Vec<Effect> {
        match target {
            Target::Session(name) => {
                self.pages.push(Page::Session(SessionPage::new(name.clone())));
                vec![Effect::ReadSession(name)]
            }
            Target::Run(session, case) => {
                self.pages.push(Page::Run(RunPage::new(session.clone(), case.clone())));
                vec![Effect::ReadRun { session, case }]
            }
        }
    }
}

#[cfg(test)]
mod tests;

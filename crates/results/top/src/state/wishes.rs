//! What somebody at the terminal wants.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseEvent};

use super::{Effect, Overlay, Page, State};
use crate::areas::Areas;
use crate::keys::{self, Move, Wish};
use crate::table::Table;
use crate::tabs::Tab;
use crate::views::leave::{self, Answer};
use crate::views::start::PAIRS_MAX;

impl State {
    pub(super) fn on_key(&mut self, key: KeyEvent) -> Vec<Effect> {
        if !keys::is_press(key) {
            return Vec::new();
        }
        if self.overlay == Some(Overlay::Leave) {
            return self.answered(leave::answer(key));
        }
        if self.is_typed(key) {
            return Vec::new();
        }
        keys::wish(key).map_or_else(Vec::new, |wish| self.wanted(wish))
    }

    pub(super) fn on_mouse(&mut self, mouse: MouseEvent) -> Vec<Effect> {
        // The question is answered with a key.
        let wish = keys::mouse_wish(mouse).filter(|_| self.overlay != Some(Overlay::Leave));
        wish.map_or_else(Vec::new, |wish| self.wanted(wish))
    }

    /// Whether a key belongs to a word that is typed.
    fn is_typed(&mut self, key: KeyEvent) -> bool {
        let height = usize::from(self.areas().body.height);
        let Some(Page::Run(page)) = self.pages.last_mut() else { return false };
        if !page.pager.is_typing() {
            return false;
        }
        match key.code {
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => page.pager.stop_typing(),
            KeyCode::Char(c) => page.pager.type_char(c),
            KeyCode::Backspace => page.pager.untype(),
            KeyCode::Enter => page.pager.find(height),
            KeyCode::Esc => page.pager.stop_typing(),
            _ => {}
        }
        true
    }

    fn wanted(&mut self, wish: Wish) -> Vec<Effect> {
        if self.overlay.take().is_some() && !matches!(wish, Wish::Leave | Wish::Redraw) {
            return Vec::new();
        }
        if !self.is_first {
            self.note.clear();
        }
        match wish {
            Wish::Help => self.overlay = Some(Overlay::Help),
            Wish::Leave => return self.leave(),
            Wish::Redraw => return vec![Effect::Redraw],
            Wish::Tab(number) => return Tab::ALL.get(number).map_or_else(Vec::new, |tab| self.go_to(*tab)),
            Wish::NextTab => return self.go_to(self.tab.beside(true)),
            Wish::LastTab => return self.go_to(self.tab.beside(false)),
            Wish::Back => drop(self.pages.pop()),
            Wish::Click { column, row } => return self.click(column, row),
            _ => match self.pages.last() {
                Some(Page::Run(_)) => self.in_text(wish),
                None if self.tab == Tab::Start => return self.in_start(wish),
                _ => return self.in_list(wish),
            },
        }
        Vec::new()
    }

    fn go_to(&mut self, tab: Tab) -> Vec<Effect> {
        self.tab = tab;
        self.pages.clear();
        // What was built or fetched meanwhile is there, too.
        if tab == Tab::Start { vec![Effect::ReadOffer] } else { Vec::new() }
    }

    fn in_list(&mut self, wish: Wish) -> Vec<Effect> {
        let Some((mut table, list)) = self.table() else { return Vec::new() };
        let (rows, height) = (table.rows.len(), Table::height(self.areas().body));
        match wish {
            Wish::Open => {
                let target = list.selected(rows).and_then(|at| table.rows.swap_remove(at).opens);
                return target.map_or_else(Vec::new, |target| self.open(target));
            }
            Wish::Move(step) => {
                if let Some(list) = self.list() {
                    list.step(step, rows, height);
                }
            }
            _ => {}
        }
        Vec::new()
    }

    fn in_text(&mut self, wish: Wish) {
        let height = usize::from(self.areas().body.height);
        let Some(Page::Run(page)) = self.pages.last_mut() else { return };
        let pager = &mut page.pager;
        match wish {
            Wish::Move(step) => pager.step(step, height),
            Wish::Mark => pager.step(Move::PageDown, height),
            Wish::Open => pager.step(Move::Lines(1), height),
            Wish::Left => pager.sideways(false),
            Wish::Right => pager.sideways(true),
            Wish::Search => pager.begin_to_type(),
            Wish::NextMatch => pager.next_match(true, height),
            Wish::MatchBefore => pager.next_match(false, height),
            _ => {}
        }
    }

    fn in_start(&mut self, wish: Wish) -> Vec<Effect> {
        let body = self.areas().body;
        match wish {
            Wish::Move(step) => self.start.step(step, body),
            Wish::Left => self.start.go_to(false),
            Wish::Right => self.start.go_to(true),
            Wish::Mark => self.start.mark(),
            Wish::Open => return self.start_chosen(),
            _ => {}
        }
        Vec::new()
    }

    fn start_chosen(&mut self) -> Vec<Effect> {
        let calls = self.start.calls(self.options.results.as_deref());
        if calls.is_empty() || calls.len() > PAIRS_MAX {
            self.note = format!("{} runs are chosen: choose 1 to {PAIRS_MAX}", calls.len());
            return Vec::new();
        }
        self.go_to(Tab::Sessions);
        self.note = format!("started: {}", calls.len());
        vec![Effect::Start(calls)]
    }

    fn click(&mut self, column: u16, row: u16) -> Vec<Effect> {
        let Areas { tabs, body, .. } = self.areas();
        let is_in = |area: ratatui::layout::Rect| (area.y..area.bottom()).contains(&row);
        if is_in(tabs) {
            return Tab::at(column).map_or_else(Vec::new, |tab| self.go_to(tab));
        }
        if !is_in(body) {
            return Vec::new();
        }
        if self.pages.is_empty() && self.tab == Tab::Start {
            self.start.click(body, (column, row));
            return Vec::new();
        }
        let Some((table, list)) = self.table() else { return Vec::new() };
        let Some(at) = table.row_at(list, body, row) else { return Vec::new() };
        // The first click selects, and one at what is selected opens.
        if list.selected(table.rows.len()) == Some(at) {
            return self.in_list(Wish::Open);
        }
        if let Some(list) = self.list() {
            list.select(at);
        }
        Vec::new()
    }

    fn leave(&mut self) -> Vec<Effect> {
        if self.children.iter().any(|child| child.ended.is_none()) {
            self.overlay = Some(Overlay::Leave);
            return Vec::new();
        }
        vec![Effect::Leave { stop: false }]
    }

    fn answered(&mut self, answer: Option<Answer>) -> Vec<Effect> {
        match answer {
            None => Vec::new(),
            Some(Answer::Stay) => {
                self.overlay = None;
                Vec::new()
            }
            Some(Answer::GoOn) => vec![Effect::Leave { stop: false }],
            Some(Answer::Stop) => vec![Effect::Leave { stop: true }],
        }
    }
}

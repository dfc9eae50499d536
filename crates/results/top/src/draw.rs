//! From a state to a frame.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::areas::Areas;
use crate::mascot;
use crate::paint::{self, BOLD, DIM, Piece};
use crate::state::{Overlay, Page, State};
use crate::tabs::{NAME, Tab};
use crate::views::{help, leave, problems, sessions, start};

/// Draws all of it.
pub fn draw(state: &State, frame: &mut Frame<'_>) {
    let areas = Areas::of(frame.area());
    let buffer = frame.buffer_mut();
    draw_tabs(state, areas.tabs, buffer);
    draw_body(state, areas, buffer);
    draw_keys(state, areas.keys, buffer);
    if let Some(overlay) = state.overlay {
        draw_over(state, overlay, areas, buffer);
    }
    if !state.options.colour {
        paint::without_colours(buffer);
    }
}

fn draw_tabs(state: &State, area: Rect, buffer: &mut Buffer) {
    let labels = Tab::ALL.into_iter().map(|tab| {
        let is_shown = tab == state.tab;
        Piece::new(if is_shown { BOLD } else { Style::new() }, tab.label(is_shown))
    });
    let pieces: Vec<Piece> = std::iter::once(Piece::new(BOLD, NAME)).chain(labels).collect();
    let end = paint::pieces(buffer, area, (0, 0), &pieces);
    let (running, open) = (sessions::running(&state.look), problems::open(&state.look));
    let said = format!("{running} running, {open} open");
    let column = area.width.saturating_sub(u16::try_from(said.len()).unwrap_or(u16::MAX));
    if column > end {
        paint::pieces(buffer, area, (0, column), &[Piece::new(DIM, said)]);
    }
}

fn draw_body(state: &State, areas: Areas, buffer: &mut Buffer) {
    let Areas { body, details, .. } = areas;
    rule(details, buffer);
    let results = state.options.results.as_deref();
    match (state.pages.last(), state.tab) {
        (Some(Page::Run(page)), _) => {
            page.pager.draw(body, buffer);
            let trouble = page.trouble.clone().unwrap_or_default();
            paint::text(buffer, details, 1, Style::new(), page.name());
            paint::text(buffer, details, 2, BOLD, &trouble);
            paint::text(buffer, details, 3, Style::new(), page.pager.status());
        }
        (None, Tab::Start) => {
            state.start.draw(body, buffer);
            state.start.draw_calls(results, details, buffer);
        }
        _ => draw_list(state, areas, buffer),
    }
    let command = match (state.pages.is_empty(), state.tab) {
        (true, Tab::Start) if details.height > 0 => None,
        (true, Tab::Start) => state.start.calls(results).into_iter().next(),
        _ => state.command(),
    };
    if let Some(command) = command {
        paint::text(buffer, areas.command, 0, DIM, format!("$ {}", start::call(&command)));
    }
}

fn draw_list(state: &State, areas: Areas, buffer: &mut Buffer) {
    let Some((table, list)) = state.table() else { return };
    if state.is_first && state.pages.is_empty() {
        paint::text(buffer, areas.body, 2, DIM, "  reading");
        return;
    }
    let free = table.draw(list, areas.body, buffer);
    if let Some(row) = list.selected(table.rows.len()).map(|at| &table.rows[at]) {
        for (line, text) in (1..).zip(&row.details) {
            paint::text(buffer, areas.details, line, Style::new(), text);
        }
    }
    if state.options.mascot {
        mascot::draw(state.now, free, areas.body, buffer);
    }
}

/// What is above the details.
fn rule(area: Rect, buffer: &mut Buffer) {
    paint::text(buffer, area, 0, DIM, "-".repeat(usize::from(area.width)));
}

fn draw_keys(state: &State, area: Rect, buffer: &mut Buffer) {
    let typed = match state.pages.last() {
        Some(Page::Run(page)) if page.pager.is_typing() => Some(page.pager.status()),
        _ => None,
    };
    let (style, text) = match typed {
        _ if state.overlay == Some(Overlay::Leave) => (BOLD, "g go on  s stop  c stay".to_owned()),
        Some(typed) => (Style::new(), typed),
        None if !state.note.is_empty() => (BOLD, state.note.clone()),
        None => (DIM, keys(state).to_owned()),
    };
    paint::text(buffer, area, 0, style, text);
}

fn keys(state: &State) -> &'static str {
    match (state.pages.last(), state.tab) {
        (Some(Page::Run(_)), _) => "/ search  n N next, before  Esc back  ? keys  q leave",
        (Some(Page::Session(_)), _) => "Enter open  Esc back  ? keys  q leave",
        (None, Tab::Start) => "Space mark  Left Right kernels, suites  Enter start  ? keys  q leave",
        (None, _) => "Enter open  Tab next view  ? keys  q leave",
    }
}

fn draw_over(state: &State, overlay: Overlay, areas: Areas, buffer: &mut Buffer) {
    let (body, details) = (areas.body, areas.details);
    let area = Rect { height: body.height + details.height, ..body };
    for line in 0..area.height {
        paint::text(buffer, area, line, Style::reset(), " ".repeat(usize::from(area.width)));
    }
    buffer.set_style(area.intersection(buffer.area), Style::reset());
    match overlay {
        Overlay::Help => help::draw(area, buffer),
        Overlay::Leave => leave::draw(&state.children, area, buffer),
    }
}

#[cfg(test)]
mod tests;

//! What a terminal shows that gets these bytes.

/// Lines and columns of the largest terminal of a test.
const SIZE: (usize, usize) = (100, 200);

/// What is shown, without the blanks at the ends of lines.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut screen = Screen { cells: vec![vec![' '; SIZE.1]; SIZE.0], line: 0, column: 0 };
    let mut rest = text.as_ref();
    while let Some(first) = rest.chars().next() {
        rest = match rest.strip_prefix("\x1b[") {
            Some(sequence) => screen.control(sequence),
            None => {
                screen.put(first);
                &rest[first.len_utf8()..]
            }
        };
    }
    screen.cells.iter().map(|line| line.iter().collect::<String>().trim_end().to_owned() + "\n").collect()
}

struct Screen {
    cells: Vec<Vec<char>>,
    line: usize,
    column: usize,
}

impl Screen {
    fn put(&mut self, c: char) {
        match c {
            '\r' => self.column = 0,
            '\n' => self.line += 1,
            _ if c.is_control() => {}
            _ => {
                if let Some(cell) = self.cells.get_mut(self.line).and_then(|line| line.get_mut(self.column)) {
                    *cell = c;
                }
                self.column += 1;
            }
        }
    }

    /// Does what the rest of a sequence says; gives what follows it.
    fn control<'t>(&mut self, sequence: &'t str) -> &'t str {
        let Some(end) = sequence.find(|c: char| ('@'..='~').contains(&c)) else { return "" };
        let numbers: Vec<usize> = sequence[..end].split(';').map(|part| part.parse().unwrap_or(0)).collect();
        let number = |at: usize| numbers.get(at).copied().unwrap_or(0);
        match &sequence[end..=end] {
            "H" => (self.line, self.column) = (number(0).saturating_sub(1), number(1).saturating_sub(1)),
            "J" if number(0) == 2 => self.cells.iter_mut().for_each(|line| line.fill(' ')),
            "J" => {
                self.erase_line();
                self.cells.iter_mut().skip(self.line + 1).for_each(|line| line.fill(' '));
            }
            "K" => self.erase_line(),
            // What is shown meanwhile has another screen.
            "h" | "l" if &sequence[..end] == "?1049" => self.cells.iter_mut().for_each(|line| line.fill(' ')),
            _ => {}
        }
        &sequence[end + 1..]
    }

    fn erase_line(&mut self) {
        let line = self.cells.get_mut(self.line);
        line.into_iter().flat_map(|line| line.iter_mut().skip(self.column)).for_each(|cell| *cell = ' ');
    }
}

#[test]
fn text_stands_where_the_cursor_was() {
    let text = shown(b"old\x1b[2Jx\x1b[2;3H\x1b[1mab\x1b[0m\x1b[1;1Hcd\x1b[3;1Hgone\x1b[3;2H\x1b[K");
    assert!(text.starts_with("cd x\n  ab\ng\n\n"), "{text}");
}

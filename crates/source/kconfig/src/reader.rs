//! Follows the blocks and the included files of a tree and takes down what they define.

use std::sync::Arc;

use super::attributes::{Line, of_block, of_comment, of_symbol};
use super::error::{Error, Place, plain, quoted};
use super::expression::Tokens;
use super::lexer::{Lexer, Statement, Token, What};
use super::macros::{Failure, Macros, Variables};
use super::symbols::{Definition, Scope, Symbols};

/// Most files, counted as often as they are included. Linux 6.12 has 1500 for one architecture.
const FILES_MAX: usize = 20_000;

/// Most files inside each other.
const SOURCE_DEPTH_MAX: usize = 64;

/// Most bytes of all files. Linux 6.12 has 6 MB for one architecture.
const BYTES_MAX: usize = 64 << 20;

/// Most blocks inside each other.
const BLOCK_DEPTH_MAX: usize = 64;

/// Most characters of a symbol's name; Linux stays below 70.
const NAME_MAX: usize = 256;

/// A file that is being read.
#[derive(Debug)]
struct Open {
    name: Arc<str>,
    lexer: Lexer,
    /// How many blocks were open when it began: it must close its own, and no others.
    blocks: usize,
}

#[derive(Debug)]
struct Block {
    keyword: &'static str,
    scope: usize,
}

/// What the next lines with attributes belong to.
#[derive(Debug)]
enum Entry {
    None,
    Comment,
    Block(usize),
    Symbol(String, Definition),
}

impl Symbols {
    /// Reads the file `Kconfig` and all that it includes.
    ///
    /// `variables` are those that make would pass on: `SRCARCH` and `ARCH` always, `SUBARCH` and `HEADER_ARCH` for
    /// User-Mode Linux; one that is missing is empty. `file` gives the text of a file by its path from the top of
    /// the tree, which never leads out of it by its names; or it says why it cannot. Links are its own business.
    ///
    /// # Errors
    ///
    /// Of the first file that cannot be read, the first statement that Kconfig would refuse too, or the limit that
    /// was reached.
    pub fn read(
        variables: &Variables,
        file: &mut dyn FnMut(&str) -> Result<String, String>,
    ) -> Result<Self, Error> {
        let arch = variables.get("SRCARCH").cloned().unwrap_or_default();
        Reader::new(variables, file, Self::of(arch)).read("Kconfig")
    }
}

struct Reader<'a> {
    read: &'a mut dyn FnMut(&str) -> Result<String, String>,
    variables: &'a Variables,
    macros: Macros<'a>,
    files: Vec<Open>,
    blocks: Vec<Block>,
    entry: Entry,
    found: Symbols,
    included: usize,
    bytes: usize,
}

type Done = Result<(), Error>;

impl<'a> Reader<'a> {
    fn new(
        variables: &'a Variables,
        read: &'a mut dyn FnMut(&str) -> Result<String, String>,
        found: Symbols,
    ) -> Self {
        Self {
            read,
            variables,
            macros: Macros::new(variables),
            files: Vec::new(),
            blocks: Vec::new(),
            entry: Entry::None,
            found,
            included: 0,
            bytes: 0,
        }
    }

    /// Reads a file and all that it includes.
    fn read(mut self, path: &str) -> Result<Symbols, Error> {
        let top = Place { file: path.into(), line: 0 };
        self.open(path, top)?;
        while let Some(file) = self.files.last_mut() {
            let name = Arc::clone(&file.name);
            let next = file.lexer.next(&mut self.macros);
            let at = Place { file: name, line: file.lexer.line() };
            match next.map_err(|failure| failed(failure, &at))? {
                Some(Statement { line, what }) => self.take(what, Place { line, ..at })?,
                None => self.close_file(at)?,
            }
        }
        Ok(self.found)
    }

    fn take(&mut self, what: What, place: Place) -> Done {
        match what {
            What::Assignment(name, how, value) => {
                self.macros.assign(&name, how, &value).map_err(|failure| failed(failure, &place))
            }
            What::Source(path, is_unknown) => self.source(&path, is_unknown, place),
            What::Tokens(tokens) => match tokens.split_first() {
                Some((Token::Word(keyword), rest)) => self.statement(keyword, rest, place),
                _ => {
                    self.found.pass_over(place);
                    Ok(())
                }
            },
        }
    }

    fn statement(&mut self, keyword: &str, tokens: &[Token], place: Place) -> Done {
        match keyword {
            "config" | "menuconfig" => self.config(tokens, place),
            "menu" | "choice" | "if" => self.open_block(keyword, tokens, place),
            "endmenu" | "endchoice" | "endif" => self.close_block(keyword, place),
            "comment" | "mainmenu" => {
                self.close_entry();
                self.entry = Entry::Comment;
                Ok(())
            }
            "help" | "---help---" => {
                if let Some(file) = self.files.last_mut() {
                    file.lexer.skip_help();
                }
                Ok(())
            }
            _ => match self.attribute(keyword, &mut Tokens(tokens)) {
                Line::Taken => Ok(()),
                Line::Broken => Err(broken(keyword, place)),
                Line::Unknown => {
                    self.found.pass_over(place);
                    Ok(())
                }
            },
        }
    }

    fn config(&mut self, tokens: &[Token], place: Place) -> Done {
        self.close_entry();
        let [Token::Word(name)] = tokens else { return Err(broken("config", place)) };
        if name.len() > NAME_MAX {
            return Err(Error::Limit { place, what: "characters in a name", limit: NAME_MAX });
        }
        let scope = self.blocks.last().map(|block| block.scope);
        self.entry = Entry::Symbol(name.clone(), Definition::new(place, scope));
        Ok(())
    }

    fn attribute(&mut self, keyword: &str, tokens: &mut Tokens<'_>) -> Line {
        match &mut self.entry {
            Entry::None => Line::Unknown,
            Entry::Comment => of_comment(keyword, tokens),
            Entry::Block(scope) => {
                self.found.scope_mut(*scope).map_or(Line::Unknown, |scope| of_block(scope, keyword, tokens))
            }
            Entry::Symbol(name, definition) => {
                if keyword == "modules" || keyword == "option" && tokens.take_word("modules") {
                    self.found.set_modules(name);
                }
                of_symbol(definition, keyword, tokens)
            }
        }
    }

    fn open_block(&mut self, keyword: &str, tokens: &[Token], place: Place) -> Done {
        self.close_entry();
        if self.blocks.len() >= BLOCK_DEPTH_MAX {
            let what = "nested blocks";
            return Err(Error::Limit { place, what, limit: BLOCK_DEPTH_MAX });
        }
        let keyword = match keyword {
            "menu" => "menu",
            "choice" => "choice",
            _ => "if",
        };
        let mut depends = Vec::new();
        if keyword == "if" {
            let mut tokens = Tokens(tokens);
            let condition = tokens.expression().filter(|_| tokens.0.is_empty());
            depends.push(condition.ok_or_else(|| broken(keyword, place))?);
        }
        let parent = self.blocks.last().map(|block| block.scope);
        let is_choice = keyword == "choice";
        let scope = self.found.open(Scope { parent, depends, visible: Vec::new(), is_choice, kind: None });
        self.blocks.push(Block { keyword, scope });
        self.entry = if keyword == "if" { Entry::None } else { Entry::Block(scope) };
        Ok(())
    }

    fn close_block(&mut self, keyword: &str, place: Place) -> Done {
        self.close_entry();
        let opened_before = self.files.last().map_or(0, |file| file.blocks);
        match self.blocks.last() {
            Some(block)
                if self.blocks.len() > opened_before
                    && keyword.strip_prefix("end") == Some(block.keyword) =>
            {
                self.blocks.pop();
                Ok(())
            }
            _ => Err(Error::Syntax { place, what: format!("{keyword} closes no block of this file") }),
        }
    }

    fn source(&mut self, path: &str, is_unknown: bool, place: Place) -> Done {
        self.close_entry();
        if is_unknown {
            let what = "cannot resolve the path of this source line".to_owned();
            return Err(Error::Syntax { place, what });
        }
        let path = self.old_variables(path);
        self.open(&path, place)
    }

    /// Before 4.18 the paths had variables without parentheses, as in `arch/$SRCARCH/Kconfig`.
    fn old_variables(&self, path: &str) -> String {
        let mut parts = path.split('$');
        let mut expanded = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(part.len());
            expanded.push_str(self.variables.get(&part[..end]).map_or("", String::as_str));
            expanded.push_str(&part[end..]);
        }
        expanded
    }

    fn open(&mut self, path: &str, place: Place) -> Done {
        self.close_entry();
        if !is_inside(path) {
            return Err(Error::Outside { place, path: quoted(path) });
        }
        let limit = |what, limit| Err(Error::Limit { place: place.clone(), what, limit });
        self.included += 1;
        if self.included > FILES_MAX {
            return limit("included files", FILES_MAX);
        }
        if self.files.len() >= SOURCE_DEPTH_MAX {
            return limit("nested files", SOURCE_DEPTH_MAX);
        }
        let text = match (self.read)(path) {
            Ok(text) => text,
            Err(reason) => return Err(Error::Unreadable { place, path: quoted(path), reason }),
        };
        self.bytes = self.bytes.saturating_add(text.len());
        if self.bytes > BYTES_MAX {
            return limit("bytes of Kconfig files", BYTES_MAX);
        }
        self.files.push(Open { name: path.into(), lexer: Lexer::new(text), blocks: self.blocks.len() });
        Ok(())
    }

    fn close_file(&mut self, place: Place) -> Done {
        self.close_entry();
        match self.files.pop() {
            Some(file) if file.blocks != self.blocks.len() => {
                let keyword = self.blocks.last().map_or("if", |block| block.keyword);
                Err(Error::Syntax { place, what: format!("the file ends without end{keyword}") })
            }
            _ => Ok(()),
        }
    }

    fn close_entry(&mut self) {
        if let Entry::Symbol(name, definition) = std::mem::replace(&mut self.entry, Entry::None) {
            self.found.define(name, definition);
        }
    }
}

fn broken(keyword: &str, place: Place) -> Error {
    Error::Syntax { place, what: format!("cannot understand this {} line", plain(keyword)) }
}

fn failed(failure: Failure, place: &Place) -> Error {
    let place = place.clone();
    match failure {
        Failure::Syntax(what) => Error::Syntax { place, what: what.to_owned() },
        Failure::TooMuch(what, limit) => Error::Limit { place, what, limit },
    }
}

/// Whether a path stays below the folder that it begins in, as far as its text tells.
fn is_inside(path: &str) -> bool {
    let is_step = |step: &str| !step.is_empty() && step != "..";
    !path.starts_with('/') && !path.contains('\0') && path.split('/').all(is_step)
}

#[cfg(test)]
mod tests;

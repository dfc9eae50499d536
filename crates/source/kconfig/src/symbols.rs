//! The symbols of a tree: what its Kconfig files say of each option.

use std::collections::HashMap;

use super::error::Place;
use super::expression::{Expression, Operand};

/// What an option can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Tristate,
    Text,
    Number,
    Hex,
}

/// A block around definitions, whose conditions hold for all of them.
#[derive(Debug)]
pub(super) struct Scope {
    pub(super) parent: Option<usize>,
    /// `depends on`, the condition of an `if`, the prompt's condition of a choice.
    pub(super) depends: Vec<Expression>,
    /// `visible if`, which hides only the prompts.
    pub(super) visible: Vec<Expression>,
    /// Only one of the options in it can be `y`.
    pub(super) is_choice: bool,
    /// What a choice gives to its options that have no type of their own.
    pub(super) kind: Option<Kind>,
}

/// One `config` statement with its lines. A symbol may have several.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) place: Place,
    pub(super) scope: Option<usize>,
    pub(super) kind: Option<Kind>,
    pub(super) depends: Vec<Expression>,
    /// For each prompt its condition. Without a prompt nobody can set the option.
    pub(super) prompts: Vec<Option<Expression>>,
    pub(super) defaults: Vec<(Expression, Option<Expression>)>,
    pub(super) ranges: Vec<(Operand, Operand, Option<Expression>)>,
    pub(super) selects: Vec<(String, Option<Expression>)>,
}

impl Definition {
    /// One without any lines yet.
    pub(super) fn new(place: Place, scope: Option<usize>) -> Self {
        Self {
            place,
            scope,
            kind: None,
            depends: Vec::new(),
            prompts: Vec::new(),
            defaults: Vec::new(),
            ranges: Vec::new(),
            selects: Vec::new(),
        }
    }
}

/// One `select` seen from what it selects: by whom, in which of its definitions, in which of its lines.
#[derive(Debug, Clone)]
struct Selection {
    by: String,
    definition: usize,
    line: usize,
}

/// Who selects an option, and under which conditions.
#[derive(Debug)]
pub(super) struct Selector<'a> {
    pub(super) name: &'a str,
    pub(super) definition: &'a Definition,
    pub(super) condition: Option<&'a Expression>,
}

/// All that the Kconfig files of a tree define, for one architecture.
#[derive(Debug, Default)]
pub struct Symbols {
    symbols: HashMap<String, Vec<Definition>>,
    /// In the order of reading.
    names: Vec<String>,
    scopes: Vec<Scope>,
    selections: HashMap<String, Vec<Selection>>,
    members: HashMap<usize, Vec<String>>,
    modules: Option<String>,
    passed_over: Vec<Place>,
    arch: String,
}

impl Symbols {
    /// None yet, of this architecture.
    pub(super) fn of(arch: String) -> Self {
        Self { arch, ..Self::default() }
    }

    /// Every option that is defined, in the order of reading.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Whether a user can set an option at all, be it in another configuration.
    pub fn has_prompt(&self, name: &str) -> bool {
        self.definitions(name).iter().any(|definition| !definition.prompts.is_empty())
    }

    /// Whether an option is on, off or a module, and not a text or a number.
    pub fn is_switch(&self, name: &str) -> bool {
        matches!(self.kind(name), Some(Kind::Bool | Kind::Tristate))
    }

    /// The number of the choice that an option is in.
    pub fn choice_of(&self, name: &str) -> Option<usize> {
        self.definitions(name).iter().find_map(|definition| self.choice(definition))
    }

    /// Lines with a keyword that is not known here, such as those of a later Kconfig; in the order of reading.
    pub fn passed_over(&self) -> &[Place] {
        &self.passed_over
    }

    /// The architecture that the tree was read for, as its folder below `arch` is called.
    pub(super) fn arch(&self) -> &str {
        &self.arch
    }

    /// The symbol that allows modules.
    pub(super) fn modules(&self) -> Option<&str> {
        self.modules.as_deref()
    }

    /// Every definition of a symbol, in the order of reading; none if it is not defined.
    pub(super) fn definitions(&self, name: &str) -> &[Definition] {
        self.symbols.get(name).map_or(&[], Vec::as_slice)
    }

    /// The type of a symbol.
    pub(super) fn kind(&self, name: &str) -> Option<Kind> {
        let definitions = self.definitions(name);
        let own = definitions.iter().find_map(|definition| definition.kind);
        own.or_else(|| definitions.iter().find_map(|definition| self.choice_kind(definition)))
    }

    /// All that must hold for a definition, from the outermost block inwards.
    pub(super) fn depends<'a>(&'a self, definition: &'a Definition) -> Vec<&'a Expression> {
        let around = self.around(definition);
        let around = around.iter().rev().flat_map(|(_, scope)| &scope.depends);
        around.chain(&definition.depends).collect()
    }

    /// All that must hold besides for the prompts of a definition, if it has prompts at all: the menus' part.
    pub(super) fn visible<'a>(&'a self, definition: &Definition) -> Vec<&'a Expression> {
        self.around(definition).iter().rev().flat_map(|(_, scope)| &scope.visible).collect()
    }

    /// Every `select` of a symbol.
    pub(super) fn selectors(&self, name: &str) -> impl Iterator<Item = Selector<'_>> {
        self.selections.get(name).into_iter().flatten().filter_map(|selection| {
            let definition = self.definitions(&selection.by).get(selection.definition)?;
            let (_, condition) = definition.selects.get(selection.line)?;
            Some(Selector { name: &selection.by, definition, condition: condition.as_ref() })
        })
    }

    /// The other options of the choice that a symbol is in.
    pub(super) fn rivals<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let choices = self.definitions(name).iter().filter_map(|definition| self.choice(definition));
        let members = choices.filter_map(|choice| self.members.get(&choice)).flatten();
        members.map(String::as_str).filter(move |member| *member != name)
    }

    /// The blocks around a definition, innermost first.
    fn around(&self, definition: &Definition) -> Vec<(usize, &Scope)> {
        let scope = |at: Option<usize>| Some((at?, self.scopes.get(at?)?));
        std::iter::successors(scope(definition.scope), |(_, inner)| scope(inner.parent)).collect()
    }

    fn choice(&self, definition: &Definition) -> Option<usize> {
        self.around(definition).iter().find(|(_, scope)| scope.is_choice).map(|(at, _)| *at)
    }

    fn choice_kind(&self, definition: &Definition) -> Option<Kind> {
        let choice = self.choice(definition)?;
        self.scopes.get(choice).map(|scope| scope.kind.unwrap_or(Kind::Bool))
    }

    /// Takes in a symbol's next definition.
    pub(super) fn define(&mut self, name: String, definition: Definition) {
        if let Some(choice) = self.choice(&definition) {
            self.members.entry(choice).or_default().push(name.clone());
        }
        let at = self.definitions(&name).len();
        for (line, (target, _)) in definition.selects.iter().enumerate() {
            let selection = Selection { by: name.clone(), definition: at, line };
            self.selections.entry(target.clone()).or_default().push(selection);
        }
        if at == 0 {
            self.names.push(name.clone());
        }
        self.symbols.entry(name).or_default().push(definition);
    }

    /// Takes in a block; says by which number definitions refer to it.
    pub(super) fn open(&mut self, scope: Scope) -> usize {
        self.scopes.push(scope);
        self.scopes.len() - 1
    }

    /// A block that is still being read.
    pub(super) fn scope_mut(&mut self, at: usize) -> Option<&mut Scope> {
        self.scopes.get_mut(at)
    }

    /// Says which symbol allows modules.
    pub(super) fn set_modules(&mut self, name: &str) {
        self.modules = Some(name.to_owned());
    }

    /// Notes a line whose keyword is not known.
    pub(super) fn pass_over(&mut self, place: Place) {
        self.passed_over.push(place);
    }
}

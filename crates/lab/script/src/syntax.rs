//! From the text of a script to its tree.

use std::collections::HashMap;

use starlark::codemap::FileSpan;
use starlark::syntax::AstModule;
use starlark_syntax::codemap::Span;
use starlark_syntax::syntax::ast::AstStmt;
use starlark_syntax::syntax::module::AstModuleFields;

use crate::dialect::dialect;
use crate::problem::Problem;
use crate::rewrite::{RESERVED, Rewritten, SHIFT, TIMES};
use crate::source::{Position, SOURCE_BYTES, Source, bytes};

/// A file that was parsed.
#[derive(Debug, Clone)]
pub(crate) struct Parsed {
    pub(crate) source: Source,
    tree: AstModule,
    rewritten: Rewritten,
}

impl Parsed {
    /// Parses a file.
    pub(crate) fn new(source: Source) -> Result<Self, Problem> {
        if source.text.len() > SOURCE_BYTES {
            return Err(Problem::new(format!("{} has more than {} KiB", source.name, SOURCE_BYTES / 1024)));
        }
        crate::nesting::check(&source)?;
        if let Some(at) = source.text.find(RESERVED) {
            return Err(Problem::at(&source, at, format!("names with {RESERVED} are kiln's own")));
        }
        let tree = AstModule::parse(&source.name, source.text.clone(), &dialect());
        let tree = tree.map_err(|error| syntax_problem(&source, &error))?;
        let rewritten = Rewritten::new(&source.text, tree.statement());
        Ok(Self { source, tree, rewritten })
    }

    /// The tree as the user wrote it.
    pub(crate) fn statement(&self) -> &AstStmt {
        self.tree.statement()
    }

    /// The file, for the analyses of the interpreter.
    pub(crate) fn module(&self) -> &AstModule {
        &self.tree
    }

    /// What is evaluated.
    pub(crate) fn counted(&self) -> Result<AstModule, Problem> {
        let tree = AstModule::parse(&self.source.name, self.rewritten.text.clone(), &dialect());
        let mut tree =
            tree.map_err(|error| Problem::new(format!("kiln misread {}: {error}", self.source.name)))?;
        let replaced = [("*", TIMES), ("<<", SHIFT)];
        let replaced = replaced.map(|(operator, function)| (operator.to_owned(), function.to_owned()));
        tree.replace_binary_operators(&HashMap::from(replaced));
        Ok(tree)
    }

    /// Something about a part of the tree.
    pub(crate) fn problem(&self, span: Span, text: impl Into<String>) -> Problem {
        Problem::at(&self.source, bytes(span).start, text)
    }

    /// The bytes of the source that a part of what is evaluated stands for.
    pub(crate) fn original(&self, span: Span) -> std::ops::Range<usize> {
        let bytes = bytes(span);
        self.rewritten.original(bytes.start)..self.rewritten.original(bytes.end)
    }
}

/// All files of a script, by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Files(HashMap<String, Parsed>);

impl Files {
    pub(crate) fn insert(&mut self, file: Parsed) {
        self.0.insert(file.source.name.clone(), file);
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Parsed> {
        self.0.get(name)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Where something is that is evaluated.
    pub(crate) fn position(&self, span: &FileSpan) -> Option<Position> {
        let file = self.get(span.filename())?;
        Some(file.source.position(file.original(span.span).start))
    }

    /// Something about a place of what is evaluated.
    pub(crate) fn problem(&self, span: Option<&FileSpan>, text: String) -> Problem {
        let place = span.and_then(|span| Some((self.get(span.filename())?, span.span)));
        match place {
            Some((file, span)) => Problem::at(&file.source, file.original(span).start, text),
            None => Problem::new(text),
        }
    }
}

fn syntax_problem(source: &Source, error: &starlark::Error) -> Problem {
    let text = error.without_diagnostic().to_string();
    let text = text.strip_prefix("Parse error: ").unwrap_or(&text);
    // What could come instead is a list of nearly all words of the language.
    let text = text.split(", expected one of").next().unwrap_or(text);
    match error.span() {
        Some(span) => Problem::at(source, bytes(span.span).start, text),
        None => Problem::new(format!("{}: {text}", source.name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Parsed, Problem> {
        Parsed::new(Source::new("a.star", text))
    }

    #[test]
    fn what_counts_is_added_and_places_stay() {
        let text = "x = [(a, b) for (a, b) in (p) for c in [y for y in q if y] if c]\nx *= (2)\n{k: v for k in (1, 2)}\n";
        let file = parsed(text).unwrap();
        insta::assert_snapshot!("rewritten", file.rewritten.text);
        assert!(file.counted().is_ok());
        let places =
            |text: &str| text.match_indices(['q', '2', 'c', 'v']).map(|(at, _)| at).collect::<Vec<_>>();
        let moved: Vec<usize> = places(&file.rewritten.text)
            .into_iter()
            .map(|at| file.rewritten.original(at))
            .filter(|at| text.get(*at..).is_some_and(|rest| rest.starts_with(['q', '2', 'c', 'v'])))
            .collect();
        for at in places(text) {
            assert!(moved.contains(&at), "{at}");
        }
    }

    #[test]
    fn errors_of_syntax_point_to_their_place() {
        let wrong = [
            "def f(:\n  pass\n",
            "x = 'abc\n",
            "if x:\n  y = 1\n z = 2\n",
            "_kiln_over = 1\n",
            "import os\n",
            "for x in y\n",
            "x = \u{feff}1\n",
        ];
        let said = wrong.map(|text| parsed(text).unwrap_err().to_string());
        insta::assert_snapshot!("syntax", said.join("\n"));
    }
}

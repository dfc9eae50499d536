//! The lines below a `config`, `choice` or `menu`.

use super::expression::{Expression, Tokens};
use super::lexer::Token;
use super::symbols::{Definition, Kind, Scope};

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    /// It was taken down, or says nothing that matters here.
    Taken,
    /// It begins with a known keyword and goes on in a way that Kconfig would not take.
    Broken,
    /// Its keyword is not known.
    Unknown,
}

/// Takes down a line of a symbol.
pub(super) fn of_symbol(definition: &mut Definition, keyword: &str, tokens: &mut Tokens<'_>) -> Line {
    let taken = match keyword {
        "depends" => depends(tokens).map(|condition| definition.depends.push(condition)),
        "prompt" => prompt(tokens).map(|condition| definition.prompts.push(condition)),
        "default" | "def_bool" | "def_tristate" => {
            definition.kind = kind(keyword).or(definition.kind);
            default(tokens).map(|default| definition.defaults.push(default))
        }
        "select" | "imply" => target(tokens).map(|target| {
            // What is implied can still be switched off: it explains nothing.
            if keyword == "select" {
                definition.selects.push(target);
            }
        }),
        "range" => range(definition, tokens),
        "modules" | "optional" | "option" => Some(()),
        _ => {
            let Some(kind) = kind(keyword) else { return Line::Unknown };
            definition.kind = Some(kind);
            typed_prompt(tokens).map(|prompt| definition.prompts.extend(prompt))
        }
    };
    line(taken, tokens, keyword)
}

/// Takes down a line of a menu or a choice.
pub(super) fn of_block(scope: &mut Scope, keyword: &str, tokens: &mut Tokens<'_>) -> Line {
    let taken = match keyword {
        "depends" => depends(tokens).map(|condition| scope.depends.push(condition)),
        "visible" => tokens.condition().map(|condition| scope.visible.extend(condition)),
        // Without its prompt a choice offers nothing.
        "prompt" => prompt(tokens).map(|condition| scope.depends.extend(condition)),
        "default" => default(tokens).map(drop),
        "optional" => Some(()),
        _ => {
            let Some(kind) = kind(keyword) else { return Line::Unknown };
            scope.kind = Some(kind);
            typed_prompt(tokens).map(|prompt| scope.depends.extend(prompt.flatten()))
        }
    };
    line(taken, tokens, keyword)
}

/// Takes the condition of a comment, which matters to nobody.
pub(super) fn of_comment(keyword: &str, tokens: &mut Tokens<'_>) -> Line {
    if keyword == "depends" { line(depends(tokens).map(drop), tokens, keyword) } else { Line::Unknown }
}

fn line(taken: Option<()>, tokens: &Tokens<'_>, keyword: &str) -> Line {
    match taken {
        // The forms of `option` are many in old kernels.
        Some(()) if tokens.0.is_empty() || keyword == "option" => Line::Taken,
        _ => Line::Broken,
    }
}

fn kind(keyword: &str) -> Option<Kind> {
    Some(match keyword {
        "bool" | "def_bool" | "boolean" => Kind::Bool,
        "tristate" | "def_tristate" => Kind::Tristate,
        "string" => Kind::Text,
        "int" => Kind::Number,
        "hex" => Kind::Hex,
        _ => return None,
    })
}

fn depends(tokens: &mut Tokens<'_>) -> Option<Expression> {
    if tokens.take_word("on") { tokens.expression() } else { None }
}

/// A prompt's condition; its text is not kept.
fn prompt(tokens: &mut Tokens<'_>) -> Option<Option<Expression>> {
    let (Token::Quoted(_) | Token::Unknown(_), rest) = tokens.0.split_first()? else { return None };
    tokens.0 = rest;
    tokens.condition()
}

/// The prompt behind a type, if there is one, with its condition.
fn typed_prompt(tokens: &mut Tokens<'_>) -> Option<Option<Option<Expression>>> {
    if tokens.0.is_empty() { Some(None) } else { prompt(tokens).map(Some) }
}

fn default(tokens: &mut Tokens<'_>) -> Option<(Expression, Option<Expression>)> {
    Some((tokens.expression()?, tokens.condition()?))
}

fn target(tokens: &mut Tokens<'_>) -> Option<(String, Option<Expression>)> {
    let (Token::Word(name), rest) = tokens.0.split_first()? else { return None };
    tokens.0 = rest;
    Some((name.clone(), tokens.condition()?))
}

fn range(definition: &mut Definition, tokens: &mut Tokens<'_>) -> Option<()> {
    let range = (tokens.operand()?, tokens.operand()?, tokens.condition()?);
    definition.ranges.push(range);
    Some(())
}

//! Which Starlark the language is.

use starlark::syntax::Dialect;

/// With statements at the top, f-strings and arguments that must be named.
pub(crate) fn dialect() -> Dialect {
    Dialect {
        enable_keyword_only_arguments: true,
        enable_top_level_stmt: true,
        enable_f_strings: true,
        ..Dialect::Standard
    }
}

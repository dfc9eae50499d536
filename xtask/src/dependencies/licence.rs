//! Expressions of licences, as SPDX has them: names with `OR`, `AND`, `WITH` and parentheses. `/` is an old `OR`.

/// Whether what is allowed suffices; an expression that cannot be read is not met.
pub(super) fn is_met(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader { words: &words, allowed };
    reader.any() == Some(true) && reader.words.is_empty()
}

struct Reader<'a> {
    words: &'a [&'a str],
    allowed: &'a [String],
}

impl Reader<'_> {
    /// `A OR B`: one suffices, but all must be readable.
    fn any(&mut self) -> Option<bool> {
        let mut met = self.all()?;
        while self.takes("OR") {
            met |= self.all()?;
        }
        Some(met)
    }

    /// `A AND B`, which binds more tightly.
    fn all(&mut self) -> Option<bool> {
        let mut met = self.one()?;
        while self.takes("AND") {
            met &= self.one()?;
        }
        Some(met)
    }

    fn one(&mut self) -> Option<bool> {
        if self.takes("(") {
            let met = self.any()?;
            return self.takes(")").then_some(met);
        }
        let name = self.name()?;
        let whole =
            if self.takes("WITH") { format!("{name} WITH {}", self.name()?) } else { name.to_string() };
        Some(self.allowed.contains(&whole))
    }

    fn name(&mut self) -> Option<String> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        (!["(", ")", "OR", "AND", "WITH"].contains(first)).then(|| (*first).to_string())
    }

    fn takes(&mut self, word: &str) -> bool {
        let found = self.words.first() == Some(&word);
        if found {
            self.words = &self.words[1..];
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_met_as_spdx_says() {
        let allowed = ["MIT".to_string(), "Unicode-3.0".to_string()];
        let met = |text: &str| is_met(text, &allowed);
        assert!(met("MIT") && met("Apache-2.0/MIT") && met("Apache-2.0 / MIT"));
        assert!(met("(MIT OR Apache-2.0) AND Unicode-3.0"));
        assert!(met("GPL-2.0 OR MIT AND Unicode-3.0"));
        assert!(met("Apache-2.0 WITH LLVM-exception OR MIT"));
        assert!(!met("GPL-2.0") && !met("MIT AND GPL-2.0") && !met("MIT WITH LLVM-exception"));
        assert!(!met("(MIT OR GPL-2.0) AND GPL-3.0"));
        for nonsense in ["", "OR", "MIT MIT", "(MIT", "MIT)", "MIT OR", "MIT WITH", "()"] {
            assert!(!met(nonsense), "{nonsense}");
        }
    }
}

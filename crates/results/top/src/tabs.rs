//! The views that are always there, and where their names stand.

/// What stands before the names.
pub(crate) const NAME: &str = "kiln top ";

/// A view that is always there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tab {
    Sessions,
    Changes,
    Problems,
    Start,
}

impl Tab {
    pub(crate) const ALL: [Self; 4] = [Self::Sessions, Self::Changes, Self::Problems, Self::Start];

    /// Its number and its name; of the one that is shown in brackets.
    pub(crate) fn label(self, is_shown: bool) -> String {
        let name = match self {
            Self::Sessions => "Sessions",
            Self::Changes => "Changed",
            Self::Problems => "Problems",
            Self::Start => "Start",
        };
        let (before, behind) = if is_shown { ("[", "]") } else { (" ", " ") };
        format!(" {before}{} {name}{behind}", self as usize + 1)
    }

    /// The view whose name is in this column.
    pub(crate) fn at(column: u16) -> Option<Self> {
        let mut begin = NAME.len();
        Self::ALL.into_iter().find(|tab| {
            let range = begin..begin + tab.label(false).len();
            begin = range.end;
            range.contains(&usize::from(column))
        })
    }

    /// The one before or behind it, around the ends.
    pub(crate) fn beside(self, is_next: bool) -> Self {
        let count = Self::ALL.len();
        Self::ALL[(self as usize + if is_next { 1 } else { count - 1 }) % count]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_clicked_where_it_stands() {
        let line =
            Tab::ALL.iter().fold(NAME.to_owned(), |line, tab| line + &tab.label(*tab == Tab::Problems));
        for (word, tab) in [
            ("1 Sess", Tab::Sessions),
            ("Changed", Tab::Changes),
            ("[3", Tab::Problems),
            ("Start", Tab::Start),
        ] {
            let column = u16::try_from(line.find(word).expect("it is there")).expect("short");
            assert_eq!(Tab::at(column), Some(tab), "{line}");
        }
        assert_eq!((Tab::at(0), Tab::at(200)), (None, None));
        assert_eq!((Tab::Start.beside(true), Tab::Sessions.beside(false)), (Tab::Sessions, Tab::Start));
    }
}

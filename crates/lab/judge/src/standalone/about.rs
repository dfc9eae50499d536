//! What is true of a case, as a text of a line for each fact.

use std::time::Duration;

use crate::case::Dialect;

/// What is true of a case whatever happens to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// Its name.
    pub name: String,
    /// Whose words it speaks.
    pub dialect: Dialect,
    /// It is a program of the user, whose exit status is passed on.
    pub is_users: bool,
    /// The time that it has.
    pub limit: Duration,
    /// Kernel reports that it provokes on purpose.
    pub expects: Vec<String>,
    /// Options that its suite asks for and the kernel was built without.
    pub lacking: Vec<String>,
    /// Options for the console that its kernel was built with, if its configuration is known.
    pub console_options: Option<Vec<String>>,
}

/// The names of the dialects.
const DIALECTS: [(&str, Dialect); 4] = [
    ("kiln", Dialect::Kiln),
    ("program", Dialect::Program),
    ("kselftest", Dialect::Kselftest),
    ("ltp", Dialect::Ltp),
];

impl About {
    /// The text. A line end in a name or a report becomes a blank.
    #[must_use]
    pub fn write(&self) -> String {
        let dialect = DIALECTS.iter().find(|(_, dialect)| *dialect == self.dialect);
        let users = if self.is_users { "yes" } else { "no" };
        let mut text = format!(
            "name {}\ndialect {}\nuser's {users}\nlimit-ms {}\n",
            self.name.replace('\n', " "),
            dialect.map_or("program", |(name, _)| name),
            self.limit.as_millis()
        );
        for expected in &self.expects {
            text += &format!("expects {}\n", expected.replace('\n', " "));
        }
        for option in &self.lacking {
            text += &format!("lacking {}\n", option.replace('\n', " "));
        }
        if let Some(options) = &self.console_options {
            text += &format!("console {}\n", options.join(" "));
        }
        text
    }

    /// Reads such a text; what it does not say is as for a program.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let mut about = Self {
            name: String::new(),
            dialect: Dialect::Program,
            is_users: false,
            limit: Duration::ZERO,
            expects: Vec::new(),
            lacking: Vec::new(),
            console_options: None,
        };
        for (word, value) in text.split('\n').filter_map(|line| line.split_once(' ')) {
            match word {
                "name" => about.name = value.to_string(),
                "dialect" => {
                    let known = DIALECTS.iter().find(|(name, _)| *name == value);
                    about.dialect = known.map_or(about.dialect, |(_, dialect)| *dialect);
                }
                "user's" => about.is_users = value == "yes",
                "limit-ms" => about.limit = Duration::from_millis(value.parse().unwrap_or_default()),
                "expects" => about.expects.push(value.to_string()),
                "console" => {
                    about.console_options = Some(value.split_whitespace().map(str::to_string).collect());
                }
                "lacking" => about.lacking.push(value.to_string()),
                _ => {}
            }
        }
        about
    }
}

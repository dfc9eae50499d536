//! Reports as Markdown: CommonMark with the tables of GitHub, for blogs, forges and mails.
//!
//! * [`Document`]: a report; [`Wrap`]: how its lines are broken
//! * `escape`: text that others wrote, of which nothing is interpreted
//! * `writer`: paragraphs, lists, blocks and tables

mod escape;
mod writer;

pub(crate) use escape::{code, prose};
pub(crate) use writer::Writer;

/// Columns of a line in a mail.
const MAIL: usize = 72;

/// Columns of what is a block where lines are as long as they are.
const WIDE: usize = 100;

/// How paragraphs are broken into lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrap {
    /// A line for each, for platforms that keep the breaks between lines.
    None,
    /// At 72 columns, as in mails; what would be a table is text in columns.
    Mail,
}

impl Wrap {
    /// Columns of text that stands in a block.
    pub(crate) fn columns(self) -> usize {
        match self {
            Self::None => WIDE,
            Self::Mail => MAIL,
        }
    }
}

/// A report as Markdown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// The verdict, in one line of Markdown.
    pub title: String,
    /// All below it.
    pub body: String,
}

impl Document {
    /// A file that begins with the verdict.
    #[must_use]
    pub fn into_file(self) -> String {
        format!("# {}\n\n{}", self.title, self.body)
    }
}

/// What is text for a terminal, below its verdict.
pub(crate) fn of_text(title: &str, text: &[u8], wrap: Wrap) -> Document {
    let mut writer = Writer::new(wrap);
    writer.block(&String::from_utf8_lossy(text));
    writer.document(title)
}

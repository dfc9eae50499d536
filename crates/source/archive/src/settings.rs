//! Where mails are fetched from, as b4's settings in git's configuration have it.

use std::time::Duration;

use kernel::Context;

use crate::Error;
use crate::link::{Link, Mask};

/// The archive of all lists of kernel people.
const MID_MASK: &str = "https://lore.kernel.org/all/%s";
const SEARCH_MASK: &str = "https://lore.kernel.org/all/?x=m&t=1&q=%s";

/// How long what was fetched is good for, in minutes, unless the user says otherwise.
const EXPIRE: u64 = 10;

/// How long to wait for a connection, and for an answer.
const CONNECT: Duration = Duration::from_secs(5);
const ANSWER: Duration = Duration::from_secs(30);

/// What a user says of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Where a mail is, by its id.
    pub(crate) mail: Mask,
    /// Where mails are searched.
    pub(crate) search: Mask,
    /// Origins, such as `https://mirror.example.org`, that are asked before that of the masks.
    pub(crate) mirrors: Vec<String>,
    /// How long what was fetched is good for.
    pub(crate) expire: Duration,
    /// How long to wait for a connection, and for each answer.
    pub(crate) timeouts: (Duration, Duration),
    /// How kiln names itself.
    pub(crate) agent: String,
}

impl Settings {
    /// Reads `b4.midmask`, `b4.searchmask`, `b4.cache-expire`, `lore.fallback`, `lore.requesttimeout` and
    /// `lore.useragentplus`. A link into another archive than that of `b4.midmask` names the archive.
    ///
    /// # Errors
    ///
    /// When git refuses its configuration, and when a mask has no place for the id.
    pub fn read(link: &Link, context: &mut Context<'_>) -> Result<Self, Error> {
        let settings = history::settings(r"^(b4|lore)\.", context)?;
        let setting = |key: &str| settings.last(key);
        let mut mail = Mask::new("b4.midmask", setting("b4.midmask").unwrap_or(MID_MASK))?;
        let mut search = Mask::new("b4.searchmask", setting("b4.searchmask").unwrap_or(SEARCH_MASK))?;
        let mut mirrors: Vec<String> = settings.all("lore.fallback").map(str::to_owned).collect();
        if let Some(inbox) = link.inbox.as_deref().filter(|inbox| !mail.is_of(inbox)) {
            mail = Mask::new("the link", &format!("{inbox}/%s"))?;
            search = Mask::new("the link", &format!("{inbox}/?x=m&t=1&q=%s"))?;
            mirrors.clear();
        }
        let minutes = setting("b4.cache-expire").and_then(|text| text.parse().ok()).unwrap_or(EXPIRE);
        let plus = setting("lore.useragentplus").map(|text| format!("+{text}")).unwrap_or_default();
        Ok(Self {
            mail,
            search,
            mirrors,
            expire: Duration::from_secs(60 * minutes),
            timeouts: timeouts(setting("lore.requesttimeout")),
            agent: format!("kiln/{}{plus}", env!("CARGO_PKG_VERSION")),
        })
    }
}

/// `SECONDS`, or `CONNECT,ANSWER` in seconds.
fn timeouts(text: Option<&str>) -> (Duration, Duration) {
    let seconds =
        |text: &str| text.trim().parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let text = text.unwrap_or_default();
    let (connect, answer) = text.split_once(',').unwrap_or((text, text));
    (seconds(connect).unwrap_or(CONNECT), seconds(answer).unwrap_or(ANSWER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_is_one_number_or_two() {
        let seconds = Duration::from_secs_f64;
        assert_eq!(timeouts(None), (CONNECT, ANSWER));
        assert_eq!(timeouts(Some("2.5")), (seconds(2.5), seconds(2.5)));
        assert_eq!(timeouts(Some("1, 20")), (seconds(1.0), seconds(20.0)));
        for wrong in ["", "x", "-1", "inf", "1e300,NaN"] {
            assert_eq!(timeouts(Some(wrong)), (CONNECT, ANSWER), "{wrong}");
        }
    }
}

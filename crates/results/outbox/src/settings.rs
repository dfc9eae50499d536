//! How mail is sent: git's `sendemail` configuration, as git-send-email(1) describes it.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use kernel::Context;

use crate::Error;

/// Where programs that take mail are, besides `PATH`.
const SENDMAIL: [&str; 2] = ["/usr/sbin/sendmail", "/usr/lib/sendmail"];

/// How mail is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Who sends mails that do not say it: `Name <address>`.
    pub sender: Option<String>,
    /// Where they go.
    pub route: Route,
}

/// Where mail goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    /// To a server.
    Smtp(Server),
    /// To a program of this host.
    Sendmail(Command),
}

/// A program that takes mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// A path.
    Program(String),
    /// A line for a shell.
    Shell(String),
}

/// A server that takes mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Its name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How it is spoken to.
    pub encryption: Encryption,
    /// The user and the password.
    pub user: Option<(String, String)>,
    /// Who vouches for it.
    pub trust: Trust,
    /// How this host calls itself.
    pub domain: Option<String>,
}

/// How a server is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encryption {
    /// In the clear.
    None,
    /// TLS is begun in the connection.
    StartTls,
    /// TLS from the first byte.
    Tls,
}

/// Who vouches for a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// The authorities of this host.
    Host,
    /// The authority in this file.
    File(PathBuf),
}

impl Settings {
    /// Reads git's configuration; a password that it does not have is asked of `git credential`.
    ///
    /// # Errors
    ///
    /// When git is missing, or its configuration cannot be followed.
    pub fn read(context: &mut Context<'_>) -> Result<Self, Error> {
        let said = history::settings(r"^(sendemail|user)\.", context)?;
        let mut settings = Self::of(&said)?;
        if let Route::Smtp(server) = &mut settings.route
            && let Some((user, password)) = &mut server.user
            && password.is_empty()
        {
            let url = format!("smtp://{}:{}", server.host, server.port);
            *password = history::password(&url, user, context)?.ok_or_else(|| {
                Error::Settings(format!(
                    "no password of {user} for {url}: set sendemail.smtpPass or a credential.helper"
                ))
            })?;
        }
        Ok(settings)
    }

    fn of(said: &history::Settings) -> Result<Self, Error> {
        let identity = said.last("sendemail.identity").map(str::to_lowercase);
        let value = |key: &str| {
            let own =
                identity.as_ref().and_then(|identity| said.last(&format!("sendemail.{identity}.{key}")));
            own.or_else(|| said.last(&format!("sendemail.{key}")))
        };
        let user = said.last("user.name").zip(said.last("user.email"));
        let sender =
            value("from").map(str::to_owned).or(user.map(|(name, address)| format!("{name} <{address}>")));
        let server = value("smtpserver");
        let route = match (value("sendmailcmd"), server) {
            (Some(line), _) => Route::Sendmail(Command::Shell(line.to_owned())),
            (None, Some(path)) if path.starts_with('/') => Route::Sendmail(Command::Program(path.to_owned())),
            (None, Some(host)) => Route::Smtp(server_of(host, value)?),
            (None, None) => Route::Sendmail(Command::Program(installed()?)),
        };
        Ok(Self { sender, route })
    }
}

fn server_of<'v>(host: &str, value: impl Fn(&str) -> Option<&'v str>) -> Result<Server, Error> {
    let wrong =
        |key: &str, text: &str, wanted: &str| Error::Settings(format!("sendemail.{key} = {text}: {wanted}"));
    let encryption = match value("smtpencryption") {
        None => Encryption::None,
        Some("tls") => Encryption::StartTls,
        Some("ssl") => Encryption::Tls,
        Some(other) => return Err(wrong("smtpEncryption", other, "write tls or ssl")),
    };
    let port = match value("smtpserverport") {
        Some(text) => text.parse().map_err(|_| wrong("smtpServerPort", text, "write a number"))?,
        None if encryption == Encryption::Tls => 465,
        None => 25,
    };
    let user =
        value("smtpuser").map(|user| (user.to_owned(), value("smtppass").unwrap_or_default().to_owned()));
    if user.is_some() && encryption == Encryption::None && !is_local(host) {
        let text =
            format!("{host} would get a password in the clear: set sendemail.smtpEncryption to tls or ssl");
        return Err(Error::Settings(text));
    }
    let trust = match value("smtpsslcertpath") {
        Some(path) if Path::new(path).is_dir() => {
            return Err(wrong("smtpSslCertPath", path, "name a file"));
        }
        Some(path) => Trust::File(path.into()),
        None => Trust::Host,
    };
    let domain = value("smtpdomain").map(str::to_owned);
    Ok(Server { host: host.to_owned(), port, encryption, user, trust, domain })
}

fn is_local(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn installed() -> Result<String, Error> {
    let usual = SENDMAIL.iter().map(PathBuf::from).find(|path| path.is_file());
    let found = usual.or_else(|| host::find_program("sendmail"));
    found.map(|path| path.display().to_string()).ok_or_else(|| {
        Error::Settings(
            "nothing here sends mail: set sendemail.smtpServer of git, or install a sendmail".to_owned(),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(pairs: &[(&str, &str)]) -> Result<Settings, Error> {
        Settings::of(&pairs.iter().copied().collect())
    }

    const SERVER: (&str, &str) = ("sendemail.smtpServer", "mail.example.org");

    fn server(more: &[(&str, &str)]) -> Server {
        match settings(&[&[SERVER], more].concat()).expect("right").route {
            Route::Smtp(server) => server,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn ports_and_encryption_are_those_of_git() {
        for (said, encryption, port) in [
            (None, Encryption::None, 25),
            (Some("tls"), Encryption::StartTls, 25),
            (Some("ssl"), Encryption::Tls, 465),
        ] {
            let more: Vec<_> = said.map(|said| ("sendemail.smtpEncryption", said)).into_iter().collect();
            let found = server(&more);
            assert_eq!((found.encryption, found.port), (encryption, port));
        }
        assert_eq!(server(&[("sendemail.smtpServerPort", "587")]).port, 587);
    }

    #[test]
    fn an_identity_has_the_first_word() {
        let more = [
            ("sendemail.identity", "Work"),
            ("sendemail.work.smtpServerPort", "2525"),
            ("sendemail.smtpServerPort", "25"),
        ];
        assert_eq!(server(&more).port, 2525);
    }

    #[test]
    fn programs_take_mail_as_well() {
        let route = |key: &str, value: &str| settings(&[SERVER, (key, value)]).expect("right").route;
        let program = Route::Sendmail(Command::Program("/bin/true".to_owned()));
        assert_eq!(route("sendemail.smtpServer", "/bin/true"), program);
        let shell = Route::Sendmail(Command::Shell("ssh x sendmail".to_owned()));
        assert_eq!(route("sendemail.sendmailCmd", "ssh x sendmail"), shell);
    }

    #[test]
    fn the_sender_is_that_of_git() {
        let user = [SERVER, ("user.name", "A"), ("user.email", "a@x.org")];
        assert_eq!(settings(&user).expect("right").sender.as_deref(), Some("A <a@x.org>"));
        let own = [&user[..], &[("sendemail.from", "b@x.org")]].concat();
        assert_eq!(settings(&own).expect("right").sender.as_deref(), Some("b@x.org"));
    }

    #[test]
    fn only_this_host_is_local() {
        for (host, is) in
            [("localhost", true), ("127.0.0.2", true), ("::1", true), ("127.evil.org", false), ("x", false)]
        {
            assert_eq!(is_local(host), is, "{host}");
        }
    }

    #[test]
    fn what_cannot_be_followed_is_refused() {
        for (key, value, reason) in [
            ("sendemail.smtpEncryption", "rot13", "write tls or ssl"),
            ("sendemail.smtpServerPort", "many", "write a number"),
            ("sendemail.smtpUser", "a", "in the clear"),
            ("sendemail.smtpSslCertPath", "/", "name a file"),
        ] {
            let error = settings(&[SERVER, (key, value)]).expect_err(reason).to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}

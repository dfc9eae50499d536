//! SMTP (RFC 5321) with TLS, spoken so that it is known at each step whether the server has the message.

use std::fs;
use std::time::Duration;

use lettre::transport::smtp::Error as SmtpError;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{Certificate, CertificateStore, SmtpConnection, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail, Rcpt};
use lettre::transport::smtp::extension::{ClientId, Extension, MailBodyParameter, MailParameter};

use crate::message::Message;
use crate::settings::{Encryption, Server, Trust};
use crate::transport::{Failure, Transport};

/// How long a server may take for an answer (RFC 5321, section 4.5.3.2, allows minutes).
const LIMIT: Duration = Duration::from_secs(120);

const MECHANISMS: [Mechanism; 2] = [Mechanism::Plain, Mechanism::Login];

/// Sends messages to a server, over one connection.
pub(crate) struct Smtp<'a> {
    server: &'a Server,
    connection: Option<SmtpConnection>,
}

impl<'a> Smtp<'a> {
    pub(crate) fn new(server: &'a Server) -> Self {
        Self { server, connection: None }
    }

    fn connect(&self) -> Result<SmtpConnection, Failure> {
        let Server { host, port, encryption, user, .. } = self.server;
        let hello = match &self.server.domain {
            Some(domain) => ClientId::Domain(domain.clone()),
            None => ClientId::default(),
        };
        let tls = self.tls()?;
        let wrapped = tls.as_ref().filter(|_| *encryption == Encryption::Tls);
        let address = (host.as_str(), *port);
        let mut connection = SmtpConnection::connect(address, Some(LIMIT), &hello, wrapped, None)
            .map_err(|error| failure(&error))?;
        if let Some(tls) = tls.as_ref().filter(|_| *encryption == Encryption::StartTls) {
            connection.starttls(tls, &hello).map_err(|error| failure(&error))?;
        }
        if let Some((user, password)) = user {
            let known = Credentials::new(user.clone(), password.clone());
            connection
                .auth(&MECHANISMS, &known)
                .map_err(|error| Failure::Later(format!("{user}: {}", words(&error))))?;
        }
        Ok(connection)
    }

    fn tls(&self) -> Result<Option<TlsParameters>, Failure> {
        let Server { host, encryption, trust, .. } = self.server;
        if *encryption == Encryption::None {
            return Ok(None);
        }
        let builder = TlsParameters::builder(host.clone());
        let builder = match trust {
            Trust::Host => builder,
            Trust::File(path) => {
                let refused =
                    |error: &dyn std::fmt::Display| Failure::Later(format!("{}: {error}", path.display()));
                let pem = fs::read(path).map_err(|error| refused(&error))?;
                let certificate = Certificate::from_pem(&pem).map_err(|error| refused(&error))?;
                builder.certificate_store(CertificateStore::None).add_root_certificate(certificate)
            }
        };
        builder.build().map(Some).map_err(|error| Failure::Later(words(&error)))
    }
}

impl Transport<Message> for Smtp<'_> {
    fn deliver(&mut self, message: &Message) -> Result<(), Failure> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.connect()?,
        };
        let sent = send(&mut connection, message);
        match &sent {
            Ok(()) => self.connection = Some(connection),
            Err(_) => connection.abort(),
        }
        sent
    }
}

impl Drop for Smtp<'_> {
    fn drop(&mut self) {
        if let Some(mut connection) = self.connection.take() {
            let _ = connection.quit();
        }
    }
}

fn send(connection: &mut SmtpConnection, message: &Message) -> Result<(), Failure> {
    let bytes = for_the_wire(&message.for_others());
    let mut parameters = Vec::new();
    if !bytes.is_ascii() {
        if !connection.server_info().supports_feature(Extension::EightBitMime) {
            return Err(Failure::Refused("the server takes only ASCII".to_owned()));
        }
        parameters.push(MailParameter::Body(MailBodyParameter::EightBitMime));
    }
    connection
        .command(Mail::new(Some(message.sender.clone()), parameters))
        .map_err(|error| failure(&error))?;
    for recipient in &message.recipients {
        let to = Rcpt::new(recipient.clone(), Vec::new());
        connection.command(to).map_err(|error| named(failure(&error), recipient))?;
    }
    connection.command(Data).map_err(|error| failure(&error))?;
    match connection.message(&bytes) {
        Ok(_) => Ok(()),
        // An answer is an answer; without one it may have been taken.
        Err(error) if error.status().is_some() => Err(failure(&error)),
        Err(error) => Err(Failure::Unknown(words(&error))),
    }
}

fn named(failure: Failure, recipient: &lettre::Address) -> Failure {
    match failure {
        Failure::Refused(why) => Failure::Refused(format!("{recipient}: {why}")),
        Failure::Later(why) => Failure::Later(format!("{recipient}: {why}")),
        unknown @ Failure::Unknown(_) => unknown,
    }
}

/// Lines end in CR LF; the end of the last one is left to the connection.
fn for_the_wire(bytes: &[u8]) -> Vec<u8> {
    bytes
        .strip_suffix(b"\n")
        .unwrap_or(bytes)
        .split(|&byte| byte == b'\n')
        .collect::<Vec<_>>()
        .join(&b"\r\n"[..])
}

/// What an error before the end of a message means: it was not taken.
fn failure(error: &SmtpError) -> Failure {
    if error.is_permanent() { Failure::Refused(words(error)) } else { Failure::Later(words(error)) }
}

/// An error with its causes.
fn words(error: &SmtpError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}

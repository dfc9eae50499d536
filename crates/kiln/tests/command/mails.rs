//! `kiln mail`, with a server of Debian's aiosmtpd on this host and with programs that take mail.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::support::{Call, Place, text};

/// Takes mail for everybody but `nobody@` and `busy@`, and keeps it with its envelope. With `dies`, it ends before it has said so.
const SERVER: &str = r"
import asyncio, os, ssl, sys
from aiosmtpd.smtp import SMTP, AuthResult
folder, mode = sys.argv[1:]

class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith('nobody@'):
            return '550 no such user'
        if address.startswith('busy@'):
            return '450 come back'
        envelope.rcpt_tos.append(address)
        return '250 OK'

    async def handle_DATA(self, server, session, envelope):
        name = os.path.join(folder, 'got-%d' % len(os.listdir(folder)))
        people = ' '.join([envelope.mail_from] + envelope.rcpt_tos).encode()
        with open(name, 'wb') as file:
            file.write(people + b'\n' + envelope.content)
        if mode == 'dies':
            os._exit(0)
        return '250 taken'

def authenticate(server, session, envelope, mechanism, data):
    return AuthResult(success=(data.login, data.password) == (b'me', b'secret'), handled=False)

context = None
if mode in ('ssl', 'tls'):
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(os.path.join(folder, '../cert.pem'), os.path.join(folder, '../key.pem'))

def protocol():
    starttls = {'tls_context': context, 'require_starttls': True} if mode == 'tls' else {}
    is_open = {'auth_require_tls': False} if mode == 'ssl' else {}
    return SMTP(Handler(), authenticator=authenticate, auth_required=mode == 'tls', **starttls, **is_open)

loop = asyncio.new_event_loop()
asyncio.set_event_loop(loop)
made = loop.create_server(protocol, '127.0.0.1', 0, ssl=context if mode == 'ssl' else None)
server = loop.run_until_complete(made)
print(server.sockets[0].getsockname()[1], flush=True)
loop.run_forever()
";

/// A user, and a server.
struct Post {
    place: Place,
    server: Child,
    port: String,
}

impl Drop for Post {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Post {
    fn new(mode: &str) -> Self {
        let place = Place::new();
        let folder = place.path().join("got");
        fs::create_dir(&folder).expect("writable");
        certify(&place);
        let mut server = Command::new("/usr/bin/python3")
            .args(["-c", SERVER, text(&folder), mode])
            .stdout(Stdio::piped())
            .spawn()
            .expect("Python is installed");
        let mut port = String::new();
        let output = server.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut port).expect("scripts/setup installs aiosmtpd");
        let post = Self { place, server, port: port.trim().to_owned() };
        let encryption = if matches!(mode, "ssl" | "tls") { mode } else { "" };
        post.configures(&format!("[sendemail]\n\tsmtpEncryption = {encryption}\n"));
        post
    }

    /// The user's configuration of git.
    fn configures(&self, more: &str) {
        let (port, certificate) = (&self.port, self.place.path().join("cert.pem"));
        let fixed = format!(
            "[user]\n\tname = M. Aintainer\n\temail = m@example.net\n[sendemail]\n\tsmtpServer = localhost\n\t\
             smtpServerPort = {port}\n\tsmtpSslCertPath = {}\n",
            certificate.display()
        );
        self.place.file(".gitconfig", fixed + more);
    }

    fn mail(&self, name: &str, to: &str) -> PathBuf {
        let body = "größer\n.\nFrom here on\n";
        self.place.file(name, format!("To: {to}\nBcc: blind@example.org\nSubject: {name}\n\n{body}"))
    }

    fn kiln(&self, words: &[&str]) -> Call {
        self.place.kiln([&["mail"], words].concat()).env("HOME", self.place.path())
    }

    /// What the server got: who, and the mail.
    fn got(&self) -> Vec<String> {
        let entries = fs::read_dir(self.place.path().join("got")).expect("made");
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
        paths.sort();
        paths.iter().map(|path| fs::read_to_string(path).expect("UTF-8")).collect()
    }
}

/// A key and a certificate of this host.
fn certify(place: &Place) {
    let [key, certificate] = ["key.pem", "cert.pem"].map(|name| place.path().join(name));
    let arguments = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"];
    let more = ["-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE"];
    let files = ["-keyout", text(&key), "-out", text(&certificate)];
    let done = Command::new("openssl")
        .args(arguments)
        .args(more)
        .args(files)
        .output()
        .expect("openssl is installed");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn a_mail_arrives_once_and_as_it_was_written() {
    let post = Post::new("plain");
    let mail = post.mail("answer", "a@example.org, b@example.org");
    let sent = post.kiln(&["send", text(&mail)]).run().expect(0).stdout;
    assert!(sent.contains("  answer: sent\n"), "{sent}");
    let again = post.kiln(&["send", text(&mail)]).run().expect(0).stdout;
    assert!(again.contains("was sent before"), "{again}");
    let [got] = &post.got()[..] else { panic!("{:?}", post.got()) };
    let (people, whole) = got.split_once('\n').expect("two parts");
    assert_eq!(people, "m@example.net a@example.org b@example.org blind@example.org");
    assert!(whole.ends_with("Subject: answer\r\n\r\ngrößer\r\n.\r\nFrom here on\r\n"), "{whole}");
    assert!(
        whole.contains("Message-ID: <") && whole.contains("\r\nDate: ") && !whole.contains("blind"),
        "{whole}"
    );
    let listed = post.kiln(&[]).run().expect(0).stdout;
    assert!(listed.contains("  sent     answer, 3 recipients\n"), "{listed}");
}

#[test]
fn servers_with_tls_are_trusted_only_if_somebody_vouches_for_them() {
    for (mode, user) in [("tls", "\tsmtpUser = me\n\tsmtpPass = secret\n"), ("ssl", "")] {
        let post = Post::new(mode);
        post.configures(&format!("\tsmtpEncryption = {mode}\n{user}"));
        let mail = post.mail("answer", "a@example.org");
        let sent = post.kiln(&["send", text(&mail)]).run().expect(0).stdout;
        assert!(sent.contains("answer: sent\n") && post.got().len() == 1, "{mode}: {sent}");
        post.configures(&format!("\tsmtpEncryption = {mode}\n{user}[sendemail]\n\tsmtpSslCertPath =\n"));
        let other = post.mail("other", "a@example.org");
        let refused = post.kiln(&["send", text(&other)]).run().expect(3).stdout;
        assert!(refused.contains("not sent, stays queued: "), "{mode}: {refused}");
        assert_eq!(post.got().len(), 1, "{mode}");
    }
}

#[test]
fn passwords_are_those_of_the_configuration_or_of_a_helper() {
    let post = Post::new("tls");
    let mail = post.mail("answer", "a@example.org");
    let says = |more: &str| post.configures(&format!("\tsmtpEncryption = tls\n\tsmtpUser = me\n{more}"));
    says("");
    let none = post.kiln(&["send", text(&mail)]).run().expect(2).stderr;
    assert!(none.contains("no password of me for smtp://localhost:"), "{none}");
    says("\tsmtpPass = wrong\n");
    let wrong = post.kiln(&["send", text(&mail)]).run().expect(3).stdout;
    assert!(wrong.contains("not sent, stays queued: me: "), "{wrong}");
    says("[credential]\n\thelper = \"!f() { echo password=secret; }; f\"\n");
    post.kiln(&["send"]).run().expect(0);
    assert_eq!(post.got().len(), 1);
    let clear = post.place.file(
        ".gitconfig",
        "[sendemail]\n\tsmtpServer = mail.example.org\n\tsmtpUser = me\n\tsmtpPass = x\n",
    );
    let refused = post.kiln(&["send"]).run().expect(2).stderr;
    assert!(refused.contains("in the clear") && clear.is_file(), "{refused}");
}

#[test]
fn what_a_server_does_not_take_waits_or_is_refused() {
    let post = Post::new("plain");
    let send = |name: &str, to: &str, code| {
        post.kiln(&["send", text(&post.mail(name, to))]).run().expect(code).stdout
    };
    let refused = send("one", "a@example.org, nobody@example.org", 3);
    assert!(
        refused.contains("one: refused: nobody@example.org: ") && refused.contains("no such user"),
        "{refused}"
    );
    let later = send("two", "busy@example.org", 3);
    assert!(later.contains("two: not sent, stays queued: busy@example.org: "), "{later}");
    assert_eq!(post.got(), [""; 0], "who can get it waits for all others");
    let listed = post.kiln(&[]).run().expect(0).stdout;
    let name =
        listed.lines().find(|line| line.contains("queued")).expect("two").split(' ').next().expect("a name");
    post.kiln(&["drop", name]).run().expect(0);
    let gone = post.kiln(&["drop", name]).run().expect(2).stderr;
    assert!(gone.contains("no mail") && gone.contains("`kiln mail` lists them"), "{gone}");
    assert!(send("three", "a@example.org", 0).contains("three: sent"));
    let wrong = post.place.file("wrong", "Subject: x\n\n");
    assert!(post.kiln(&["send", text(&wrong)]).run().expect(2).stderr.contains("nobody gets it"));
}

#[test]
fn a_mail_of_which_nobody_knows_is_not_sent_again_by_itself() {
    let post = Post::new("dies");
    let mail = post.mail("answer", "a@example.org");
    let unknown = post.kiln(&["send", text(&mail)]).run().expect(3).stdout;
    assert!(unknown.contains("answer: may have been sent: "), "{unknown}");
    assert_eq!(post.got().len(), 1, "it was");
    post.kiln(&["send"]).run().expect(0);
    let again = post.kiln(&["send", text(&mail)]).run().expect(3).stdout;
    assert!(again.contains("may have been sent: `kiln mail retry` sends it again"), "{again}");
    let offline = post.kiln(&["retry", ""]).run().expect(3).stdout;
    assert!(offline.contains("not sent, stays queued"), "{offline}");
}

#[test]
fn programs_take_mail_as_sendmail_does() {
    let post = Post::new("plain");
    let got = post.place.path().join("taken");
    let takes = |status: u8| {
        let script = post.place.script(
            "takes",
            &format!("echo \"$@\" > {0}; cat >> {0}; echo full >&2; exit {status}", got.display()),
        );
        post.place.file(
            ".gitconfig",
            format!(
                "[user]\n\tname = M\n\temail = m@example.net\n[sendemail]\n\tsmtpServer = {}\n",
                script.display()
            ),
        );
    };
    takes(75);
    let mail = post.mail("answer", "a@example.org");
    let later = post.kiln(&["send", text(&mail)]).run().expect(3).stdout;
    assert!(later.contains("answer: not sent, stays queued: full"), "{later}");
    takes(0);
    post.kiln(&["send"]).run().expect(0);
    let taken = fs::read_to_string(&got).expect("taken");
    assert!(taken.starts_with("-i -f m@example.net -- a@example.org blind@example.org\n"), "{taken}");
    assert!(taken.contains("Subject: answer\n\ngrößer\n") && !taken.contains("Bcc"), "{taken}");
}

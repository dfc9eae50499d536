//! `kiln series am`: the patches, for `git am`.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use attestation::Policy;
use report::series::{Findings, base_words, patches_text, signed_text};
use series::{Assembled, Composed, Order, Patch, Person, Trailer};

use super::{mails, signed};
use crate::cli::Am;
use crate::failure::{USAGE, WrongUsage, complain};
use crate::find::in_context;
use crate::listeners::standard_output;
use crate::signals;

/// Links to the mails of kernel people, wherever they are archived.
const LINK: &str = "https://patch.msgid.link/%s";

/// Writes the mbox and gives the exit code.
pub(super) fn am(args: &Am, color: bool) -> Result<u8> {
    let threads = args.source.threads()?;
    let all = series::series(&threads);
    let mut assembled = args.source.one(&threads, &all)?;
    if let Some(text) = args.unavailable(&assembled) {
        complain(&format!("{text}\n{}", patches_text(&assembled, &Findings::default(), false).trim_end()));
        return Ok(USAGE);
    }
    args.reduce(&mut assembled);
    let policy = args.require_attestation.then_some(Policy::HardFail);
    let (policy, attested) = args.signatures.of(&args.source, policy, mails(&assembled))?;
    if let Some(attested) = &attested {
        signed::heed(policy, attested, &assembled)?;
    }
    let findings = Findings { attested: attested.as_ref(), base: args.in_tree.base(&assembled)? };
    let mbox = mbox(&assembled, &Added::new(args)?, args.allow_unicode_control_chars)?;
    let path = args.path(&assembled);
    if path.as_os_str() == "-" {
        standard_output(|out| out.write_all(&mbox))?;
        return Ok(0);
    }
    write(&path, &mbox)?;
    let text = format!(
        "{}{}\n{}",
        signed_text(&assembled, &findings),
        patches_text(&assembled, &findings, color),
        closing(args, &assembled, &findings, &path)?
    );
    standard_output(|out| out.write_all(text.as_bytes()))?;
    Ok(0)
}

impl Am {
    /// Why the patches that are wanted cannot be written.
    fn unavailable(&self, assembled: &Assembled<'_>) -> Option<String> {
        if let Some(number) = self.cherry.as_ref().and_then(|pick| pick.beyond(assembled.total)) {
            return Some(format!("patch {number} of {}: there is none", assembled.total));
        }
        let picks = |number: u32, subject: &str| {
            self.cherry.as_ref().is_none_or(|pick| pick.takes(number, assembled.total, subject))
        };
        let missing: Vec<u32> = assembled.missing().into_iter().filter(|&number| picks(number, "")).collect();
        if !missing.is_empty() && !self.allow_partial {
            let count = missing.len();
            let plural = if count == 1 { "patch is" } else { "patches are" };
            return Some(format!("{count} {plural} missing: --allow-partial writes the others"));
        }
        let is_any = assembled.patches.iter().any(|(&number, patch)| picks(number, &patch.mail.subject.text));
        (!is_any).then(|| "no patch is left by --cherry".to_owned())
    }

    /// Leaves out what is not wanted.
    fn reduce(&self, assembled: &mut Assembled<'_>) {
        let total = assembled.total;
        if let Some(pick) = &self.cherry {
            assembled.patches.retain(|&number, patch| pick.takes(number, total, &patch.mail.subject.text));
        }
        for patch in assembled.patches.values_mut().filter(|_| self.no_add_trailers) {
            patch.given.clear();
        }
    }

    fn path(&self, assembled: &Assembled<'_>) -> PathBuf {
        let name = format!("{}.mbx", assembled.name());
        match &self.output {
            Some(path) if path.is_dir() => path.join(name),
            Some(path) => path.clone(),
            None => name.into(),
        }
    }
}

/// Who applies patches: git's user.name and user.email; nothing if one of them is missing.
pub(crate) fn committer(context: &mut kernel::Context<'_>) -> Result<Option<Person>> {
    let mut setting = |key: &str| history::setting(key, context);
    let known = setting("user.name")?.zip(setting("user.email")?);
    Ok(known.map(|(name, address)| Person { name, address }))
}

/// What every patch gets besides.
#[derive(Default)]
struct Added {
    link: Option<String>,
    sign_off: Option<Trailer>,
    order: Order,
}

impl Added {
    fn new(args: &Am) -> Result<Self> {
        let interrupt = signals::interrupt_flag().context("signals")?;
        in_context(&interrupt, |context| {
            let link = match args.add_link {
                true => Some(
                    history::setting("b4.linkmask", context)?
                        .filter(|mask| mask.contains("%s"))
                        .unwrap_or_else(|| LINK.to_owned()),
                ),
                false => None,
            };
            let sign_off = match (args.add_my_sob, committer(context)?) {
                (false, _) => None,
                (true, Some(person)) => Some(Trailer::new("Signed-off-by", &person.to_string())),
                (true, None) => {
                    return Err(
                        WrongUsage("--add-my-sob: git has no user.name and user.email".to_owned()).into()
                    );
                }
            };
            let order = history::setting("b4.trailer-order", context)?;
            Ok(Self { link, sign_off, order: order.as_deref().map(Order::parse).unwrap_or_default() })
        })
    }

    /// Gives a patch all its trailers.
    fn add_to(&self, composed: &mut Composed, patch: &Patch<'_>) {
        let link = self.link.as_ref().filter(|_| patch.mail.id.contains('@'));
        let link = link.map(|mask| Trailer::new("Link", &mask.replacen("%s", &patch.mail.id, 1)));
        composed.add_in_order(patch.given.iter().map(|given| &given.trailer).chain(&link), &self.order);
        if let Some(sign_off) = &self.sign_off {
            composed.sign_off(sign_off);
        }
    }
}

/// The patches with the trailers that they got.
pub(crate) fn written(assembled: &Assembled<'_>) -> Result<Vec<u8>> {
    mbox(assembled, &Added::default(), false)
}

fn mbox(assembled: &Assembled<'_>, added: &Added, allows_hidden: bool) -> Result<Vec<u8>> {
    let mut mbox = Vec::new();
    for (&number, patch) in &assembled.patches {
        let mut composed = Composed::of(patch.mail);
        if let Some((line, hidden)) = composed.hidden_character().filter(|_| !allows_hidden) {
            let text = format!(
                "{}: a hidden character (U+{:04X}) in this line: --allow-unicode-control-chars takes it\n{line}",
                composed.subject,
                u32::from(hidden)
            );
            return Err(WrongUsage(text).into());
        }
        added.add_to(&mut composed, patch);
        mbox.extend(composed.mbox(&assembled.prefix(patch.mail, number), &patch.mail.id));
    }
    Ok(mbox)
}

/// Where everything is, and what to type next.
fn closing(args: &Am, assembled: &Assembled<'_>, findings: &Findings<'_>, path: &Path) -> Result<String> {
    let (there, total) = (assembled.patches.len(), assembled.total);
    let mut text = format!("  {there} of {total} patches in {}\n", report::safe(&path.display().to_string()));
    if let Some(cover) = assembled.cover.filter(|_| !args.no_cover) {
        let beside = path.with_extension("cover");
        write(&beside, format!("{}\n\n{}", cover.subject.text, cover.text).as_bytes())?;
        text += &format!("  cover letter in {}\n", report::safe(&beside.display().to_string()));
    }
    let file = shlex::try_quote(&path.to_string_lossy()).map(Cow::into_owned).unwrap_or_default();
    if findings.base.is_some() {
        text += &format!("  base: {}\n", report::safe(&base_words(assembled, findings)));
    }
    let base = match &findings.base {
        Some(found) => found.as_ref().ok().map(|base| &base.commit),
        None => assembled.facts.base_commit.as_ref(),
    };
    text.push('\n');
    if let Some(base) = base {
        text += &format!("  git checkout -b {} {base}\n", assembled.name());
    }
    text += &format!("  git am {}\n", report::safe(&file));
    Ok(text)
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

//! Debian packages become an image, once: mmdebstrap(1) unpacks and configures them.
//!
//! All that it makes is in memory, in a mount namespace that ends with it, so that nothing is left of it however it ends.

use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use host::Task;
use kernel::apt::{Apt, Archive};
use kernel::{Context, Lock, PartsHash, name_cache};

use crate::error::Error;
use crate::{Root, image, kept};

mod archive;
mod log;

use archive::Sources;

/// What makes the tree.
pub const MMDEBSTRAP: &str = "mmdebstrap";

/// Fetching some hundred packages takes minutes on a slow line.
const LIMIT: Duration = Duration::from_secs(60 * 60);

/// Share of the memory that a tree may take while it is made, in percent.
const MEMORY_PERCENT: u32 = 80;

/// Lists what was installed.
const PACKAGES: &str = "packages";
/// What mmdebstrap printed.
const LOG: &str = "log";

/// Runs as root over ids of its own. Its arguments are the folder to work in, the share of the memory, the suite, the
/// archive, and options; those of mkfs.erofs are in `$MKFS_OPTIONS`, which holds no blanks of file names.
const SCRIPT: &str = r#"
folder=$1 percent=$2 suite=$3 sources=$4
shift 4
mount -t tmpfs -o "mode=0755,size=$percent%" tmpfs "$folder/tree"
mkdir -m 1777 "$folder/tree/tmp"
# mmdebstrap copies these from the host.
forget='rm -f "$1/etc/hostname" "$1/etc/resolv.conf"'
TMPDIR=$folder/tree/tmp mmdebstrap --mode=unshare --variant=minbase --customize-hook="$forget" "$@" \
    --format=directory "$suite" "$folder/tree/root" "$sources"
dpkg-query --admindir="$folder/tree/root/var/lib/dpkg" --show \
    --showformat='${Package} ${Version} ${Architecture}\n' > "$folder/entry/packages"
mkfs.erofs $MKFS_OPTIONS "$folder/entry/image" "$folder/tree/root"
"#;

/// The root with these packages: from the store, or made.
pub(crate) fn find(
    locator: &str,
    suite: Option<&str>,
    packages: &[String],
    context: &mut Context<'_>,
) -> Result<Root, Error> {
    let key = format!("root:{locator}");
    let lists = Apt { interrupt: context.interrupt }.lists();
    if let Some(root) = lists.as_ref().and_then(|lists| recall(&key, lists, locator, context)) {
        return Ok(root);
    }
    check_programs(locator)?;
    let shelf = context.store.roots();
    let lock = shelf.lock(&mut context.caller())?;
    // Another kiln may have made it while this one waited.
    if let Some(root) = lists.as_ref().and_then(|lists| recall(&key, lists, locator, context)) {
        return Ok(root);
    }
    let sources = archive::sources(suite, context.interrupt)?;
    let identity = make(locator, &sources, packages, &lock, context)?;
    if let Some(lists) = lists {
        let meaning = name_cache::Package { name: "root".to_owned(), version: identity.clone() };
        name_cache::remember(context.store, &key, lists, meaning);
    }
    let lost =
        || Error::Command { action: format!("making {locator}"), reason: "it is not whole".to_owned() };
    kept::open(&identity, locator, context).ok_or_else(lost)
}

/// What the locator meant while the archive was the same.
fn recall(key: &str, lists: &str, locator: &str, context: &Context<'_>) -> Option<Root> {
    let meaning = name_cache::recall(context.store, key, lists)?;
    kept::open(&meaning.version, locator, context)
}

fn check_programs(locator: &str) -> Result<(), Error> {
    let needed = [(MMDEBSTRAP, MMDEBSTRAP), (image::MKFS, "erofs-utils"), (host::NEWUIDMAP, "uidmap")];
    let is_root = rustix::process::geteuid().is_root();
    for (program, package) in needed {
        if !(is_root && program == host::NEWUIDMAP) && host::find_program(program).is_none() {
            return Err(Error::Missing { locator: locator.to_owned(), program, package });
        }
    }
    match host::has_subordinate_ids() {
        true => Ok(()),
        false => Err(Error::NoSubordinateIds { locator: locator.to_owned() }),
    }
}

/// Makes the image aside, puts it in place in one step, and gives its identity: that of what was installed.
fn make(
    locator: &str,
    sources: &Sources,
    packages: &[String],
    lock: &Lock,
    context: &mut Context<'_>,
) -> Result<String, Error> {
    let shelf = context.store.roots();
    let workshop = shelf.workshop(lock)?;
    let folder = workshop.path();
    for name in ["tree", "entry"] {
        let path = folder.join(name);
        fs::create_dir(&path).map_err(Error::io("make", &path))?;
    }
    let list = folder.join("sources.list");
    let text = sources.lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    fs::write(&list, text).map_err(Error::io("write", &list))?;
    run(locator, sources, packages, folder, context)?;
    let entry = folder.join("entry");
    let installed = entry.join(PACKAGES);
    let installed = fs::read_to_string(&installed).map_err(Error::io("read", &installed))?;
    kept::Record::write(&entry, provenance(sources, packages, &installed))?;
    let identity = identity(sources, &installed);
    shelf.publish(lock, &entry, &shelf.entry(&identity))?;
    Ok(identity)
}

fn run(
    locator: &str,
    sources: &Sources,
    packages: &[String],
    folder: &Path,
    context: &mut Context<'_>,
) -> Result<(), Error> {
    let path = folder.join(LOG);
    let log = File::create_new(&path).map_err(Error::io("make", &path))?;
    let include = (!packages.is_empty()).then(|| format!("--include={}", packages.join(",")));
    let options: Vec<String> = include.into_iter().chain(archive::proxies(context.interrupt)?).collect();
    let (folder_name, percent) = (folder.display().to_string(), MEMORY_PERCENT.to_string());
    let sources_list = folder.join("sources.list").display().to_string();
    let fixed = ["-e", "-c", SCRIPT, MMDEBSTRAP, &folder_name, &percent, &sources.suite, &sources_list];
    let arguments: Vec<&str> = fixed.into_iter().chain(options.iter().map(String::as_str)).collect();
    let task = Task::as_root("sh", &arguments, context.interrupt).within(folder).limit(LIMIT).log(log);
    let task = task.with(|command| {
        command.env("MKFS_OPTIONS", image::OPTIONS.join(" "));
    });
    let read =
        || fs::read(&path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    context.progress(&format!("making {locator}"));
    let mut last = String::new();
    let done = task.run(&mut || {
        let log = read();
        if let Some(step) = log::step(&log).filter(|step| *step != last) {
            context.progress(&format!("making {locator}: {step}"));
            last = step.to_owned();
        }
    })?;
    if done.success {
        return Ok(());
    }
    Err(log::failure(&read(), locator, &sources.suite, MEMORY_PERCENT))
}

fn identity(sources: &Sources, installed: &str) -> String {
    let mut hash = PartsHash::default();
    hash.part(kept::FORMAT.to_le_bytes());
    hash.part(&sources.suite);
    hash.part(installed);
    hash.finish()
}

/// `Debian bookworm with fio 3.33-3 and 131 other packages`.
fn provenance(sources: &Sources, packages: &[String], installed: &str) -> String {
    let lines: Vec<&str> = installed.lines().collect();
    let version = |name: &String| {
        let line = lines.iter().find(|line| line.split(' ').next() == Some(name))?;
        Some(format!("{name} {}", line.split(' ').nth(1)?))
    };
    let named: Vec<String> = packages.iter().filter_map(version).collect();
    let others = lines.len() - named.len();
    let suite = &sources.suite;
    match named.is_empty() {
        true => format!("Debian {suite} with {others} packages"),
        false => format!("Debian {suite} with {} and {others} other packages", named.join(", ")),
    }
}

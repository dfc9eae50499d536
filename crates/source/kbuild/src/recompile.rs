//! Objects that are compiled once more, for what their compiler prints.

use std::path::{Component, Path};

use kernel::{Context, Locator};

use crate::Error;
use crate::diagnostics::Diagnostics;
use crate::failure;
use crate::recipe::Recipe;
use crate::request::Request;
use crate::warnings::Warnings;
use crate::work::Work;

/// Compiles these objects of a source whether or not they are up to date, and gives what was printed about them.
///
/// Objects are paths below the tree, as in [`Printed`](crate::Printed). Those without a source of C or assembler in the tree are left out, and
/// one that does not compile leaves the others alone.
///
/// # Errors
///
/// As for [`build`](crate::build()), but for what compilers say.
pub fn recompile(
    locator: &Locator,
    recipe: &Recipe,
    objects: &[String],
    context: &mut Context<'_>,
) -> Result<Diagnostics, Error> {
    let request = Request::new(locator, recipe, context)?;
    let work = request.enter(context)?;
    let done = compile(&request, objects, &work, context);
    work.leave(done)
}

fn compile(
    request: &Request,
    objects: &[String],
    work: &Work,
    context: &mut Context<'_>,
) -> Result<Diagnostics, Error> {
    let tree = request.source.place(context)?;
    let (place, log) = (work.objects()?, work.log());
    let make = request.begin(&tree.path, &place, &log)?;
    request.configure(&make, work, context)?;
    let has_source = |object: &&str| {
        ["c", "S"].iter().any(|ending| tree.path.join(object).with_extension(ending).is_file())
    };
    let objects: Vec<&str> =
        objects.iter().map(String::as_str).filter(|object| is_below(object)).filter(has_source).collect();
    if objects.is_empty() {
        return Ok(Diagnostics::default());
    }
    for object in &objects {
        // The makefiles of the tree can write there: no link of theirs may lead out of it.
        host::remove_beneath(&place, Path::new(object)).map_err(Error::io("remove", &place.join(object)))?;
    }
    context.progress(&format!("compiling {} objects again", objects.len()));
    make.objects(&objects, context)?;
    let diagnostics = failure::diagnostics(&make.paths)?;
    Warnings::update(&work.warnings(), &make.paths, &diagnostics)?;
    Ok(diagnostics)
}

/// What a build prints becomes a path that is removed, and a word for make.
pub(crate) fn is_below(object: &str) -> bool {
    let path = Path::new(object);
    path.extension().is_some_and(|ending| ending == "o")
        && path.components().all(|part| matches!(part, Component::Normal(_)))
        && !object.contains(|c: char| c.is_whitespace() || c == '=' || c == '$')
        && !object.starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::{Place, recipe};
    use std::fs;

    use fixture::{NEVER, write};

    const OBJECTS: &str = "\
%.o:
\t@if grep -q odd $*.c; then echo '$*.c:1:5: warning: odd [-Wodd]' >&2; fi
\t@if grep -q wrong $*.c; then echo '$*.c:1:1: error: wrong' >&2; exit 1; fi
\t@mkdir -p $(dir $(O)/$@) && touch $(O)/$@
";

    #[test]
    fn what_compilers_say_about_objects_is_read_at_any_commit() {
        let place = Place::new();
        let makefile = place.tree().join("Makefile");
        write(&makefile, format!("{}\n{OBJECTS}", fs::read_to_string(&makefile).unwrap()));
        place.change("int odd;\n");
        place.commit("odd");
        place.change("int even;\n");
        place.commit("even");
        let asks = |commit: &str, objects: &[&str]| {
            let locator = format!("git:{}@{commit}", place.tree().display()).parse().unwrap();
            let objects: Vec<String> = objects.iter().map(|object| (*object).to_owned()).collect();
            let mut context = Context { store: &place.store, listener: &mut |_| {}, interrupt: &NEVER };
            let found = recompile(&locator, &recipe(&["defconfig"]), &objects, &mut context).unwrap();
            found.all.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let warning = ["init/main.c:1:5: warning: odd [-Wodd]"];
        assert_eq!(asks("HEAD~1", &["init/main.o", "init/none.o", "../x.o"]), warning);
        assert_eq!(asks("HEAD~1", &["init/main.o"]), warning, "it was up to date");
        assert_eq!(asks("HEAD", &["init/main.o"]), [""; 0]);
        assert_eq!(place.tally(), 0, "no kernel was built");
    }

    #[test]
    fn no_object_is_removed_through_a_link() {
        let place = Place::new();
        let outside = place.directory.path().join("outside");
        fs::create_dir(&outside).unwrap();
        write(&outside.join("main.o"), "precious\n");
        let makefile = place.tree().join("Makefile");
        let link = format!("defconfig:\n\t@rm -rf $(O)/init; ln -s {} $(O)/init\n", outside.display());
        let text = fs::read_to_string(&makefile).unwrap();
        write(&makefile, text.replace("tinyconfig defconfig:\n", &link));
        let locator = place.tree().display().to_string().parse().unwrap();
        let mut context = Context { store: &place.store, listener: &mut |_| {}, interrupt: &NEVER };
        let objects = ["init/main.o".to_owned()];
        recompile(&locator, &recipe(&["defconfig"]), &objects, &mut context).unwrap_err();
        assert_eq!(fs::read_to_string(outside.join("main.o")).unwrap(), "precious\n");
    }

    #[test]
    fn only_objects_below_the_tree_are_compiled() {
        assert!(is_below("fs/xfs/xfs_log.o") && is_below("main.o"));
        for object in ["/etc/x.o", "../x.o", "fs/../../x.o", "-f.o", "x.c", "a=b.o", "a b.o", "$(x).o", ""] {
            assert!(!is_below(object), "{object}");
        }
    }
}

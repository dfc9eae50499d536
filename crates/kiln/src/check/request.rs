//! From the command line to what is asked of patches.

use check::request::{Analysers, NONE, usual_operations};
use check::{CheckRequest, PatchesRequest};
use lab::request::{ProgramRequest, Selection, Version};

use crate::cli::HowToCheck;

impl HowToCheck {
    /// What is asked of these patches.
    pub(super) fn request(&self, patches: PatchesRequest, build_only: bool) -> CheckRequest {
        let cases = (!build_only).then(|| self.cases());
        CheckRequest {
            version: Version,
            patches,
            case_limit: self.case_timeout,
            operations: self.operations(cases.as_ref()),
            worse_by: self.worse_by,
            analysers: self.analyse.clone().unwrap_or_else(|| Analysers::usual(cases.as_ref())),
            build: self.build.request(),
            also: self.also_config.iter().map(|list| list.split(',').map(str::to_owned).collect()).collect(),
            machine: self.root.add_to(self.machine.request()),
            cases,
        }
    }

    fn operations(&self, cases: Option<&Selection>) -> Vec<String> {
        match &self.measure[..] {
            _ if cases.is_none() => Vec::new(),
            [word] if word == NONE => Vec::new(),
            [] => usual_operations(cases, &self.build.request()),
            named => named.to_vec(),
        }
    }

    fn cases(&self) -> Selection {
        let program = self.exec.as_ref().map(|path| {
            let (path, arguments) = (path.clone(), self.arguments.clone());
            Selection::Program(ProgramRequest { path, arguments, needs: Vec::new() })
        });
        program.unwrap_or_else(|| self.choice.selection())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Verb};

    fn request(words: &[String]) -> CheckRequest {
        let words = std::iter::once("kiln").chain(words.iter().map(String::as_str));
        let Verb::Check(args) = Cli::try_parse_from(words).unwrap().verb else { panic!("a check") };
        let (mail, tree) = ("patches.mbx".into(), args.how.tree.clone());
        let revision = args.how.base.clone().unwrap();
        args.how.request(PatchesRequest::Series { mail, tree, revision }, args.how.build_only)
    }

    #[test]
    fn the_words_of_a_request_ask_the_same() {
        for line in [
            "check 1@x --tree . --base v6.1",
            "check 1@x --tree /linux --base v6.1 --measure 'fs/*' --measure pipe --config tiny,debug --cpus 2 --case 'fs/*'",
            "check 1@x --tree . --base v6.1 --make W=1 --build-only --also-config allmodconfig --also-config tiny,debug",
            "check 1@x --tree . --base v6.1 --case-timeout 5s --suite full --analyse sparse,gcc",
            "check 1@x --tree . --base v6.1 --analyse none --measure none",
            "check 1@x --tree . --base v6.1 --arch um --worse-by 7%",
            "check 1@x --tree . --base v6.1 --analyse sparse,gcc,clang,cppcheck,coccinelle,kernel-doc,checkpatch",
            "check 1@x --tree . --base v6.1 --arch um --measure pipe",
            "check 1@x --tree . --base v6.1 --analyse checkpatch --build-only",
            "check 1@x --tree . --base v6.1 --kselftest timers",
            "check 1@x --tree . --base v6.1 --root debian:fio --exec ./it -- -x",
        ] {
            let words = shlex::split(line).unwrap();
            let asked = request(&words);
            assert_eq!(request(&asked.words("1@x", &words[3], "v6.1")), asked, "{line}");
            let kept = serde_json::to_string(&asked).unwrap();
            assert_eq!(serde_json::from_str::<CheckRequest>(&kept).unwrap(), asked, "{kept}");
        }
    }
}

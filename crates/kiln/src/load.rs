//! What runs beside a measurement: `--with stress:vm=2,bytes=25%`.

use std::time::Duration;

use anyhow::Result;
use lab::stress_job::{is_global, parse};
use machine::catalogue;
use protocol::stress::{Class, StressRequest};

use crate::cli::stressor_lines;
use crate::failure::WrongUsage;

/// How the text for `stress` begins.
const STRESS: &str = "stress:";

/// How long a load may take before and after the measurement.
pub(crate) const GRACE: Duration = Duration::from_secs(60);

/// Reads what was said, one load a text; nothing if there is none.
pub(crate) fn request(texts: &[String]) -> Result<Option<StressRequest>> {
    if texts.is_empty() {
        return Ok(None);
    }
    let lines = texts.iter().map(|text| lines(text)).collect::<Result<String, _>>()?;
    let job = parse(lines.as_bytes(), catalogue::stressors());
    match job.mistakes.first() {
        Some(mistake) => Err(WrongUsage(format!("--with: {}", mistake.text)).into()),
        None => Ok(Some(job.request)),
    }
}

/// The same as a job file says it.
fn lines(text: &str) -> Result<String, WrongUsage> {
    let Some(load) = text.strip_prefix(STRESS) else {
        return Err(WrongUsage(format!(
            "--with {text}: write stress:CLASS or stress:STRESSOR=WORKERS,OPTION=VALUE"
        )));
    };
    Ok(match (Class::ALL.into_iter().find(|class| class.name() == load), load.split_once('=')) {
        (Some(class), _) => {
            catalogue::stressors().of(class).map(|stressor| format!("{} 1\n", stressor.name)).collect()
        }
        (None, Some((option, value))) if is_global(option) => format!("{option} {value}\n"),
        (None, _) => stressor_lines(load),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(texts: &[&str]) -> Result<Option<StressRequest>> {
        request(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_class_is_all_its_stressors_and_a_number_makes_it_a_stressor() {
        let names = |texts: &[&str]| {
            let load = read(texts).expect("it is right").expect("there is one");
            load.instances.iter().map(|it| (it.stressor.clone(), it.workers)).collect::<Vec<_>>()
        };
        let class = names(&["stress:vm"]);
        assert!(class.len() > 5 && class.contains(&("vm".to_owned(), 1)), "{class:?}");
        assert_eq!(names(&["stress:vm=2", "stress:pipe"]), [("vm".to_owned(), 2), ("pipe".to_owned(), 1)]);
        assert_eq!(read(&[]).expect("it is right"), None);
    }

    #[test]
    fn options_are_those_of_the_stressor_or_of_the_whole_load() {
        let load = read(&["stress:vm=2,bytes=25%", "stress:taskset=1,3", "stress:nice-value=5"]);
        let load = load.expect("it is right").expect("there is one");
        assert_eq!(load.instances[0].options["bytes"], "25%");
        assert_eq!((load.cpus, load.nice), (vec![1, 3], Some(5)));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = |text: &str| read(&[text]).expect_err("it is wrong").to_string();
        assert_eq!(wrong("vm"), "--with vm: write stress:CLASS or stress:STRESSOR=WORKERS,OPTION=VALUE");
        assert!(wrong("stress:memrat").ends_with("did you mean memrate?"), "{}", wrong("stress:memrat"));
        assert!(wrong("stress:vm=2,byte=1").contains("vm has no option byte"));
    }
}

//! Every stressor runs a few operations on the kernel that the tests run on.

use std::collections::BTreeSet;
use std::io::Read;

use harness::child::child;
use protocol::ReportKind;
use protocol::stress::{Domain, Extreme, Instance, StressReport, StressRequest};
use rustix::pipe::pipe;

use super::*;

#[test]
fn all_are_described() {
    let catalogue = catalogue();
    let names: BTreeSet<&str> = catalogue.stressors.iter().map(|stressor| stressor.name.as_str()).collect();
    assert_eq!(names.len(), catalogue.stressors.len(), "no two have the same name");
    assert!(names.len() >= 120, "{}", names.len());
    for stressor in &catalogue.stressors {
        let texts = [&stressor.about, &stressor.operation, &stressor.verifies];
        assert!(texts.iter().all(|text| !text.is_empty()), "{}", stressor.name);
        assert!(!stressor.classes.is_empty(), "{}", stressor.name);
        for option in &stressor.options {
            let (domain, memory) = (&option.domain, 1 << 40);
            let values = [
                domain.default_value(),
                domain.extreme(Extreme::Minimize),
                domain.extreme(Extreme::Maximize),
            ];
            for value in values {
                assert_eq!(
                    domain.parse(&domain.text(value), memory),
                    Ok(value),
                    "{} {}",
                    stressor.name,
                    option.name
                );
            }
        }
    }
}

#[test]
fn each_class_has_some() {
    let catalogue = catalogue();
    for class in protocol::stress::Class::ALL {
        assert!(catalogue.of(class).count() >= 3, "{class:?}");
    }
}

#[test]
fn no_stressor_has_more_figures_than_there_is_room_for() {
    assert!(all().all(|stressor| stressor.rates.len() <= protocol::stress::report::FIGURES_MAX));
}

#[test]
fn each_works_and_verifies_or_says_what_it_lacks() {
    // One of them, for whoever works on it.
    let only = std::env::var("KILN_STRESSOR").ok();
    let tried: Vec<_> =
        all().filter(|stressor| only.as_ref().is_none_or(|only| only == stressor.name)).collect();
    let mut worked = 0;
    for stressor in &tried {
        let report = carried_out(&small(stressor));
        assert_eq!(report.leftovers, [], "{}", stressor.name);
        assert_eq!(report.validate(), Ok(()), "{}", stressor.name);
        let instance = &report.instances[0];
        let outcome = instance.outcome();
        match outcome.kind {
            ReportKind::Pass => {
                worked += 1;
                assert!(instance.verified() > 0, "{} verifies nothing", stressor.name);
            }
            ReportKind::Skip => eprintln!("skipped: {}", outcome.text),
            _ => panic!("{outcome:?}: {instance:?}"),
        }
    }
    assert!(!tried.is_empty() && (only.is_some() || worked > all().count() / 2), "{worked}");
}

#[test]
#[ignore = "takes minutes"]
fn each_at_its_largest_stops_and_leaves_nothing_behind() {
    let only = std::env::var("KILN_STRESSOR").ok();
    let mut worked = 0;
    for stressor in all().filter(|stressor| only.as_ref().is_none_or(|only| only == stressor.name)) {
        let instance = Instance { stressor: stressor.name.to_string(), workers: 1, ..Instance::default() };
        let report = carried_out(&StressRequest {
            instances: vec![instance],
            verify: true,
            extreme: Some(Extreme::Maximize),
            timeout_ms: Some(1000),
            // A busy machine may take its time for what is large.
            grace_ms: 20_000,
            ..StressRequest::default()
        });
        assert_eq!(report.leftovers, [], "{}", stressor.name);
        let outcome = report.instances[0].outcome();
        match outcome.kind {
            ReportKind::Pass => worked += 1,
            ReportKind::Skip => eprintln!("skipped: {}", outcome.text),
            // What the machine has no more of says nothing about the stressor.
            ReportKind::Broken if outcome.text.contains("unexpected E") => eprintln!("{}", outcome.text),
            _ => panic!("{outcome:?}: {report:?}"),
        }
    }
    assert!(only.is_some() || worked > all().count() / 2, "{worked}");
}

/// Two workers that do each method once with the smallest sizes. The time limit only ends what hangs.
fn small(stressor: &Stressor) -> StressRequest {
    let methods = stressor.options.iter().map(|option| match option.domain {
        Domain::Choice(choices) => choices.len() as u64,
        _ => 0,
    });
    let operations = Some(2 * methods.max().unwrap_or(0).max(4));
    let instance =
        Instance { stressor: stressor.name.to_string(), workers: 2, operations, ..Instance::default() };
    StressRequest {
        instances: vec![instance],
        verify: true,
        extreme: Some(Extreme::Minimize),
        timeout_ms: Some(120_000),
        ..StressRequest::default()
    }
}

fn carried_out(request: &StressRequest) -> StressReport {
    let (reader, writer) = pipe().expect("a pipe");
    let engine = child(|| {
        crate::engine::isolate();
        let stressors: Vec<&'static Stressor> = all().collect();
        let report = crate::run(request, &stressors, &mut |_| ());
        let json = serde_json::to_vec(&report.unwrap_or_else(|refusal| panic!("{refusal:?}")));
        rustix::io::write(&writer, &json.unwrap_or_default())?;
        Ok(())
    })
    .expect("a process");
    drop(writer);
    let mut json = Vec::new();
    std::fs::File::from(reader).read_to_end(&mut json).expect("its report");
    assert_eq!(engine.wait().expect("its end").exit_status(), Some(0));
    serde_json::from_slice(&json).expect("a report")
}

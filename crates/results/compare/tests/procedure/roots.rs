//! Programs that are measured in a root.

use compare::{CompareRequest, Error, SidesRequest};
use lab::request::{FiguresRequest, MachineRequest, MeasureRequest, ProgramRequest};

use crate::fake::{World, compared, figures, measured};

fn program() -> Option<ProgramRequest> {
    Some(ProgramRequest { path: "/bin/sh".into(), arguments: Vec::new(), needs: Vec::new() })
}

fn in_root(root: &str) -> (FiguresRequest, MachineRequest) {
    let (figures, machine) = figures();
    let machine = MachineRequest { root: Some(root.parse().unwrap()), ..machine };
    (FiguresRequest { operations: Vec::new(), ..figures }, machine)
}

fn measured_in(root: &str) -> MeasureRequest {
    let (figures, machine) = in_root(root);
    MeasureRequest { figures, machine, program: program(), ..measured("quick") }
}

fn compared_in(root: &str, sides: &[&str]) -> CompareRequest {
    let SidesRequest::Kernels { sides, .. } = compared(sides).sides else { panic!("kernels") };
    let (figures, machine) = in_root(root);
    CompareRequest {
        figures,
        machine,
        ..CompareRequest::new(SidesRequest::Kernels { sides, program: program() })
    }
}

fn refused<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    let error = result.unwrap_err();
    assert!(error.is_usage(), "{error}");
    error.to_string()
}

#[test]
fn figures_name_their_root_and_are_compared_with_those_of_no_other() {
    let world = World::new(|_, _| Some(100.0));
    let done = world.measure(&measured_in("/a")).unwrap();
    let machine = &done.measurement.subject.machine;
    assert!(machine.ends_with("root /a, hash of the root 0123456789abcdef"), "{machine}");
    let same = world.compare(&compared_in("/a", &["measured:last", "slow", "quick"])).unwrap();
    assert!(same.comparison.others.iter().all(|other| other.subject.machine == *machine));
    let error = refused(world.compare(&compared_in("/b", &["measured:last", "slow"])));
    assert!(error.contains("is of another machine"), "{error}");
}

#[test]
fn a_root_in_which_nothing_can_be_measured_is_refused_before_a_kernel_is_looked_for() {
    let mut world = World::new(|_, _| Some(100.0));
    world.image_size += 512;
    let error = refused(world.measure(&measured_in("host")));
    assert!(error.starts_with("root host: figures would depend on"), "{error}");
    let error = refused(world.compare(&compared_in("/image", &["quick", "slow"])));
    assert!(error.contains("`truncate -s %2M /image`"), "{error}");
    let of_operations = MeasureRequest { program: None, ..measured_in("/image") };
    assert!(refused(world.measure(&of_operations)).ends_with("use it with --exec"));
    assert!(world.found.lock().unwrap().is_empty());
}

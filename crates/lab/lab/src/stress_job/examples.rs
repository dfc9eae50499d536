//! Job files that kiln carries: one for each class of stressors, by its name.

use protocol::stress::Class;

/// The job file of a class, as its users may change it.
#[must_use]
pub fn example(class: Class) -> &'static str {
    macro_rules! of {
        ($name:literal) => {
            include_str!(concat!("../../../../../examples/stress/", $name, ".job"))
        };
    }
    match class {
        Class::Cpu => of!("cpu"),
        Class::CpuCache => of!("cpu-cache"),
        Class::Memory => of!("memory"),
        Class::Vm => of!("vm"),
        Class::Filesystem => of!("filesystem"),
        Class::Io => of!("io"),
        Class::Network => of!("network"),
        Class::Scheduler => of!("scheduler"),
        Class::Interrupt => of!("interrupt"),
        Class::Ipc => of!("ipc"),
        Class::Os => of!("os"),
        Class::Security => of!("security"),
        Class::Device => of!("device"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::stress_job::parse;

    #[test]
    fn each_is_a_job_with_stressors_of_its_class() {
        for class in Class::ALL {
            let catalogue = machine::catalogue::stressors();
            let job = parse(example(class).as_bytes(), catalogue);
            assert_eq!(job.mistakes, [], "{}", class.name());
            assert_eq!(job.request.validate(), Ok(()), "{}", class.name());
            let loaded: BTreeSet<&str> =
                job.request.instances.iter().map(|it| it.stressor.as_str()).collect();
            assert!(loaded.len() >= 8, "{}: {loaded:?}", class.name());
            let is_of_class = |name: &str| catalogue.find(name).is_some_and(|it| it.classes.contains(&class));
            assert!(loaded.iter().all(|name| is_of_class(name)), "{}: {loaded:?}", class.name());
        }
    }
}

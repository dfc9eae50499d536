//! Grace periods of RCU, for which the kernel waits whenever it takes a probe away.

use std::fs;

use protocol::results::{DESCRIPTOR_VARIABLE, PATH_VARIABLE};

/// The same as `rcupdate.rcu_expedited` of Documentation/admin-guide/kernel-parameters.txt, while the kernel runs.
const EXPEDITED: &str = "/sys/kernel/rcu_expedited";

/// Grace periods end early as long as this lives, by interrupting all CPUs. That is done in machines of kiln alone: on a host it would
/// disturb others, and stay if this process is killed.
#[derive(Debug)]
pub struct Expedited {
    before: Option<String>,
}

impl Expedited {
    /// From now on, in a machine whose kernel can do it.
    #[must_use]
    pub fn in_machine() -> Self {
        let is_machine =
            [PATH_VARIABLE, DESCRIPTOR_VARIABLE].iter().any(|name| std::env::var_os(name).is_some());
        let before = is_machine.then(|| fs::read_to_string(EXPEDITED).ok()).flatten();
        if before.is_some() {
            // It only saves time.
            let _ = fs::write(EXPEDITED, "1");
        }
        Self { before }
    }
}

impl Drop for Expedited {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // It worked before.
            let _ = fs::write(EXPEDITED, before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_left_as_it_is() {
        let setting = || fs::read_to_string(EXPEDITED).ok();
        let before = setting();
        let expedited = Expedited::in_machine();
        assert_eq!((setting(), expedited.before.is_none()), (before, true));
    }
}

//! What the machine takes while it is measured.

mod battery;
mod rapl;

use std::path::Path;
use std::time::{Duration, Instant};

use protocol::latency::{Power, PowerSource, Watts};

use battery::Battery;
use rapl::Rapl;

/// A sample over less time than this says little.
const LEAST: Duration = Duration::from_millis(200);

/// Reads the power of the machine from time to time.
#[derive(Debug)]
pub(crate) struct Meter {
    source: Result<Source, String>,
    last: Instant,
    samples: Samples,
}

/// What tells the power.
#[derive(Debug)]
enum Source {
    Rapl(Rapl),
    Battery(Battery),
}

/// Samples in watts.
#[derive(Debug, Default)]
struct Samples {
    count: u64,
    mean: f64,
    squared_deviations: f64,
    minimum: f64,
    maximum: f64,
}

impl Meter {
    /// Begins with the sysfs that is mounted at `system`.
    pub(crate) fn begin(system: &Path) -> Self {
        let source = Rapl::find(system).map(Source::Rapl).or_else(|no_rapl| {
            Battery::find(system)
                .map(Source::Battery)
                .map_err(|no_battery| format!("{no_rapl} and {no_battery}"))
        });
        Self { source, last: Instant::now(), samples: Samples::default() }
    }

    /// Takes a sample of the time since the last one.
    pub(crate) fn look(&mut self) {
        let now = Instant::now();
        self.sample(now - self.last);
        self.last = now;
    }

    /// Takes the last sample, unless it would be of a short time beside others.
    pub(crate) fn finish(&mut self) {
        if self.last.elapsed() >= LEAST || self.samples.count == 0 {
            self.look();
        }
    }

    /// What all samples say.
    pub(crate) fn power(&self) -> Power {
        match &self.source {
            Err(why) => Power::Unknown(why.clone()),
            Ok(source) => self.samples.watts(source.kind()),
        }
    }

    fn sample(&mut self, time: Duration) {
        let Ok(source) = &mut self.source else { return };
        match source.watts(time) {
            Ok(watts) => self.samples.add(watts),
            Err(why) => self.source = Err(why),
        }
    }
}

impl Source {
    fn kind(&self) -> PowerSource {
        match self {
            Self::Rapl(_) => PowerSource::Rapl,
            Self::Battery(_) => PowerSource::Battery,
        }
    }

    fn watts(&mut self, time: Duration) -> Result<f64, String> {
        match self {
            Self::Rapl(rapl) => Ok(rapl.joules()? / time.as_secs_f64().max(f64::EPSILON)),
            Self::Battery(battery) => battery.watts(),
        }
    }
}

impl Samples {
    /// Welford, "Note on a Method for Calculating Corrected Sums of Squares and Products" (1962).
    fn add(&mut self, watts: f64) {
        self.count += 1;
        let difference = watts - self.mean;
        self.mean += difference / self.count as f64;
        self.squared_deviations += difference * (watts - self.mean);
        self.minimum = if self.count == 1 { watts } else { self.minimum.min(watts) };
        self.maximum = self.maximum.max(watts);
    }

    fn watts(&self, source: PowerSource) -> Power {
        let variance = self.squared_deviations.max(0.0) / self.count.saturating_sub(1).max(1) as f64;
        Power::Measured(Watts {
            source,
            samples: self.count,
            mean: self.mean,
            standard_deviation: variance.sqrt(),
            minimum: self.minimum,
            maximum: self.maximum,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_are_those_of_the_samples() {
        let mut samples = Samples::default();
        [4.0, 6.0, 11.0].into_iter().for_each(|watts| samples.add(watts));
        let Power::Measured(watts) = samples.watts(PowerSource::Rapl) else { panic!("it was measured") };
        assert_eq!((watts.samples, watts.mean, watts.minimum, watts.maximum), (3, 7.0, 4.0, 11.0));
        assert!((watts.standard_deviation - 13_f64.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn a_machine_that_cannot_tell_says_why() {
        let system = tempfile::tempdir().expect("there is room");
        let why = Power::Unknown("no RAPL and no battery".to_owned());
        assert_eq!(Meter::begin(system.path()).power(), why);
    }

    #[test]
    fn a_meter_that_breaks_off_is_no_measurement() {
        let system = tempfile::tempdir().expect("there is room");
        rapl::tests::package(system.path(), 0, "5", "1000");
        let mut meter = Meter::begin(system.path());
        meter.look();
        std::fs::remove_dir_all(system.path().join("class")).expect("it is ours");
        meter.finish();
        assert_eq!(meter.samples.count, 1);
        meter.look();
        let Power::Unknown(why) = meter.power() else { panic!("it cannot tell") };
        assert!(why.starts_with("RAPL: "), "{why}");
    }
}

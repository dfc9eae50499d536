//! Figures that need no measurement: any difference is one.

use std::collections::BTreeMap;

use kernel::version::text::flavour;
use measure::{Measurement, OwnUnit, Subject, Unit};

use super::{Alike, Commits, Point, Series, Step, Trend, in_order, of_difference};

/// A figure that a kernel has without being run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fact {
    /// Bytes of the image.
    ImageSize,
    /// Modules that can be loaded.
    Modules,
    /// Warnings of compilers about what kiln built it from.
    Warnings,
}

impl Fact {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::ImageSize, Self::Modules, Self::Warnings];

    /// Its name among those of metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ImageSize => "kernel/image-size",
            Self::Modules => "kernel/modules",
            Self::Warnings => "kernel/warnings",
        }
    }

    /// The one of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fact| fact.name() == name)
    }

    /// What it is of this kernel; nothing where that is not known.
    #[must_use]
    pub fn of(self, kernel: &Subject) -> Option<u64> {
        match self {
            Self::ImageSize => kernel.size.map(|size| size.image),
            Self::Modules => kernel.size.and_then(|size| size.modules),
            Self::Warnings => kernel.warnings,
        }
    }

    fn about(self) -> &'static str {
        match self {
            Self::ImageSize => "size of the image, compressed as it is",
            Self::Modules => "modules that can be loaded",
            Self::Warnings => "warnings of compilers about all that it is compiled from",
        }
    }

    fn unit(self) -> Unit {
        let (name, more_is_better) = match self {
            Self::ImageSize => ("bytes", false),
            // A driver that has gone is missed.
            Self::Modules => ("modules", true),
            Self::Warnings => ("warnings", false),
        };
        Unit::Own(OwnUnit { name: name.to_owned(), more_is_better, is_timed: false })
    }

    /// A series for each flavour; nothing if it is not known of any kernel.
    pub(super) fn trend(self, measured: &[Measurement], commits: &Commits) -> Option<Trend> {
        let mut flavours: BTreeMap<String, Vec<Point>> = BTreeMap::new();
        for kernel in measured.iter().map(|one| &one.subject) {
            let Some(value) = self.of(kernel) else { continue };
            let points = flavours.entry(flavour(&kernel.release)).or_default();
            let is_other = |point: &Point| {
                point.kernel.kernel != kernel.kernel || commits.place(&point.kernel) != commits.place(kernel)
            };
            if points.iter().all(is_other) {
                points.push(point(kernel, value, commits));
            }
        }
        let series = flavours
            .into_iter()
            .map(|(flavour, points)| self.series(flavour, points, commits))
            .collect::<Vec<_>>();
        let (metric, about) = (self.name().to_owned(), self.about().to_owned());
        (!series.is_empty()).then(|| Trend { metric, about, unit: self.unit(), series })
    }

    fn series(self, flavour: String, mut points: Vec<Point>, commits: &Commits) -> Series {
        points.sort_by(|a, b| in_order(&a.kernel, &b.kernel, commits));
        let pairs = points.windows(2).enumerate();
        let steps = pairs
            .filter_map(|(number, pair)| self.step(number + 1, pair[0].median, pair[1].median))
            .collect();
        let (machine, parameters, procedure) = (String::new(), String::new(), String::new());
        Series { of: Alike { flavour, is_exact: true, machine, parameters, procedure }, points, steps }
    }

    fn step(self, at: usize, before: f64, after: f64) -> Option<Step> {
        (before != after).then(|| Step {
            at,
            verdict: of_difference(after - before, &self.unit()),
            before,
            after,
            percent: (before != 0.0).then(|| (after - before) / before * 100.0),
            interval: None,
            p: None,
            ground: None,
            why: None,
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "no image is so large")]
fn point(kernel: &Subject, value: u64, commits: &Commits) -> Point {
    let value = value as f64;
    let name = commits.name(kernel).to_owned();
    Point { name, kernel: kernel.clone(), median: value, min: value, max: value, values: vec![value] }
}

#[cfg(test)]
mod tests {
    use super::super::tests::measured;
    use super::super::trends;
    use super::*;
    use crate::comparison::Verdict;
    use kernel::Size;
    use measure::Kind;

    fn sized(release: &str, image: u64, modules: Option<u64>) -> Measurement {
        let mut one = measured(release, Kind::Exact, &[1.0]);
        one.subject.kernel = format!("deb:{release}");
        one.subject.size = Some(Size { image, modules });
        one
    }

    #[test]
    fn any_difference_of_an_image_is_a_step() {
        let kernels = [
            sized("6.1.0-50-amd64", 8_000_001, Some(4000)),
            sized("6.1.0-9-amd64", 8_000_000, Some(4000)),
            sized("6.1.0-50-amd64", 8_000_001, Some(4000)),
            sized("6.1.0-52-amd64", 8_000_001, Some(3999)),
            measured("6.1.0-53-amd64", Kind::Exact, &[1.0]),
            sized("6.1.0-9-cloud-amd64", 7_000_000, None),
        ];
        let found = trends(&["kernel/image-size", "kernel/modules"], &kernels, &Commits::default());
        let [image, modules] = &found[..] else { panic!("{found:#?}") };
        let steps = |series: &Series| {
            series.steps.iter().map(|step| (step.at, step.verdict, step.after)).collect::<Vec<_>>()
        };
        assert_eq!(steps(&image.series[0]), [(1, Verdict::Worse, 8_000_001.0)]);
        assert_eq!(image.series[0].points.len(), 3, "each kernel once, and none of which nothing is known");
        assert_eq!(steps(&modules.series[0]), [(2, Verdict::Worse, 3999.0)]);
        assert_eq!((image.series.len(), modules.series.len()), (2, 1));
    }

    #[test]
    fn nothing_is_known_of_older_measurements() {
        let of_one = [measured("6.1.0-53-amd64", Kind::Exact, &[1.0])];
        assert_eq!(trends(&["kernel/modules"], &of_one, &Commits::default()), []);
    }
}

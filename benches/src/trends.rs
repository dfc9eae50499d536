//! What a figure over the history of kernels takes where a million samples are kept, beside SQLite that only counts them.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use measure::{BootSamples, Kind, Measurement, Metric, Subject, Unit};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::kiln::PROGRAM;
use crate::promise::Promise;
use crate::race::{Racer, race, table};

/// The kernels, the metrics of each, its boots, and what is sampled in each boot.
const KERNELS: u32 = 100;
const METRICS: u32 = 20;
const BOOTS: u32 = 10;
const SAMPLES: u32 = 50;

/// What the 51st kernel and all after it cost more.
const STEP: f64 = 300.0;

/// Times and promises, in so many rounds.
pub(crate) fn measure(rounds: usize) -> Result<(String, Vec<Promise>)> {
    let place = Place::new()?;
    let mut racers = [
        Racer::new("SQLite: SELECT count(*), 1,000,000 samples", || place.count()),
        Racer::new("kiln trend, one metric of 20", || place.trend(&["area/operation-7"])),
        Racer::new("kiln trend --steps, all", || place.trend(&["*", "--steps"])),
    ];
    race(&mut racers, rounds)?;
    let [count, one, all] = &racers;
    let promises = vec![
        Promise::seconds(one, 0.2),
        Promise::ratio(one, count, Some(20.0)),
        Promise::ratio(all, count, None),
    ];
    Ok((table(&racers), promises))
}

/// A folder of measurements, and the same samples in SQLite.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Result<Self> {
        let place = Self { folder: tempfile::tempdir()? };
        let mut connection = Connection::open(place.database())?;
        connection
            .execute("CREATE TABLE sample (kernel INTEGER, metric INTEGER, boot INTEGER, cost REAL)", [])?;
        let transaction = connection.transaction()?;
        for kernel in 0..KERNELS {
            let measurement = measurement(kernel);
            let folder = place.measurements().join(format!("2026-01-01T00-00-00Z-{kernel:03}"));
            std::fs::create_dir_all(&folder)?;
            std::fs::write(folder.join("measurement.json"), serde_json::to_vec(&measurement)?)?;
            let mut insert = transaction.prepare("INSERT INTO sample VALUES (?1, ?2, ?3, ?4)")?;
            for (number, metric) in (0..METRICS).zip(&measurement.metrics) {
                for boot in &metric.samples {
                    boot.costs
                        .iter()
                        .try_for_each(|cost| insert.execute((kernel, number, boot.boot, cost)).map(drop))?;
                }
            }
        }
        transaction.commit()?;
        Ok(place)
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("samples.sqlite")
    }

    fn measurements(&self) -> PathBuf {
        self.folder.path().join("measurements")
    }

    fn count(&self) -> Result<()> {
        let connection = Connection::open(self.database())?;
        let count: u32 = connection.query_row("SELECT count(*) FROM sample", [], |row| row.get(0))?;
        ensure!(count == KERNELS * METRICS * BOOTS * SAMPLES, "{count} samples");
        Ok(())
    }

    fn trend(&self, arguments: &[&str]) -> Result<()> {
        let mut command = Command::new(PROGRAM);
        command.arg("trend").args(arguments).arg("--results").arg(self.measurements());
        let output = command.output().context(PROGRAM)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let finds_it = output.status.success() && text.contains("6.1.0-150-amd64");
        ensure!(finds_it, "{command:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }
}

/// What was measured of a kernel.
fn measurement(kernel: u32) -> Measurement {
    let release = format!("6.1.0-{}-amd64", 100 + kernel);
    let locator = format!("deb:{release}");
    let subject = Subject {
        label: locator.clone(),
        locator: locator.clone(),
        kernel: locator.clone(),
        provenance: locator.clone(),
        identity: locator,
        release,
        parameters: String::new(),
        machine: "QEMU".to_owned(),
        size: None,
        warnings: None,
    };
    let metrics = (0..METRICS).map(|number| metric(kernel, number)).collect();
    let (procedure, code, boots, notes) =
        ("generated".to_owned(), Default::default(), Vec::new(), Vec::new());
    Measurement { subject, kind: Kind::Timed, procedure, boots, metrics, code, notes }
}

fn metric(kernel: u32, number: u32) -> Metric {
    let mut metric = Metric {
        name: format!("area/operation-{number}"),
        about: "generated".to_owned(),
        unit: Unit::Nanoseconds,
        values: Vec::new(),
        samples: Vec::new(),
        not_measured: None,
        detail: None,
    };
    let step = if kernel >= KERNELS / 2 { STEP } else { 0.0 };
    for boot in 0..BOOTS {
        // A sequence that looks like noise and is the same in each call.
        let noise =
            |sample: u32| (sample + 7 * boot + 31 * kernel + 101 * number).wrapping_mul(2_654_435_761) % 97;
        let costs = (0..SAMPLES).map(|sample| 1000.0 + step + f64::from(noise(sample)) / 8.0).collect();
        metric.add(BootSamples { boot, costs, ticked: Vec::new() });
    }
    metric
}

//! Runs as Apache Parquet, for pandas, DuckDB and the like: <https://parquet.apache.org/docs/file-format/>.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;

use ledger::KnownRun;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::Result;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::Type;

use super::columns::{COLUMNS, Cell, Column};

/// Runs of a row group, which a reader takes into memory as a whole.
const GROUP: usize = 100_000;

/// Writes a row for each Run; without a value a field is null. Texts are as they were reported, whatever a terminal makes of them.
///
/// # Errors
///
/// When `out` does not take it.
pub fn runs_parquet(runs: &[KnownRun], out: impl Write + Send) -> io::Result<()> {
    written(runs, out).map_err(io::Error::other)
}

fn written(runs: &[KnownRun], out: impl Write + Send) -> Result<()> {
    let mut file = SerializedFileWriter::new(out, Arc::new(schema()?), Arc::default())?;
    for runs in runs.chunks(GROUP) {
        let mut group = file.next_row_group()?;
        for column in COLUMNS {
            if let Some(mut writer) = group.next_column()? {
                write(column.cell, runs, &mut writer)?;
                writer.close()?;
            }
        }
        group.close()?;
    }
    file.close()?;
    Ok(())
}

/// The types of the columns.
fn schema() -> Result<Type> {
    let mut text = String::from("message run {\n");
    for Column { name, cell } in COLUMNS {
        let (repetition, physical, logical) = match cell {
            Cell::Text(_) => ("required", "binary", " (UTF8)"),
            Cell::Optional(_) => ("optional", "binary", " (UTF8)"),
            Cell::Time(_) => ("required", "int64", " (TIMESTAMP(MILLIS,true))"),
            Cell::Seconds(_) => ("required", "double", ""),
            Cell::Count(_) => ("required", "int64", ""),
            Cell::Flag(_) => ("required", "boolean", ""),
        };
        let _ = writeln!(text, "{repetition} {physical} {name}{logical};");
    }
    parse_message_type(&(text + "}"))
}

/// Writes one column of these Runs.
fn write(cell: Cell, runs: &[KnownRun], writer: &mut SerializedColumnWriter<'_>) -> Result<()> {
    let bytes = |text: &str| ByteArray::from(text.as_bytes().to_vec());
    match (cell, writer.untyped()) {
        (Cell::Text(text), ColumnWriter::ByteArrayColumnWriter(writer)) => {
            let values: Vec<ByteArray> = runs.iter().map(|run| bytes(text(run))).collect();
            writer.write_batch(&values, None, None)?;
        }
        (Cell::Optional(text), ColumnWriter::ByteArrayColumnWriter(writer)) => {
            let levels: Vec<i16> = runs.iter().map(|run| i16::from(text(run).is_some())).collect();
            let values: Vec<ByteArray> = runs.iter().filter_map(text).map(bytes).collect();
            writer.write_batch(&values, Some(&levels), None)?;
        }
        (Cell::Time(time), ColumnWriter::Int64ColumnWriter(writer)) => {
            let values: Vec<i64> = runs.iter().map(|run| time(run).as_millisecond()).collect();
            writer.write_batch(&values, None, None)?;
        }
        (Cell::Count(count), ColumnWriter::Int64ColumnWriter(writer)) => {
            let values: Vec<i64> = runs.iter().map(|run| i64::from(count(run))).collect();
            writer.write_batch(&values, None, None)?;
        }
        (Cell::Seconds(seconds), ColumnWriter::DoubleColumnWriter(writer)) => {
            let values: Vec<f64> = runs.iter().map(seconds).collect();
            writer.write_batch(&values, None, None)?;
        }
        (Cell::Flag(flag), ColumnWriter::BoolColumnWriter(writer)) => {
            let values: Vec<bool> = runs.iter().map(flag).collect();
            writer.write_batch(&values, None, None)?;
        }
        _ => return Err(parquet::errors::ParquetError::General("a column of another type".to_owned())),
    }
    Ok(())
}

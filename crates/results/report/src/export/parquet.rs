//! Tables as Apache Parquet, for pandas, DuckDB and the like: <https://parquet.apache.org/docs/file-format/>.

use std::fmt::Write as _;
use std::io::Write;
use std::sync::Arc;

use parquet::column::writer::{ColumnWriter, ColumnWriterImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::{ParquetError, Result};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::Type;

use super::columns::{Cell, Column};

/// Rows of a row group, which a reader takes into memory as a whole.
const GROUP: usize = 100_000;

/// Writes a row for each of `rows`.
pub(super) fn write<R>(columns: &[Column<R>], rows: &[R], out: impl Write + Send) -> Result<()> {
    let mut file = SerializedFileWriter::new(out, Arc::new(schema(columns)?), Arc::default())?;
    for rows in rows.chunks(GROUP) {
        let mut group = file.next_row_group()?;
        for column in columns {
            if let Some(mut writer) = group.next_column()? {
                column.cell.write(rows, &mut writer)?;
                writer.close()?;
            }
        }
        group.close()?;
    }
    file.close()?;
    Ok(())
}

/// The types of the columns.
fn schema<R>(columns: &[Column<R>]) -> Result<Type> {
    let mut text = String::from("message row {\n");
    for Column { name, cell } in columns {
        let (repetition, physical, logical) = match cell {
            Cell::Text(_) => ("required", "binary", " (UTF8)"),
            Cell::OptionalText(_) => ("optional", "binary", " (UTF8)"),
            Cell::Time(_) => ("required", "int64", " (TIMESTAMP(MILLIS,true))"),
            Cell::Number(_) => ("required", "double", ""),
            Cell::OptionalNumber(_) => ("optional", "double", ""),
            Cell::Count(_) => ("required", "int64", ""),
            Cell::Flag(_) => ("required", "boolean", ""),
        };
        let _ = writeln!(text, "{repetition} {physical} {name}{logical};");
    }
    parse_message_type(&(text + "}"))
}

impl<R> Cell<R> {
    /// Writes one column of these rows.
    fn write(&self, rows: &[R], writer: &mut SerializedColumnWriter<'_>) -> Result<()> {
        let rows = rows.iter();
        match (self, writer.untyped()) {
            (Self::Text(text), ColumnWriter::ByteArrayColumnWriter(writer)) => {
                required(rows.map(|row| bytes(text(row))), writer)
            }
            (Self::OptionalText(text), ColumnWriter::ByteArrayColumnWriter(writer)) => {
                optional(rows.map(|row| text(row).map(bytes)), writer)
            }
            (Self::Time(time), ColumnWriter::Int64ColumnWriter(writer)) => {
                required(rows.map(|row| time(row).as_millisecond()), writer)
            }
            (Self::Count(count), ColumnWriter::Int64ColumnWriter(writer)) => {
                required(rows.map(|row| i64::from(count(row))), writer)
            }
            (Self::Number(number), ColumnWriter::DoubleColumnWriter(writer)) => {
                required(rows.map(number), writer)
            }
            (Self::OptionalNumber(number), ColumnWriter::DoubleColumnWriter(writer)) => {
                optional(rows.map(number), writer)
            }
            (Self::Flag(flag), ColumnWriter::BoolColumnWriter(writer)) => required(rows.map(flag), writer),
            _ => Err(ParquetError::General("a column of another type".to_owned())),
        }
    }
}

fn bytes(text: &str) -> ByteArray {
    ByteArray::from(text.as_bytes().to_vec())
}

fn required<T: DataType>(
    values: impl Iterator<Item = T::T>,
    writer: &mut ColumnWriterImpl<'_, T>,
) -> Result<()> {
    writer.write_batch(&values.collect::<Vec<_>>(), None, None)?;
    Ok(())
}

/// Writes nulls, too: a value counts if its definition level is 1.
fn optional<T: DataType>(
    values: impl Iterator<Item = Option<T::T>>,
    writer: &mut ColumnWriterImpl<'_, T>,
) -> Result<()> {
    let values: Vec<Option<T::T>> = values.collect();
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    writer.write_batch(&values.into_iter().flatten().collect::<Vec<_>>(), Some(&levels), None)?;
    Ok(())
}

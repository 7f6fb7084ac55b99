//! Stores a record as a Parquet file: one row for each number, with the job in the file's metadata.
//!
//! The same record always gives the same bytes: the file contains no time and nothing about the host, and
//! uses no compression, whose output could change with the library's version.

use std::sync::Arc;

use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use serde_json::json;

use crate::job::Job;
use crate::record::{Record, Row, Value};

/// The columns. `launch` is null for the whole run; exactly one of `count` and `real` is null.
const SCHEMA: &str = "message measurements {
    optional int32 launch;
    required binary group (UTF8);
    required binary counter (UTF8);
    optional int64 count (UINT_64);
    optional double real;
}";

/// Metadata key of the job.
const JOB: &str = "strata.job";

/// Metadata key of what pandas makes of the columns.
const PANDAS: &str = "pandas";

/// Name, type and pandas' type of each column. Left to itself, pandas would make floats of integers beside nulls, and
/// 64-bit counts and hashes would lose bits.
const PANDAS_TYPES: [(&str, &str, &str); 5] = [
    ("launch", "int32", "Int32"),
    ("group", "unicode", "object"),
    ("counter", "unicode", "object"),
    ("count", "uint64", "UInt64"),
    ("real", "float64", "float64"),
];

/// What pandas makes of the columns, as it is told:
/// <https://pandas.pydata.org/docs/development/developer.html#storing-pandas-dataframe-objects-in-apache-parquet-format>.
fn pandas() -> String {
    let column = |(name, kind, dtype): (&str, &str, &str)| json!({ "name": name, "field_name": name, "pandas_type": kind, "numpy_type": dtype, "metadata": null });
    let columns = PANDAS_TYPES.map(column);
    let creator = json!({ "library": "strata", "version": "1" });
    json!({
        "index_columns": [],
        "column_indexes": [],
        "columns": columns,
        "creator": creator,
        "pandas_version": "1.0.0",
    })
    .to_string()
}

/// Encodes a record as the bytes of a file.
pub fn encode(record: &Record) -> Vec<u8> {
    try_encode(record).expect("a record fits the schema, and memory takes every write")
}

fn try_encode(record: &Record) -> Result<Vec<u8>> {
    let metadata = vec![KeyValue::new(JOB.into(), record.job.text()), KeyValue::new(PANDAS.into(), pandas())];
    let properties = WriterProperties::builder()
        .set_created_by("strata".into())
        .set_key_value_metadata(Some(metadata))
        .build();
    let mut bytes = Vec::new();
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    let rows = &record.rows;
    let count = |value: Value| match value {
        Value::Count(count) => Some(count.cast_signed()),
        Value::Real(_) => None,
    };
    let real = |value: Value| match value {
        Value::Count(_) => None,
        Value::Real(real) => Some(real),
    };
    optional::<Int32Type>(&mut group, rows.iter().map(|row| row.launch.map(u32::cast_signed)))?;
    required(&mut group, rows.iter().map(|row| row.group.as_str()))?;
    required(&mut group, rows.iter().map(|row| row.counter.as_str()))?;
    optional::<Int64Type>(&mut group, rows.iter().map(|row| count(row.value)))?;
    optional::<DoubleType>(&mut group, rows.iter().map(|row| real(row.value)))?;
    group.close()?;
    writer.close()?;
    Ok(bytes)
}

type Group<'a, 'b> = SerializedRowGroupWriter<'a, &'b mut Vec<u8>>;

fn optional<T: DataType>(
    group: &mut Group<'_, '_>,
    values: impl Iterator<Item = Option<T::T>>,
) -> Result<()> {
    let (mut present, mut levels) = (Vec::new(), Vec::new());
    for value in values {
        levels.push(i16::from(value.is_some()));
        present.extend(value);
    }
    let mut column = group.next_column()?.expect("the schema has this column");
    column.typed::<T>().write_batch(&present, Some(&levels), None)?;
    column.close()
}

fn required<'a>(group: &mut Group<'_, '_>, values: impl Iterator<Item = &'a str>) -> Result<()> {
    let values: Vec<ByteArray> = values.map(ByteArray::from).collect();
    let mut column = group.next_column()?.expect("the schema has this column");
    column.typed::<ByteArrayType>().write_batch(&values, None, None)?;
    column.close()
}

/// Decodes a record from the bytes that [`encode`] produced.
///
/// # Errors
/// What does not match.
pub fn decode(bytes: Vec<u8>) -> std::result::Result<Record, String> {
    try_decode(bytes).map_err(|error| error.to_string())
}

fn try_decode(bytes: Vec<u8>) -> Result<Record> {
    let general = |message: &str| ParquetError::General(message.to_owned());
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes))?;
    let metadata = reader.metadata().file_metadata();
    let job = metadata.key_value_metadata().into_iter().flatten().find(|entry| entry.key == JOB);
    let job =
        job.and_then(|entry| entry.value.as_deref()).ok_or_else(|| general("the metadata holds no job"))?;
    let job: Job = toml::from_str(job).map_err(|error| general(error.message()))?;
    let group = reader.get_row_group(0)?;
    let launches = read_optional::<Int32Type>(group.as_ref(), 0)?;
    let groups = read_required(group.as_ref(), 1)?;
    let counters = read_required(group.as_ref(), 2)?;
    let counts = read_optional::<Int64Type>(group.as_ref(), 3)?;
    let reals = read_optional::<DoubleType>(group.as_ref(), 4)?;
    let mut rows = Vec::with_capacity(groups.len());
    let names = groups.into_iter().zip(counters);
    for (((group, counter), launch), (count, real)) in names.zip(launches).zip(counts.into_iter().zip(reals))
    {
        let value = match (count, real) {
            (Some(count), None) => Value::Count(count.cast_unsigned()),
            (None, Some(real)) => Value::Real(real),
            _ => return Err(general("a row has both a count and a real, or neither")),
        };
        rows.push(Row { launch: launch.map(i32::cast_unsigned), group, counter, value });
    }
    Ok(Record { job, rows })
}

fn read_optional<T: DataType>(group: &dyn RowGroupReader, column: usize) -> Result<Vec<Option<T::T>>> {
    let rows = usize::try_from(group.metadata().num_rows()).expect("rows are counted from 0 up");
    let (mut present, mut levels) = (Vec::new(), Vec::new());
    let mut reader = get_typed_column_reader::<T>(group.get_column_reader(column)?);
    reader.read_records(rows, Some(&mut levels), None, &mut present)?;
    let mut present = present.into_iter();
    Ok(levels.into_iter().map(|level| if level == 0 { None } else { present.next() }).collect())
}

fn read_required(group: &dyn RowGroupReader, column: usize) -> Result<Vec<String>> {
    let rows = usize::try_from(group.metadata().num_rows()).expect("rows are counted from 0 up");
    let mut values: Vec<ByteArray> = Vec::new();
    let mut reader = get_typed_column_reader::<ByteArrayType>(group.get_column_reader(column)?);
    reader.read_records(rows, None, None, &mut values)?;
    values.iter().map(|value| Ok(value.as_utf8()?.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use parquet::basic::{ConvertedType, Type};
    use strata_workloads::Size;

    use super::*;

    #[test]
    fn pandas_is_told_a_type_for_each_column_that_holds_all_its_values() {
        let record = Record { job: Job::profile("saxpy", Size::Test).unwrap(), rows: vec![] };
        let reader = SerializedFileReader::new(bytes::Bytes::from(encode(&record))).unwrap();
        let file = reader.metadata().file_metadata();
        let text = file.key_value_metadata().unwrap().iter().find(|entry| entry.key == "pandas").unwrap();
        let told: serde_json::Value = serde_json::from_str(text.value.as_ref().unwrap()).unwrap();
        let columns = file.schema_descr().columns();
        assert_eq!(told["columns"].as_array().unwrap().len(), columns.len());
        for (column, told) in columns.iter().zip(told["columns"].as_array().unwrap()) {
            assert_eq!(told["name"], column.name());
            assert_eq!(told["field_name"], column.name());
            let is_unsigned = column.converted_type() == ConvertedType::UINT_64;
            // Types with a capital letter have nulls; the others would become floats.
            let dtype = match column.physical_type() {
                Type::INT64 if is_unsigned => "UInt64",
                Type::INT32 => "Int32",
                Type::DOUBLE => "float64",
                Type::BYTE_ARRAY => "object",
                other => panic!("{}: {other}", column.name()),
            };
            assert_eq!(told["numpy_type"], dtype, "{}", column.name());
        }
    }
}

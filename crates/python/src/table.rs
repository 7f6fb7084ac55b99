//! Tables whose columns pandas, Polars, pyarrow and DuckDB read where they lie: Arrow's C stream interface
//! (<https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>).

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCapsule, PyDict, PyFloat, PyInt, PyList};

use crate::refused;

/// Columns of equal length.
#[pyclass(frozen, module = "strata_gpu._native")]
pub struct Table {
    schema: SchemaRef,
    batch: RecordBatch,
}

impl Table {
    /// A table of columns under their names.
    ///
    /// # Panics
    /// If the columns differ in length.
    pub fn new(columns: Vec<(String, ArrayRef)>) -> Table {
        let field = |(name, column): &(String, ArrayRef)| Field::new(name, column.data_type().clone(), true);
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let arrays = columns.into_iter().map(|(_, column)| column).collect();
        let batch = RecordBatch::try_new(schema.clone(), arrays).expect("columns have one length");
        Table { schema, batch }
    }

    /// The columns under their names. A table has one batch.
    fn named(&self) -> impl Iterator<Item = (String, ArrayRef)> + '_ {
        let names = self.schema.fields().iter().map(|field| field.name().clone());
        names.zip(self.batch.columns().iter().cloned())
    }
}

#[pymethods]
impl Table {
    /// A table of named lists, followed by the columns of another. A list has strings, truths, whole numbers or numbers, and may have
    /// None among them; a list of anything else becomes one of strings.
    #[staticmethod]
    fn joined(lists: Vec<(String, Vec<Bound<'_, PyAny>>)>, table: Option<&Table>) -> PyResult<Table> {
        let mut columns = Vec::new();
        for (name, list) in lists {
            columns.push((name, column(&list)?));
        }
        columns.extend(table.into_iter().flat_map(Table::named));
        let lengths: Vec<usize> = columns.iter().map(|(_, column)| column.len()).collect();
        if lengths.iter().any(|length| *length != lengths[0]) {
            return Err(refused(format!("columns: found lengths {lengths:?}, expected one")));
        }
        Ok(Table::new(columns))
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// Names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.named().map(|(name, _)| name).collect()
    }

    /// Each column as a list, by name.
    fn to_pydict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, column) in self.named() {
            let values = (0..column.len()).map(|row| value(py, &column, row));
            dict.set_item(name, PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)?)?;
        }
        Ok(dict)
    }

    /// A pandas DataFrame; needs pandas and pyarrow.
    fn to_pandas<'py>(slf: &Bound<'py, Table>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("pyarrow")?.call_method1("table", (slf,))?.call_method0("to_pandas")
    }

    /// The table as a stream of Arrow batches, which share the columns' memory.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A schema is a request that need not be met.
        drop(requested_schema);
        let reader = RecordBatchIterator::new([Ok(self.batch.clone())], self.schema.clone());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __repr__(&self) -> String {
        format!("<strata_gpu.Table of {} rows: {}>", self.batch.num_rows(), self.columns().join(", "))
    }

    /// The first rows as HTML, for notebooks.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let mut html = String::from("<table><thead><tr>");
        for name in self.columns() {
            html += &format!("<th>{}</th>", escaped(&name));
        }
        html += "</tr></thead><tbody>";
        for row in 0..self.batch.num_rows().min(SHOWN) {
            html += "<tr>";
            for column in self.batch.columns() {
                let value = value(py, column, row)?.bind(py).clone();
                let text = match value.extract::<f64>() {
                    _ if value.is_none() => String::new(),
                    Ok(_) if value.is_instance_of::<PyFloat>() => {
                        value.call_method1("__format__", (".6g",))?.extract::<String>()?
                    }
                    _ => value.str()?.to_string(),
                };
                html += &format!("<td>{}</td>", escaped(&text));
            }
            html += "</tr>";
        }
        html += "</tbody></table>";
        if self.batch.num_rows() > SHOWN {
            html += &format!("<p>{SHOWN} of {} rows</p>", self.batch.num_rows());
        }
        Ok(html)
    }
}

/// Rows that notebooks show.
const SHOWN: usize = 40;

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A list as a column of the narrowest type that holds all of it.
fn column(list: &[Bound<'_, PyAny>]) -> PyResult<ArrayRef> {
    let present = || list.iter().filter(|value| !value.is_none());
    let is_whole =
        |value: &Bound<'_, PyAny>| value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>();
    let whole = |value: &Bound<'_, PyAny>| value.extract::<Option<i64>>();
    if present().next().is_some() && present().all(|value| value.is_instance_of::<PyBool>()) {
        let truth = |value: &Bound<'_, PyAny>| value.extract::<Option<bool>>();
        return Ok(Arc::new(list.iter().map(truth).collect::<PyResult<BooleanArray>>()?));
    }
    if present().next().is_some() && present().all(is_whole) {
        return Ok(Arc::new(list.iter().map(whole).collect::<PyResult<Int64Array>>()?));
    }
    if present().next().is_some()
        && present().all(|value| is_whole(value) || value.is_instance_of::<PyFloat>())
    {
        let real = |value: &Bound<'_, PyAny>| value.extract::<Option<f64>>();
        return Ok(Arc::new(list.iter().map(real).collect::<PyResult<Float64Array>>()?));
    }
    let text = |value: &Bound<'_, PyAny>| match value.is_none() {
        true => Ok(None),
        false => Ok(Some(value.str()?.to_string())),
    };
    Ok(Arc::new(list.iter().map(text).collect::<PyResult<StringArray>>()?))
}

/// One value of a column.
fn value(py: Python<'_>, column: &ArrayRef, row: usize) -> PyResult<Py<PyAny>> {
    if column.is_null(row) {
        return Ok(py.None());
    }
    match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().value(row).into_py_any(py),
        DataType::Boolean => column.as_boolean().value(row).into_py_any(py),
        DataType::UInt32 => column.as_primitive::<UInt32Type>().value(row).into_py_any(py),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).into_py_any(py),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).into_py_any(py),
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row).into_py_any(py),
        other => Err(refused(format!("a column of {other}"))),
    }
}

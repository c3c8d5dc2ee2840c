//! The only user of the YAML crate, so that it can be swapped in one place.

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use serde_yaml::{Error, Mapping, Value};

/// Reads a document. The caller bounds its size: YAML parsers are quadratic on hostile nesting.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    serde_yaml::from_str(text)
}

/// Writes a document.
pub fn write<T: Serialize>(value: &T) -> Result<String, Error> {
    serde_yaml::to_string(value)
}

//! `config show`: every setting, and where it comes from.

use std::fmt::Write;

use serde_json::json;

use super::wiring::Setup;
use super::{CliError, print, print_json};
use crate::config::Origin;
use crate::model::openai::shown_url;
use crate::support::yaml::{self, Value};

/// Shows the settings.
pub(super) fn show(setup: &Setup, with_origin: bool) -> Result<u8, CliError> {
    if setup.json {
        let row = |(key, value, origin): (&str, &Value, &Origin)| {
            let origin = origin.to_string().replace('`', "");
            json!({"key": key, "value": shown(key, value), "origin": origin})
        };
        print_json(&setup.layers.rows().map(row).collect::<Vec<_>>())?;
        return Ok(0);
    }
    let mut text = String::new();
    for (key, value, origin) in setup.layers.rows() {
        let value = yaml::write(&shown(key, value)).unwrap_or_default();
        let value = value.trim();
        // Writing into a string cannot fail.
        let _ = if with_origin {
            writeln!(text, "{key}: {value}  # {origin}")
        } else {
            writeln!(text, "{key}: {value}")
        };
    }
    print(&text)?;
    Ok(0)
}

/// Returns a value as it may be shown: a base URL can hold a password or a key.
fn shown(key: &str, value: &Value) -> Value {
    match value {
        Value::String(url) if key == "endpoint.base_url" => Value::from(shown_url(url)),
        _ => value.clone(),
    }
}

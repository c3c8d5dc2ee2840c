//! `config show`: every setting, and where it comes from.

use std::fmt::Write;

use serde_json::json;

use super::wiring::Setup;
use super::{CliError, print, print_json};
use crate::support::yaml;

/// Shows the settings.
pub(super) fn show(setup: &Setup, with_origin: bool) -> Result<u8, CliError> {
    if setup.json {
        let row = |(key, value, origin): (&str, &yaml::Value, &crate::config::Origin)| json!({"key": key, "value": value, "origin": origin.to_string().replace('`', "")});
        print_json(&setup.layers.rows().map(row).collect::<Vec<_>>())?;
        return Ok(0);
    }
    let mut text = String::new();
    for (key, value, origin) in setup.layers.rows() {
        let value = yaml::write(value).unwrap_or_default();
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

//! The tools of a session, in a fixed order, with their argument types erased.

use std::sync::Arc;

use futures::future::BoxFuture;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::{Tool, ToolContext};
use crate::protocol::{ToolCall, ToolError, ToolFailure, ToolFailureKind, ToolOutput, ToolSpec};

/// Knows the tools by name and runs calls.
#[derive(Clone, Default)]
pub struct ToolRegistry {
    tools: Vec<Entry>,
}

#[derive(Clone)]
struct Entry {
    spec: ToolSpec,
    tool: Arc<dyn AnyTool>,
}

/// Two tools would have one name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is already a tool named `{0}`")]
pub struct DuplicateTool(pub String);

impl ToolRegistry {
    /// Returns a registry without tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool with its description for the model.
    pub fn add<T: Tool>(
        &mut self,
        tool: T,
        description: impl Into<String>,
    ) -> Result<(), DuplicateTool> {
        if self.tools.iter().any(|entry| entry.spec.name == T::NAME) {
            return Err(DuplicateTool(T::NAME.to_owned()));
        }
        let spec = ToolSpec {
            name: T::NAME.to_owned(),
            description: description.into(),
            parameters: flat_schema::<T::Args>(),
        };
        self.tools.push(Entry { spec, tool: Arc::new(tool) });
        self.tools.sort_by(|a, b| a.spec.name.cmp(&b.spec.name));
        Ok(())
    }

    /// Gives a tool another description: in the language of a session. An unknown name is left
    /// alone.
    pub fn describe(&mut self, name: &str, description: &str) {
        if let Some(entry) = self.tools.iter_mut().find(|entry| entry.spec.name == name) {
            description.clone_into(&mut entry.spec.description);
        }
    }

    /// Returns what the model is told, sorted by name, so that requests stay byte-stable.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|entry| entry.spec.clone()).collect()
    }

    /// Returns whether a call is understood and only reads, so that it may run beside others.
    pub fn only_reads(&self, call: &ToolCall) -> bool {
        self.find(&call.name).is_some_and(|entry| entry.tool.only_reads(&call.arguments))
    }

    /// Runs a call. An unknown tool and malformed arguments are answers, not ends.
    pub async fn dispatch(
        &self,
        call: &ToolCall,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let Some(entry) = self.find(&call.name) else {
            return Err(ToolError::Answerable(self.unknown(&call.name)));
        };
        entry.tool.call(&call.arguments, context).await
    }

    fn find(&self, name: &str) -> Option<&Entry> {
        self.tools.iter().find(|entry| entry.spec.name == name)
    }

    fn unknown(&self, name: &str) -> ToolFailure {
        let known: Vec<&str> = self.tools.iter().map(|entry| entry.spec.name.as_str()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        ToolFailure {
            kind: ToolFailureKind::UnknownTool,
            for_model: format!("There is no tool named `{name}`. The tools are: {known}."),
            for_human: format!("unknown tool `{name}`"),
            effects: Vec::new(),
        }
    }
}

/// A tool whose argument type is erased; private, so that tools stay typed.
trait AnyTool: Send + Sync {
    fn only_reads(&self, arguments: &str) -> bool;
    fn call<'a>(
        &'a self,
        arguments: &'a str,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>>;
}

impl<T: Tool> AnyTool for T {
    fn only_reads(&self, arguments: &str) -> bool {
        parse::<T>(arguments).is_ok_and(|arguments| Tool::only_reads(self, &arguments))
    }

    fn call<'a>(
        &'a self,
        arguments: &'a str,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let arguments = parse::<T>(arguments).map_err(ToolError::Answerable)?;
            Tool::call(self, arguments, context).await
        })
    }
}

/// Reads the arguments; none at all are those of a tool that needs none.
fn parse<T: Tool>(arguments: &str) -> Result<T::Args, ToolFailure> {
    let text = if arguments.trim().is_empty() { "{}" } else { arguments };
    serde_json::from_str(text).map_err(|error| ToolFailure {
        kind: ToolFailureKind::BadArguments,
        for_model: format!(
            "The arguments of `{}` could not be read: {error}. They must be one JSON object with these fields: {}.",
            T::NAME,
            describe_fields(&flat_schema::<T::Args>()),
        ),
        for_human: format!("bad arguments for `{}`: {error}", T::NAME),
        effects: Vec::new(),
    })
}

fn describe_fields(schema: &Value) -> String {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let Some(properties) = schema["properties"].as_object() else { return "none".to_owned() };
    let describe = |(name, property): (&String, &Value)| {
        let kind = property["type"].as_str().unwrap_or("any");
        let need = if required.contains(&name.as_str()) { "required" } else { "optional" };
        format!("`{name}` ({kind}, {need})")
    };
    properties.iter().map(describe).collect::<Vec<_>>().join(", ")
}

/// Returns the schema of an argument struct as servers take it: inlined, without `$schema`,
/// `title`, `null` types and numeric formats.
fn flat_schema<A: schemars::JsonSchema>() -> Value {
    let settings = SchemaSettings::draft07().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<A>().to_value();
    flatten(&mut schema);
    if schema.get("properties").is_none() {
        schema = json!({"type": "object", "properties": {}});
    }
    if let Some(object) = schema.as_object_mut() {
        object.remove("description");
    }
    schema
}

fn flatten(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            for noise in ["$schema", "title", "format", "default"] {
                // A property may well be called `title`; only the annotation is noise.
                if object.get(noise).is_some_and(|value| !value.is_object()) {
                    object.remove(noise);
                }
            }
            if let Some(Value::Array(kinds)) = object.get("type") {
                let kind = kinds.iter().find(|kind| *kind != "null").cloned();
                object.insert("type".to_owned(), kind.unwrap_or_else(|| json!("string")));
            }
            if let Some(Value::Array(any)) = object.remove("anyOf") {
                let real = any.into_iter().find(|schema| schema["type"] != "null");
                if let Some(Value::Object(real)) = real {
                    object.extend(real);
                }
            }
            if let Some(Value::Array(values)) = object.get_mut("enum") {
                values.retain(|value| !value.is_null());
            }
            object.values_mut().for_each(flatten);
        }
        Value::Array(items) => items.iter_mut().for_each(flatten),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

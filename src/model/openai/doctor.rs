//! Tries an endpoint before it is needed: where requests go, what it offers, whether it answers,
//! streams, calls tools, and whether it reads the whole prompt.
//!
//! Each check is one line with its remedy. Nothing is changed, and nothing costs more than a few
//! thousand tokens.

use std::sync::Mutex;

use serde_json::json;

use super::options::EndpointOptions;
use super::url::shown;
use super::{OpenAiEmbedder, OpenAiModel, window};
use crate::model::embedding::{Embedder, similarity};
use crate::model::{ChatModel, ChatReply, ChatRequest, Delta, ModelError};
use crate::protocol::{Message, ToolSpec};

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What was checked, in one or two words.
    pub check: &'static str,
    /// How it went.
    pub verdict: Verdict,
    /// One line about it.
    pub message: String,
    /// What to do, if anything.
    pub remedy: Option<String>,
    /// What went wrong, where the endpoint gave an error.
    pub error: Option<ModelError>,
}

/// How a check went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is as it should be.
    Good,
    /// It works, and something should be known.
    Doubtful,
    /// It does not work.
    Bad,
}

/// The word at the front of a long prompt that is asked for at its end.
const CANARY: &str = "KESTREL";

/// Lines of the long prompt: together about 4,500 tokens, more than the smallest usual window.
const CANARY_LINES: usize = 300;

/// Tries the endpoint, from the outside in; what cannot work any more is not tried.
pub async fn doctor(options: &EndpointOptions) -> Vec<Finding> {
    let mut findings = vec![where_it_goes(options)];
    let mut options = options.clone();
    // A check needs few words; an answer may still think before it says them.
    options.max_output_tokens = options.max_output_tokens.or(Some(2000));
    let model = match OpenAiModel::new(options.clone()) {
        Ok(model) => model,
        Err(error) => {
            findings.push(failed("client", &error));
            return findings;
        }
    };
    findings.push(models(&model).await);
    let (chat, answers) = chat(&model).await;
    findings.push(chat);
    if !answers {
        return findings;
    }
    findings.push(streaming(&model).await);
    findings.push(tool_call(&model).await);
    let (found, tokens) = window_size(&model).await;
    findings.push(found);
    findings.push(canary(&model, tokens).await);
    findings.extend(vectors(&options).await);
    findings
}

fn where_it_goes(options: &EndpointOptions) -> Finding {
    let key = match &options.key {
        Some(key) => format!("key from {}", key.origin()),
        None => "no key".to_owned(),
    };
    let url = shown(&options.base.join("chat/completions"));
    let mut finding = good(
        "endpoint",
        format!("{url} ({}, model `{}`, {key})", options.preset.name, options.model),
    );
    if options.key.is_none() && !options.base.is_local() {
        finding.verdict = Verdict::Doubtful;
        finding.remedy = Some(format!("a hosted server wants a key: set {}", options.key_belongs));
    } else if options.key.is_some() && !options.base.is_encrypted() && !options.base.is_local() {
        finding.verdict = Verdict::Doubtful;
        finding.remedy = Some("the key travels unencrypted: write `https://`".to_owned());
    }
    finding
}

async fn models(model: &OpenAiModel) -> Finding {
    let name = &model.options.model;
    match window::models(&model.transport, &model.options).await {
        Ok(models) if models.iter().any(|offered| offered.id == *name) => {
            good("models", format!("{} offered, `{name}` among them", models.len()))
        }
        Ok(models) if models.is_empty() => {
            doubtful("models", "the list is empty".to_owned(), "load a model into the server")
        }
        Ok(_) => {
            let remedy = model.known_models().await;
            let remedy = remedy.unwrap_or_else(|| "check the model's name".to_owned());
            doubtful("models", format!("`{name}` is not in the list"), &remedy)
        }
        Err(failure) => {
            let error = model.meaning(failure).await;
            // Not every server has a list; the chat decides.
            let hint = error.hint().unwrap_or("the endpoint may work all the same").to_owned();
            doubtful("models", format!("no list: {error}"), &hint)
        }
    }
}

async fn chat(model: &OpenAiModel) -> (Finding, bool) {
    match ask(model, "Answer with the single word: ready", Vec::new()).await {
        Ok(reply) if reply.text.trim().is_empty() => {
            let text = "it answers without a word".to_owned();
            (doubtful("chat", text, "try another model"), true)
        }
        Ok(_) => (good("chat", "it answers".to_owned()), true),
        Err(error) => (failed("chat", &error), false),
    }
}

async fn streaming(model: &OpenAiModel) -> Finding {
    let pieces = Mutex::new(0_usize);
    let count = |delta| {
        if matches!(delta, Delta::Text(_) | Delta::Reasoning(_))
            && let Ok(mut pieces) = pieces.lock()
        {
            *pieces += 1;
        }
    };
    let request = request("Count from 1 to 20, separated by blanks.", Vec::new());
    let reply = model.chat(&request, &count).await;
    let pieces = pieces.lock().map_or(0, |pieces| *pieces);
    match reply {
        Err(error) => failed("streaming", &error),
        Ok(_) if !model.options.stream => {
            good("streaming", "switched off by `endpoint.stream`".to_owned())
        }
        Ok(_) if pieces > 1 => good("streaming", format!("the text came in {pieces} pieces")),
        Ok(_) => doubtful(
            "streaming",
            "the answer came in one piece".to_owned(),
            "nothing to do; a proxy may hold answers back",
        ),
    }
}

async fn tool_call(model: &OpenAiModel) -> Finding {
    let tool = ToolSpec {
        name: "weather".to_owned(),
        description: "Returns the weather of a city.".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {"city": {"type": "string", "description": "The city."}},
            "required": ["city"],
        }),
    };
    let question = "What is the weather in Paris? Call the tool `weather`.";
    match ask(model, question, vec![tool]).await {
        Err(error) => failed("tool calls", &error),
        Ok(reply) => match reply.calls.first() {
            Some(call) if call.name == "weather" => {
                good("tool calls", format!("it called `weather` with {}", call.arguments))
            }
            Some(call) => doubtful(
                "tool calls",
                format!("it called `{}` in the place of `weather`", call.name),
                "try a larger model",
            ),
            None => doubtful(
                "tool calls",
                "it answered without calling the tool".to_owned(),
                "choose a model that can call tools; llama.cpp needs `--jinja`, vLLM `--enable-auto-tool-choice`",
            ),
        },
    }
}

async fn window_size(model: &OpenAiModel) -> (Finding, usize) {
    if let Some(window) = model.options.window {
        return (good("window", format!("{window} tokens, as set")), window);
    }
    if let Some(window) = window::of_name(&model.options) {
        return (good("window", format!("{window} tokens, by the model's name")), window);
    }
    let (window, warning) = window::find(&model.transport, &model.options).await;
    let finding = match warning {
        None if model.options.assumed_window == Some(window) => {
            good("window", format!("{window} tokens, as `limits.window` says"))
        }
        None => good("window", format!("{window} tokens, as the server tells")),
        Some(warning) => doubtful("window", warning, "set `endpoint.window`"),
    };
    (finding, window)
}

/// Asks for a word from the front of a long prompt: a server that cuts in silence has lost it.
async fn canary(model: &OpenAiModel, window: usize) -> Finding {
    if window < 6000 {
        return doubtful(
            "whole prompt",
            format!("a window of {window} tokens is too small to try"),
            "16,000 tokens or more serve well: raise it (`OLLAMA_CONTEXT_LENGTH`, `llama-server -c`)",
        );
    }
    let mut prompt = format!("The password is {CANARY}. Remember it.\n");
    let line = |line| format!("Line {line}: nothing of interest stands here.\n");
    prompt.extend((1..=CANARY_LINES).map(line));
    prompt.push_str("What is the password? Answer with the one word.");
    match ask(model, &prompt, Vec::new()).await {
        Err(ModelError::Overflow { message, .. }) => doubtful(
            "whole prompt",
            format!("about 4,500 tokens do not fit: {message}"),
            "start the server with a larger window (`OLLAMA_CONTEXT_LENGTH`, `llama-server -c`)",
        ),
        Err(error) => failed("whole prompt", &error),
        Ok(reply) if reply.unverified => Finding {
            verdict: Verdict::Bad,
            ..doubtful(
                "whole prompt",
                reply.warnings.join("; "),
                "start the server with a larger window (`OLLAMA_CONTEXT_LENGTH`, `llama-server -c`)",
            )
        },
        Ok(reply) if reply.text.to_uppercase().contains(CANARY) => {
            good("whole prompt", "a word at the front of about 4,500 tokens was found".to_owned())
        }
        Ok(_) => doubtful(
            "whole prompt",
            "a word at the front of about 4,500 tokens was not found".to_owned(),
            "the model is weak, or the server cuts prompts: raise its window (`OLLAMA_CONTEXT_LENGTH`)",
        ),
    }
}

/// Compares a question with two texts, of which one answers it; none where there is no model for
/// embeddings.
async fn vectors(options: &EndpointOptions) -> Option<Finding> {
    let embedder = match OpenAiEmbedder::new(options) {
        Ok(embedder) => embedder?,
        Err(error) => return Some(failed("embeddings", &error)),
    };
    let texts = [
        "Where are orders processed?",
        "The function that handles what customers bought.",
        "The colours of autumn leaves in a forest.",
    ];
    let made = embedder.embed(&texts.map(str::to_owned)).await;
    let [question, near, far] = match made.as_deref() {
        Ok([question, near, far]) => [question, near, far],
        Ok(_) => return None,
        // Nothing needs them: a turn goes on by words alone.
        Err(error) => {
            let hint = error.hint().unwrap_or("relevance is computed by words alone").to_owned();
            return Some(doubtful("embeddings", error.to_string(), &hint));
        }
    };
    let (near, far) = (similarity(question, near), similarity(question, far));
    let name = embedder.name();
    let text = format!("`{name}` makes {} numbers ({near:.2} near, {far:.2} far)", question.len());
    Some(if near > far {
        good("embeddings", text)
    } else {
        doubtful("embeddings", text, "it does not tell texts apart: choose another model")
    })
}

async fn ask(
    model: &OpenAiModel,
    question: &str,
    tools: Vec<ToolSpec>,
) -> Result<ChatReply, ModelError> {
    model.chat(&request(question, tools), &|_| {}).await
}

fn request(question: &str, tools: Vec<ToolSpec>) -> ChatRequest {
    let messages = vec![
        Message::System { content: "You are being tested. Be brief.".to_owned() },
        Message::User { content: question.to_owned() },
    ];
    ChatRequest { messages, tools }
}

fn good(check: &'static str, message: String) -> Finding {
    Finding { check, verdict: Verdict::Good, message, remedy: None, error: None }
}

fn doubtful(check: &'static str, message: String, remedy: &str) -> Finding {
    let remedy = Some(remedy.to_owned());
    Finding { check, verdict: Verdict::Doubtful, message, remedy, error: None }
}

fn failed(check: &'static str, error: &ModelError) -> Finding {
    Finding {
        check,
        verdict: Verdict::Bad,
        message: error.to_string(),
        remedy: error.hint().map(str::to_owned),
        error: Some(error.clone()),
    }
}

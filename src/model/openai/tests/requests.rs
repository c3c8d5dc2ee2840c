//! R01–R18: what servers refuse, and what is therefore never sent, or not sent again.

use pretty_assertions::assert_eq;
use serde::Deserialize;

use super::*;

/// A request in our form, and what is sent of it or why it is not sent.
#[derive(Deserialize)]
struct Case {
    about: String,
    #[serde(default)]
    preset: Option<String>,
    #[serde(default)]
    quirks: Vec<String>,
    #[serde(default)]
    max_output_tokens: Option<u32>,
    #[serde(default)]
    extra_body: serde_json::Map<String, Value>,
    #[serde(default)]
    stream: Option<bool>,
    messages: Vec<Message>,
    #[serde(default)]
    tools: Vec<ToolSpec>,
    #[serde(flatten)]
    expected: Expected,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Expected {
    /// The whole body.
    Sent(Value),
    /// The messages.
    MessagesSent(Value),
    /// The tools.
    ToolsSent(Option<Value>),
    /// Call and result have one id of so many letters or digits.
    SameIds(usize),
    /// The reason why nothing is sent.
    Refused(String),
}

fn check(name: &str) {
    let text = std::fs::read_to_string(folder().join(format!("{name}.json"))).unwrap();
    let cases: Vec<Case> = serde_json::from_str(&text).unwrap();
    assert!(!cases.is_empty());
    for case in cases {
        let mut options = options("https://llm.example.com/v1");
        if let Some(preset) = &case.preset {
            options.preset = Preset::named(preset).unwrap();
        }
        for word in &case.quirks {
            assert!(options.preset.change(word), "{word}");
        }
        options.max_output_tokens = case.max_output_tokens;
        options.extra_body = case.extra_body;
        options.stream = case.stream.unwrap_or(true);
        let request = ChatRequest { messages: case.messages, tools: case.tools };
        let body = request::body(&request, &options, &Adaptations::default());
        let about = format!("{name}: {}", case.about);
        match case.expected {
            Expected::Sent(expected) => assert_eq!(body, Ok(expected), "{about}"),
            Expected::MessagesSent(expected) => {
                assert_eq!(body.unwrap()["messages"], expected, "{about}");
            }
            Expected::ToolsSent(expected) => {
                assert_eq!(body.unwrap().get("tools"), expected.as_ref(), "{about}");
            }
            Expected::SameIds(length) => {
                let messages = &body.unwrap()["messages"];
                let id = messages[1]["tool_calls"][0]["id"].as_str().unwrap();
                assert_eq!(messages[2]["tool_call_id"], id, "{about}");
                let plain = id.chars().all(|letter| letter.is_ascii_alphanumeric());
                assert!(plain && id.len() == length, "{about}: {id}");
            }
            Expected::Refused(expected) => {
                assert_eq!(body.unwrap_err().to_string(), expected, "{about}");
            }
        }
    }
}

/// Asks a server that refuses with a fixture and then answers, twice: what was learned is kept.
/// Returns the three bodies.
async fn refused_once(
    name: &str,
    request: &ChatRequest,
    change: impl FnOnce(&mut EndpointOptions),
) -> Vec<Value> {
    let server = Server::start(vec![fixture(name), fixture("OK"), fixture("OK")]).await;
    let mut options = options(&server.url);
    change(&mut options);
    let model = OpenAiModel::new(options).unwrap();
    for _ in 0..2 {
        let heard = ask_model(&model, request, &server).await;
        assert_eq!(heard.reply().text, "Hello", "{name}");
    }
    server.asked().into_iter().map(|asked| asked.body).collect()
}

#[test]
fn r01_what_was_not_set_is_absent() {
    check("R01");
}

#[tokio::test]
async fn r02_stream_options_are_dropped_for_good_when_they_are_refused() {
    let bodies = refused_once("R02", &question(), |_| {}).await;
    let sent: Vec<bool> = bodies.iter().map(|body| body.get("stream_options").is_some()).collect();
    assert_eq!(sent, [true, false, false]);
}

#[test]
fn r03_the_system_speaks_as_system() {
    check("R03");
}

#[tokio::test]
async fn r04_the_limit_of_an_answer_has_two_names() {
    let limited = |options: &mut EndpointOptions| options.max_output_tokens = Some(100);
    let bodies = refused_once("R04", &question(), limited).await;
    let names: Vec<_> = bodies
        .iter()
        .map(|body| (body.get("max_tokens").is_some(), body.get("max_completion_tokens").is_some()))
        .collect();
    assert_eq!(names, [(true, false), (false, true), (false, true)]);
}

#[tokio::test]
async fn r05_fields_of_a_taste_are_sent_only_when_asked_for() {
    let plain = ask(&question(), vec![fixture("OK")], |_| {}).await;
    let fields: Vec<&String> = plain.asked[0].body.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["model", "messages", "tools", "stream", "stream_options"]);
    let effort = |options: &mut EndpointOptions| {
        options.extra_body.insert("reasoning_effort".to_owned(), json!("low"));
    };
    let bodies = refused_once("R05", &question(), effort).await;
    let sent: Vec<bool> =
        bodies.iter().map(|body| body.get("reasoning_effort").is_some()).collect();
    assert_eq!(sent, [true, false, false]);
}

#[tokio::test]
async fn r06_a_missing_text_is_null_or_empty() {
    check("R06");
    let bodies = refused_once("R06", &dialog(), |_| {}).await;
    let sent: Vec<&Value> = bodies.iter().map(|body| &body["messages"][2]["content"]).collect();
    assert_eq!(sent, [&Value::Null, &json!(""), &json!("")]);
}

#[test]
fn r07_an_empty_message_is_never_sent() {
    check("R07");
}

#[tokio::test]
async fn r08_reasoning_goes_back_where_it_is_wanted() {
    check("R08");
    let bodies = refused_once("R08", &dialog(), |_| {}).await;
    let sent: Vec<_> =
        bodies.iter().map(|body| body["messages"][2].get("reasoning_content").cloned()).collect();
    assert_eq!(sent, [None, Some(json!("")), Some(json!(""))]);
}

#[tokio::test]
async fn r09_empty_reasoning_does_not_go_back_where_it_is_refused() {
    check("R09");
    let always = |options: &mut EndpointOptions| {
        options.preset.change("reasoning_always");
    };
    let bodies = refused_once("R09", &dialog(), always).await;
    let sent: Vec<bool> =
        bodies.iter().map(|body| body["messages"][2].get("reasoning_content").is_some()).collect();
    assert_eq!(sent, [true, false, false]);
}

#[test]
fn whether_reasoning_goes_back_is_told_so_that_it_is_counted() {
    for (change, expected) in [("reasoning_never", false), ("reasoning_as_received", true)] {
        let mut options = options("http://localhost:1/v1");
        options.preset.change(change);
        let model = OpenAiModel::new(options).unwrap();
        assert_eq!(model.sends_reasoning(), expected, "{change}");
    }
}

#[test]
fn r10_ids_fit_the_server() {
    check("R10");
}

#[test]
fn r11_a_user_may_not_speak_after_a_tool_everywhere() {
    check("R11");
}

#[test]
fn r12_calls_and_results_are_paired_before_anything_is_sent() {
    check("R12");
}

#[tokio::test]
async fn r12_what_would_be_refused_is_not_sent() {
    let mut request = dialog();
    request.messages.pop();
    let heard = ask(&request, vec![fixture("OK")], |_| {}).await;
    assert!(heard.error().to_string().contains("the call `call_1` has no result"));
    assert!(heard.asked.is_empty());
}

#[test]
fn r13_schemas_are_flat_and_have_their_properties() {
    check("R13");
}

#[tokio::test]
async fn r14_a_server_that_was_started_without_tools_is_told_how_to_start() {
    let heard = hear("R14").await;
    assert!(heard.error().hint().unwrap().contains("`--enable-auto-tool-choice"));
    let heard = hear("R14-llamacpp").await;
    assert!(heard.error().hint().unwrap().contains("`--jinja`"));
}

#[test]
fn r15_an_answer_is_one_text() {
    check("R15");
}

#[test]
fn r16_control_characters_are_taken_out() {
    check("R16");
}

#[test]
fn r17_thinking_needs_a_stream_somewhere() {
    check("R17");
}

#[test]
fn r18_a_result_may_have_to_name_its_tool() {
    check("R18");
}

#[tokio::test]
async fn a_refusal_that_teaches_nothing_ends_the_request() {
    let heard = ask(&question(), vec![fixture("E05"), fixture("OK")], |_| {}).await;
    assert!(matches!(heard.error(), ModelError::Endpoint { .. }));
    assert_eq!(heard.asked.len(), 1);
}

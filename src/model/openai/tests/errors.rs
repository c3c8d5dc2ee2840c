//! E01–E13: the shapes of errors, and what each means.

use pretty_assertions::assert_eq;

use super::*;

/// Returns the message without the port of the server.
fn message(heard: &Heard) -> String {
    let text = heard.error().to_string();
    let url = heard.error().to_string();
    let port = url
        .split("127.0.0.1:")
        .nth(1)
        .map(|rest| rest.chars().take_while(char::is_ascii_digit).collect::<String>());
    port.map_or(text.clone(), |port| text.replace(&format!("127.0.0.1:{port}"), "HOST"))
}

#[tokio::test]
async fn e01_the_usual_shape() {
    let heard = hear("E01").await;
    let expected = "HOST answered 429 Too Many Requests: Rate limit reached for gpt-4o. Please try again in 20s.";
    assert_eq!(message(&heard), expected);
    assert!(matches!(
        heard.error(),
        ModelError::Busy { retry_after: Some(wait), .. } if *wait == Duration::from_secs(20)
    ));
}

#[tokio::test]
async fn e02_a_numeric_code() {
    let heard = hear("E02").await;
    assert_eq!(message(&heard), "HOST answered 503 Service Unavailable: Loading model");
    assert!(matches!(heard.error(), ModelError::Unavailable { .. }));
}

#[tokio::test]
async fn e03_a_text_for_an_error_and_a_model_that_was_meant() {
    let other = |options: &mut EndpointOptions| options.model = "othr".to_owned();
    let heard = ask(&question(), vec![fixture("E03"), fixture("U10")], other).await;
    assert_eq!(
        message(&heard),
        "HOST answered 404 Not Found: model \"m\" not found, try pulling it first (asked for `othr` at http://HOST/v1/chat/completions)"
    );
    assert_eq!(heard.error().hint(), Some("did you mean the model `other`?"));
}

#[tokio::test]
async fn e04_the_shape_of_vllm_and_a_prompt_that_is_too_long() {
    let heard = hear("E04").await;
    assert!(matches!(heard.error(), ModelError::Overflow { window: Some(4096), .. }));
    assert!(message(&heard).contains("maximum context length is 4096 tokens"));
}

#[tokio::test]
async fn e05_a_detail_with_its_place_or_as_text() {
    let heard = hear("E05").await;
    assert_eq!(
        message(&heard),
        "HOST answered 422 Unprocessable Entity: Input should be 'user' (body.messages.0.role)"
    );
    assert!(matches!(heard.error(), ModelError::Endpoint { .. }));
    let heard = hear("E05-text").await;
    assert_eq!(
        message(&heard),
        "HOST answered 403 Forbidden: Not authenticated (the key comes from `OPENAI_API_KEY`)"
    );
    assert!(matches!(heard.error(), ModelError::Credentials(_)));
}

#[tokio::test]
async fn e06_a_list_around_it_and_a_delay_that_brings_the_quota_back() {
    let heard = hear("E06").await;
    assert!(matches!(
        heard.error(),
        ModelError::Busy { retry_after: Some(wait), .. } if *wait == Duration::from_secs(27)
    ));
}

#[tokio::test]
async fn e07_a_list_of_errors() {
    let heard = hear("E07").await;
    assert!(message(&heard).contains("401 Unauthorized: Authentication error"));
    assert!(matches!(heard.error(), ModelError::Credentials(_)));
}

#[tokio::test]
async fn e08_a_bare_message_and_a_used_up_balance() {
    let heard = hear("E08").await;
    assert_eq!(message(&heard), "HOST answered 402 Payment Required: Insufficient Balance");
    assert!(matches!(heard.error(), ModelError::Quota(_)));
}

#[tokio::test]
async fn e09_error_msg_and_error_code() {
    let heard = hear("E09").await;
    assert!(message(&heard).ends_with("429 Too Many Requests: Open api qps request limit reached"));
    assert!(matches!(heard.error(), ModelError::Busy { retry_after: None, .. }));
}

#[tokio::test]
async fn e10_nothing_at_all() {
    let heard = hear("E10").await;
    assert_eq!(message(&heard), "HOST answered 502 Bad Gateway without saying why");
    assert!(matches!(heard.error(), ModelError::Unavailable { .. }));
}

#[tokio::test]
async fn e11_html() {
    let heard = hear("E11").await;
    assert_eq!(
        message(&heard),
        "HOST answered 504 Gateway Timeout: an HTML page, \"504 Gateway Time-out\""
    );
    assert!(matches!(heard.error(), ModelError::Unavailable { .. }));
}

#[tokio::test]
async fn e12_plain_text() {
    let heard = hear("E12").await;
    assert!(message(&heard).ends_with("upstream connect error or disconnect/reset before headers"));
    assert!(matches!(heard.error(), ModelError::Unavailable { .. }));
}

#[tokio::test]
async fn e13_an_error_inside_a_text() {
    let heard = hear("E13").await;
    assert!(message(&heard).contains("Provider returned error: prompt is too long"));
    assert!(matches!(heard.error(), ModelError::Overflow { window: Some(200_000), .. }));
}

fn classify(status: u16, headers: &[(&'static str, &str)], body: &str) -> ModelError {
    let model = OpenAiModel::new(options("http://127.0.0.1:1/v1")).unwrap();
    let mut map = reqwest::header::HeaderMap::new();
    for (name, value) in headers {
        map.insert(*name, value.parse().unwrap());
    }
    let text = error_text::ErrorText::of_body(body.as_bytes());
    let answer = Answer { status: StatusCode::from_u16(status).ok(), headers: map, text };
    model.facts.classify(&answer, chrono::DateTime::from_timestamp(0, 0).unwrap())
}

#[track_caller]
fn check(status: u16, body: &str, expected: &str) {
    let error = classify(status, &[], body);
    let kind = format!("{error:?}");
    assert!(kind.starts_with(expected), "{status} {body}: {kind}");
}

#[test]
fn each_status_waits_or_stops() {
    for status in [408, 409, 425, 500, 502, 503, 504, 529] {
        check(status, "", "Unavailable");
    }
    check(429, "", "Busy");
    for status in [401, 403] {
        check(status, "", "Credentials");
    }
    for status in [400, 404, 405, 407, 422, 501] {
        check(status, "{}", "Endpoint");
    }
    check(402, "", "Quota");
    check(413, "", "Overflow");
}

#[test]
fn words_say_more_than_a_status() {
    check(429, r#"{"error":{"code":"insufficient_quota","message":"x"}}"#, "Quota");
    check(429, "You exceeded your current quota, please check your plan and billing", "Quota");
    check(403, "the balance of this account is used up", "Quota");
    check(400, "Your credit balance is too low", "Quota");
    check(400, "API key not valid. Please pass a valid API key.", "Credentials");
    check(400, "ThrottlingException: Too many tokens, please wait", "Busy");
    check(413, "Request too large: Limit 6000 tokens per minute", "Busy");
    check(429, "maximum context length is 4096", "Busy");
    check(500, "prompt too long; exceeded max context length", "Overflow");
    check(500, "billing service unavailable", "Unavailable");
    let header = classify(429, &[("retry-after", "600")], "quota exceeded");
    let wait = Some(Duration::from_secs(600));
    assert!(matches!(header, ModelError::Busy { retry_after, .. } if retry_after == wait));
}

#[test]
fn the_empty_refusal_of_one_server_is_an_overflow() {
    let mut options = options("https://api.cerebras.ai/v1");
    options.key = None;
    let model = OpenAiModel::new(options).unwrap();
    let text = error_text::ErrorText::default();
    let answer = Answer {
        status: Some(StatusCode::BAD_REQUEST),
        headers: reqwest::header::HeaderMap::new(),
        text,
    };
    let error = model.facts.classify(&answer, chrono::DateTime::from_timestamp(0, 0).unwrap());
    assert!(matches!(error, ModelError::Overflow { .. }));
}

#[test]
fn no_key_is_ever_in_a_message() {
    let ours = classify(401, &[], "Incorrect API key provided: sk-test-0123456789.");
    assert!(!ours.to_string().contains("0123456789"), "{ours}");
    let other = classify(401, &[], r#"{"error":"bad key \"sk-proj-abcdefghijklmnop\""}"#);
    assert!(!other.to_string().contains("abcdefgh"), "{other}");
    let header = classify(400, &[], "got Authorization: Bearer abc.def.ghi from you");
    assert!(!header.to_string().contains("abc.def"), "{header}");
    let model = OpenAiModel::new(options("http://127.0.0.1:1/v1")).unwrap();
    assert!(!format!("{model:?}").contains("0123456789"));
}

#[test]
fn a_message_is_one_short_line() {
    let long = format!("first\nsecond\u{7}\u{1b}[31m {}", "长".repeat(2000));
    let error = classify(400, &[], &long).to_string();
    assert!(error.chars().count() < 600 && !error.contains(['\n', '\u{7}', '\u{1b}']), "{error}");
}

//! What no list has: the reader takes whatever can be read, and errors are errors in any dress.

use std::io::Write as _;

use pretty_assertions::assert_eq;

use super::*;
use crate::model::Finish;

const LS: (&str, &str) = ("terminal", r#"{"command":"ls"}"#);

/// Returns an answer of a content type with a body.
fn answer(kind: &str, body: &str) -> Vec<Step> {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n");
    vec![Step::Send([head.as_bytes(), body.as_bytes()].concat())]
}

/// Returns a stream of choices, each as the JSON of its inside, with `[DONE]` at the end.
fn choices(inside: &[&str]) -> String {
    let event = |choice: &&str| format!("data: {{\"choices\":[{{\"index\":0,{choice}}}]}}\n\n");
    inside.iter().map(event).collect::<String>() + "data: [DONE]\n\n"
}

async fn read(kind: &str, body: &str) -> Heard {
    ask(&question(), vec![answer(kind, body)], |_| {}).await
}

async fn stream(body: &str) -> Heard {
    read("text/event-stream", body).await
}

#[track_caller]
fn check_text(heard: &Heard, expected: &str) {
    assert_eq!((heard.reply().text.as_str(), heard.shown().as_str()), (expected, expected));
    assert_eq!((&heard.reply().warnings, heard.reply().finish), (&Vec::new(), Finish::Stop));
}

const HEL: &str = r#""delta":{"content":"Hel"}"#;
const LO: &str = r#""delta":{"content":"lo"}"#;
const STOP: &str = r#""delta":{},"finish_reason":"stop""#;

#[tokio::test]
async fn a_field_of_a_strange_type_is_no_field() {
    for strange in [
        r#""delta":null"#,
        r#""delta":[]"#,
        r#""delta":{"content":7,"tool_calls":null,"function_call":null,"refusal":null}"#,
        r#""delta":{"tool_calls":[]},"logprobs":{"content":[{"token":"x","bytes":[1]}]}"#,
        r#""delta":{"reasoning":{"effort":"low"}},"service_tier":null"#,
        r#""delta":{"annotations":[{"type":"url_citation"}],"audio":null}"#,
        r#""delta":{},"finish_reason":"null""#,
    ] {
        check_text(&stream(&choices(&[HEL, strange, LO, STOP])).await, "Hello");
    }
    check_text(
        &stream(&format!("data: {{\"choices\":null}}\n\n{}", choices(&[HEL, LO, STOP]))).await,
        "Hello",
    );
}

#[tokio::test]
async fn text_may_be_parts_or_an_object_or_stand_beside_the_delta() {
    for text in [
        r#""delta":{"content":[{"type":"output_text","text":"lo","annotations":[]}]}"#,
        r#""delta":{"content":["lo"]}"#,
        r#""delta":{"content":{"text":"lo"}}"#,
        r#""delta":null,"message":{"content":"lo"}"#,
        r#""delta":{"refusal":"lo"}"#,
        r#""text":"lo""#,
    ] {
        check_text(&stream(&choices(&[HEL, text, STOP])).await, "Hello");
    }
}

#[tokio::test]
async fn thoughts_may_be_parts_or_objects_and_are_read_once() {
    for thought in [
        r#""reasoning":{"content":"hm"}"#,
        r#""reasoning":[{"type":"text","text":"hm"}]"#,
        r#""reasoning_content":"","reasoning":"hm""#,
        r#""reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm"}]"#,
        r#""thinking_blocks":[{"type":"thinking","thinking":"hm","signature":"x"}]"#,
        r#""content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]"#,
    ] {
        let heard = stream(&choices(&[&format!("\"delta\":{{{thought}}}"), HEL, LO, STOP])).await;
        check_text(&heard, "Hello");
        assert_eq!(heard.reply().reasoning.as_deref(), Some("hm"), "{thought}");
    }
    let empty =
        stream(&choices(&[r#""delta":{"reasoning_content":"","content":"Hello"}"#, STOP])).await;
    assert_eq!(empty.reply().reasoning.as_deref(), Some(""), "it may be wanted back");
    let none = stream(&choices(&[r#""delta":{"reasoning":null,"content":"Hello"}"#, STOP])).await;
    assert_eq!(none.reply().reasoning, None);
}

#[tokio::test]
async fn calls_under_one_id_are_told_apart_by_their_numbers() {
    let call = |index: u8, line: &str, name: &str| {
        let arguments = json!({"command": line}).to_string();
        json!({"index": index, "id": "c", "function": {"name": name, "arguments": arguments}})
    };
    let piece = |calls: Value| format!("\"delta\":{}", json!({"tool_calls": calls}));
    let both = [piece(json!([call(0, "ls", "terminal"), call(1, "pwd", "terminal")]))];
    let each =
        [piece(json!([call(0, "ls", "terminal")])), piece(json!([call(1, "pwd", "terminal")]))];
    for pieces in [&both[..], &each[..]] {
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).chain([STOP]).collect();
        let heard = stream(&choices(&pieces)).await;
        assert_eq!(heard.calls(), [LS, ("terminal", r#"{"command":"pwd"}"#)]);
        assert_ne!(heard.reply().calls[0].id, heard.reply().calls[1].id);
    }
}

#[tokio::test]
async fn a_call_may_be_dressed_in_many_ways() {
    for call in [
        r#""tool_calls":{"id":"a","function":{"name":"terminal","arguments":"{\"command\":\"ls\"}"}}"#,
        r#""tool_calls":[{"index":"0","id":17,"function":{"name":"terminal","arguments":{"command":"ls"}}}]"#,
        r#""tool_calls":[{"index":null,"id":null,"name":"terminal","arguments":"{\"command\":\"ls\"}"}]"#,
        r#""tool_calls":[{"type":"custom","custom":{"name":"terminal","input":"{\"command\":\"ls\"}"}}]"#,
        r#""tool_calls":[{"function":{"name":"terminal","arguments":"\"{\\\"command\\\":\\\"ls\\\"}\""}}]"#,
        r#""function_call":{"name":"terminal","arguments":"{\"command\":\"ls\"}"}"#,
        r#""content":[{"type":"text","text":""},{"type":"tool_use","id":"a","name":"terminal","input":{"command":"ls"}}]"#,
    ] {
        let heard = stream(&choices(&[&format!("\"delta\":{{{call}}}"), STOP])).await;
        assert_eq!(heard.calls(), [LS], "{call}");
    }
    let parts = [
        r#""delta":{"function_call":{"name":"terminal"}}"#,
        r#""delta":{"function_call":{"arguments":"{\"command\":"}}"#,
        r#""delta":{"function_call":{"arguments":"\"ls\"}"}}"#,
        r#""delta":{},"finish_reason":"function_call""#,
    ];
    assert_eq!(stream(&choices(&parts)).await.calls(), [LS]);
    let list = r#""delta":{"tool_calls":[{"function":{"name":"terminal","arguments":[1]}}]}"#;
    assert_eq!(
        stream(&choices(&[list, STOP])).await.calls(),
        [("terminal", "[1]")],
        "for the tool to refuse"
    );
}

#[tokio::test]
async fn an_answer_that_is_told_twice_is_read_once() {
    let again = r#""message":{"content":"Hello"},"finish_reason":"stop""#;
    check_text(&stream(&choices(&[HEL, LO, again])).await, "Hello");
    let more = r#""message":{"content":"Hello"},"finish_reason":"stop""#;
    check_text(&stream(&choices(&[HEL, more])).await, "Hello");
    let delta = r#""delta":{"content":"Hello"},"finish_reason":"stop""#;
    check_text(&stream(&choices(&[HEL, LO, delta])).await, "Hello");
    check_text(&stream(&choices(&[HEL, LO, STOP, STOP])).await, "Hello");
    let ha = r#""delta":{"content":"ha"}"#;
    let ha_stop = r#""delta":{"content":"ha"},"finish_reason":"stop""#;
    check_text(&stream(&choices(&[ha, ha_stop])).await, "haha");
    let call = r#""message":{"tool_calls":[{"id":"a","function":{"name":"terminal","arguments":"{\"command\":\"ls\"}"}}]}"#;
    let both = [call, &format!("{call},\"finish_reason\":\"tool_calls\"")];
    assert_eq!(stream(&choices(&both)).await.calls(), [LS]);
}

#[tokio::test]
async fn signs_of_life_may_be_anything_small() {
    for sign in [
        "data: {\"type\":\"ping\"}\n\n",
        "event: ping\ndata: {\"type\": \"ping\", \"message\": \"alive\"}\n\n",
        "event: ping\ndata: ping\n\n",
        "event: keepalive\ndata: {}\n\n",
        "data: keep-alive\n\n",
        "data: null\n\n",
        "data: \"ping\"\n\n",
        "data: []\n\n",
        "id: 7\nretry: 1000\n\n",
        ":\n",
    ] {
        let body = choices(&[HEL, LO, STOP]);
        let at =
            body.find("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\"").unwrap();
        let body = format!("{sign}{}{sign}{}", &body[..at], &body[at..]);
        check_text(&stream(&body).await, "Hello");
    }
}

#[tokio::test]
async fn the_end_may_be_written_in_many_ways() {
    let open = choices(&[HEL, LO]).replace("data: [DONE]\n\n", "");
    for end in [
        "data: [DONE]  \n\n",
        "data:[DONE]",
        "data: \"[DONE]\"\n\n",
        "data: [done]\n\n",
        "event: done\ndata: [DONE]\r\n\r\n",
    ] {
        check_text(&stream(&format!("{open}{end}")).await, "Hello");
    }
    let finished = choices(&[HEL, LO, STOP]).replace("data: [DONE]\n\n", "");
    check_text(&stream(&finished).await, "Hello");
    check_text(&stream(finished.trim_end()).await, "Hello");
}

#[tokio::test]
async fn what_breaks_after_the_end_takes_nothing_away() {
    let finished = choices(&[HEL, LO, STOP]).replace("data: [DONE]\n\n", "");
    let opening =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let ended = format!("{opening}{:x}\r\n{finished}\r\n", finished.len());
    // The last chunk, which is empty, never comes.
    let heard = ask(&question(), vec![vec![Step::Send(ended.into_bytes())]], |_| {}).await;
    check_text(&heard, "Hello");
    let cut = choices(&[HEL, LO]).replace("data: [DONE]\n\n", "");
    let broken = format!("{opening}{:x}\r\n{cut}\r\n", cut.len());
    let heard = ask(&question(), vec![vec![Step::Send(broken.into_bytes())]], |_| {}).await;
    assert!(matches!(heard.error(), ModelError::Unavailable { .. }), "{:?}", heard.error());
    let mut steps = answer("text/event-stream", &finished);
    steps.push(Step::Stall);
    let soon = |options: &mut EndpointOptions| options.idle_timeout = Duration::from_millis(50);
    check_text(&ask(&question(), vec![steps], soon).await, "Hello");
}

#[tokio::test]
async fn the_first_bytes_count_more_than_the_content_type() {
    let events = choices(&[HEL, LO, STOP]);
    let whole = r#"{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}]}"#;
    for kind in ["application/json", "text/html", "text/plain", "application/octet-stream", "x/y"] {
        check_text(&read(kind, &events).await, "Hello");
        check_text(&read(kind, &format!("\u{feff}{whole}")).await, "Hello");
    }
    check_text(&stream(&format!("\n\n{whole}")).await, "Hello");
    check_text(&stream(&format!("\u{feff}{events}")).await, "Hello");
    let mut steps = answer("text/event-stream", "");
    steps.push(Step::Drip(format!("\u{feff}{events}").into_bytes()));
    check_text(&ask(&question(), vec![steps], |_| {}).await, "Hello");
    let lines = events.replace("data: [DONE]\n\n", "").replace("data: ", "").replace("\n\n", "\n");
    check_text(&read("application/x-ndjson", &lines).await, "Hello");
    let page = stream("<html><title>Log in</title></html>").await;
    assert!(page.error().to_string().contains("an HTML page"), "{}", page.error());
    let image = read("image/png", "PNG").await;
    assert!(image.error().to_string().contains("200 with `image/png`"), "{}", image.error());
}

#[tokio::test]
async fn a_server_that_always_streams_is_read_whole() {
    let whole = |options: &mut EndpointOptions| options.stream = false;
    for kind in ["text/event-stream", "application/json"] {
        let answers = vec![answer(kind, &choices(&[HEL, LO, STOP]))];
        assert_eq!(ask(&question(), answers, whole).await.reply().text, "Hello");
    }
    let cut = choices(&[HEL, LO]).replace("data: [DONE]\n\n", "");
    let heard = ask(&question(), vec![answer("text/event-stream", &cut)], whole).await;
    assert!(matches!(heard.error(), ModelError::Truncated(_)), "{:?}", heard.error());
}

#[tokio::test]
async fn a_compressed_answer_is_read_though_none_was_asked_for() {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(choices(&[HEL, LO, STOP]).as_bytes()).unwrap();
    let opening = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-encoding: gzip\r\nconnection: close\r\n\r\n";
    let bytes = [opening.as_bytes(), &packed.finish().unwrap()].concat();
    let heard = ask(&question(), vec![vec![Step::Send(bytes)]], |_| {}).await;
    check_text(&heard, "Hello");
    assert_eq!(heard.asked[0].header("accept-encoding"), Some("identity"));
    let unknown = opening.replace("gzip", "br").into_bytes();
    let heard = ask(&question(), vec![vec![Step::Send(unknown)]], |_| {}).await;
    assert!(heard.error().to_string().contains("compressed as `br`"), "{}", heard.error());
}

#[tokio::test]
async fn an_error_in_the_middle_of_a_stream_is_an_error_in_any_dress() {
    let error = async |event: &str| {
        let half = choices(&[HEL]).replace("data: [DONE]\n\n", "");
        stream(&format!("{half}{event}\n\ndata: [DONE]\n\n")).await.reply.unwrap_err()
    };
    for event in [
        r#"data: {"error":{"message":"Overloaded","type":"overloaded_error"}}"#,
        r#"data: {"error":"Overloaded"}"#,
    ] {
        let found = error(event).await;
        assert!(matches!(found, ModelError::Unavailable { .. }), "{found:?}");
    }
    let found = error("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"x\"}}").await;
    assert!(matches!(found, ModelError::Unavailable { .. }), "{found:?}");
    let found = error(
        "event: error\ndata: {\"code\":429,\"message\":\"Rate limit reached, try again in 3s\"}",
    )
    .await;
    assert!(matches!(found, ModelError::Busy { retry_after: Some(_), .. }), "{found:?}");
    let found = error("event: error\ndata: upstream timed out").await;
    assert!(found.to_string().contains("an event says `upstream timed out`"), "{found}");
    let found = error(r#"data: {"choices":null,"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}"#).await;
    assert!(matches!(found, ModelError::Quota(_)), "{found:?}");
    let found = error(r#"data: {"choices":[{"delta":{}}],"error":{"code":400,"message":"maximum context length is 4096 tokens"}}"#).await;
    assert!(matches!(found, ModelError::Overflow { window: Some(4096), .. }), "{found:?}");
}

#[tokio::test]
async fn counts_may_come_in_parts_and_in_words() {
    let body = format!(
        "data: {{\"choices\":[],\"usage\":{{\"prompt_tokens\":\"12\",\"completion_tokens\":0}}}}\n\n{}",
        choices(&[HEL, LO, STOP]).replace(
            "data: [DONE]",
            "data: {\"choices\":[],\"usage\":{\"completion_tokens\":4.0,\"input_tokens_details\":{\"cached_tokens\":8}}}\n\ndata: [DONE]"
        )
    );
    let usage = stream(&body).await.reply().usage.unwrap();
    assert_eq!((usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens), (12, 4, 8));
}

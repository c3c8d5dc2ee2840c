//! Vectors: the shapes in which they come, and what is no vector.

use pretty_assertions::assert_eq;

use super::*;
use crate::model::embedding::Embedder;

fn answer(status: &str, body: &str) -> Vec<Step> {
    let head =
        format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n");
    vec![Step::Send([head.as_bytes(), body.as_bytes()].concat())]
}

/// Asks for the vectors of texts. Returns them and what was sent.
async fn embed(
    texts: &[&str],
    answers: Vec<Vec<Step>>,
) -> (Result<Vec<Vec<f32>>, ModelError>, Vec<Asked>) {
    let server = Server::start(answers).await;
    let mut options = options(&server.url);
    options.embedding_model = Some("vectors".to_owned());
    let embedder = OpenAiEmbedder::new(&options).unwrap().unwrap();
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    (embedder.embed(&texts).await, server.asked())
}

async fn two(body: &str) -> Result<Vec<Vec<f32>>, ModelError> {
    embed(&["one", "two"], vec![answer("200 OK", body)]).await.0
}

#[tokio::test]
async fn texts_are_sent_as_they_are_and_with_the_key() {
    let body = r#"{"object":"list","data":[{"index":0,"embedding":[1.0]},{"index":1,"embedding":[2]}],"usage":{"prompt_tokens":2}}"#;
    let (vectors, asked) = embed(&["a\u{0}b", " "], vec![answer("200 OK", body)]).await;
    assert_eq!(vectors.unwrap(), [[1.0], [2.0]]);
    assert_eq!(asked[0].line, "POST /v1/embeddings");
    assert_eq!(asked[0].body, json!({"model": "vectors", "input": ["ab", "-"]}));
    assert_eq!(asked[0].header("authorization"), Some("Bearer sk-test-0123456789"));
    assert_eq!(asked[0].header("accept"), Some("application/json"));
}

#[tokio::test]
async fn vectors_come_in_many_shapes() {
    for body in [
        r#"{"data":[{"index":1,"embedding":[0.5,2]},{"index":0,"embedding":[1,0]}]}"#,
        r#"{"data":[{"embedding":[1,0]},{"embedding":[0.5,2]}]}"#,
        r#"{"data":[{"index":0,"embedding":[1,0]},{"index":0,"embedding":[0.5,2]}]}"#,
        r#"{"data":[{"index":0,"embedding":"AACAPwAAAAA="},{"index":1,"embedding":"AAAAPwAAAEA="}]}"#,
        r#"{"embeddings":[[1,0],[0.5,2]]}"#,
        r#"[{"index":0,"embedding":[[1,0]]},{"index":1,"embedding":[[0.5,2]]}]"#,
        r#"{"data":[{"embedding":{"float":[1,0]}},{"embedding":{"float":[0.5,2]}}]}"#,
    ] {
        assert_eq!(two(body).await.unwrap(), [[1.0, 0.0], [0.5, 2.0]], "{body}");
    }
    let alone = embed(&["one"], vec![answer("200 OK", r#"{"embedding":[1,0]}"#)]).await.0;
    assert_eq!(alone.unwrap(), [[1.0, 0.0]]);
}

#[tokio::test]
async fn what_is_no_vector_for_each_text_is_told() {
    for (body, words) in [
        (r#"{"data":[{"embedding":[1]}]}"#, "1 vectors for 2 texts"),
        (r#"{"data":[]}"#, "0 vectors for 2 texts"),
        (r#"{"data":[{"embedding":[1]},{"embedding":[1,2]}]}"#, "vectors of different lengths"),
        (r#"{"data":[{"embedding":[]},{"embedding":[]}]}"#, "something that is no vector"),
        (r#"{"data":[{"embedding":["x"]},{"embedding":[1]}]}"#, "something that is no vector"),
        (r#"{"data":[{"embedding":[1e300]},{"embedding":[1]}]}"#, "something that is no vector"),
        (r#"{"data":[{"embedding":"AACA"},{"embedding":[1]}]}"#, "something that is no vector"),
        (r#"{"data":[null,{"embedding":[1]}]}"#, "something that is no vector"),
    ] {
        let error = two(body).await.unwrap_err();
        assert!(error.to_string().contains(words), "{body}: {error}");
        assert!(error.hint().unwrap().contains("endpoint.embedding_model"), "{error:?}");
    }
}

#[tokio::test]
async fn errors_keep_their_meaning() {
    let refused = async |status: &str, body: &str| {
        embed(&["one"], vec![answer(status, body)]).await.0.unwrap_err()
    };
    let error =
        refused("401 Unauthorized", r#"{"error":{"message":"bad key sk-test-0123456789"}}"#).await;
    assert!(matches!(error, ModelError::Credentials(_)), "{error:?}");
    assert!(!error.to_string().contains("0123456789"), "{error}");
    let error = refused("404 Not Found", r#"{"error":"model not found"}"#).await;
    assert!(error.to_string().contains("asked for `vectors` at http"), "{error}");
    let error = refused("429 Too Many Requests", "").await;
    assert!(matches!(error, ModelError::Busy { .. }), "{error:?}");
    let error = refused("200 OK", r#"{"error":{"code":503,"message":"loading"}}"#).await;
    assert!(matches!(error, ModelError::Unavailable { .. }), "{error:?}");
    let error = refused("200 OK", "<html>").await;
    assert!(error.to_string().contains("an HTML page"), "{error}");
    let error = embed(&["one"], vec![vec![Step::Reset]]).await.0.unwrap_err();
    assert!(matches!(error, ModelError::Unavailable { .. }), "{error:?}");
}

#[tokio::test]
async fn many_texts_go_in_batches() {
    let texts: Vec<String> = (0..70).map(|number| format!("text {number}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let batch = |from: usize, to: usize| {
        let vectors: Vec<Value> = (from..to).map(|number| json!({"embedding": [number]})).collect();
        answer("200 OK", &json!({"data": vectors}).to_string())
    };
    let (vectors, asked) = embed(&texts, vec![batch(0, 32), batch(32, 64), batch(64, 70)]).await;
    let vectors = vectors.unwrap();
    assert_eq!((vectors.len(), asked.len()), (70, 3));
    assert_eq!(vectors[69], [69.0]);
    assert_eq!(asked[2].body["input"].as_array().unwrap().len(), 6);
}

#[tokio::test]
async fn without_a_model_there_is_nobody_to_ask() {
    assert!(OpenAiEmbedder::new(&options("http://127.0.0.1:1/v1")).unwrap().is_none());
}

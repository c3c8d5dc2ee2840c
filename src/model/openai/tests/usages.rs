//! U01–U10: counts, and servers that cut a prompt in silence.

use pretty_assertions::assert_eq;

use super::*;
use crate::protocol::Usage;

#[track_caller]
fn check(heard: &Heard, prompt: u64, cached: u64, completion: u64) {
    let expected = Usage {
        prompt_tokens: prompt,
        cached_tokens: cached,
        repeated_tokens: 0,
        completion_tokens: completion,
        estimated: false,
    };
    assert_eq!(heard.reply().usage, Some(expected));
}

#[tokio::test]
async fn u01_no_counts_are_no_counts() {
    assert_eq!(hear("U01").await.reply().usage, None, "the loop estimates");
}

#[tokio::test]
async fn u02_empty_counts_are_no_counts() {
    assert_eq!(hear("U02").await.reply().usage, None);
}

#[tokio::test]
async fn u03_the_last_counts_win() {
    check(&hear("U03").await, 10, 0, 4);
}

#[tokio::test]
async fn u04_cached_tokens_are_read_in_both_forms() {
    check(&hear("U04").await, 100, 64, 4);
    check(&hear("U04-deepseek").await, 100, 64, 4);
}

#[tokio::test]
async fn u05_a_prompt_of_0_tokens_was_not_counted() {
    assert_eq!(hear("U05").await.reply().usage, None);
}

#[tokio::test]
async fn u06_a_prompt_that_was_cut_in_silence_is_noticed() {
    let mut request = question();
    let long = "the order service depends on the user model\n".repeat(900);
    request.messages[1] = Message::User { content: long };
    let heard = ask(&request, vec![fixture("U06")], |_| {}).await;
    assert!(heard.reply().unverified);
    let warning = &heard.reply().warnings[0];
    assert!(
        warning.contains("only 2050 of about") && warning.contains("not")
            || warning.contains("nothing"),
        "{warning}"
    );

    let short = ask(&question(), vec![fixture("U06")], |_| {}).await;
    assert!(!short.reply().unverified && short.reply().warnings.is_empty());
}

#[tokio::test]
async fn u07_the_live_window_of_ollama_is_asked_for() {
    let server = Server::start(vec![fixture("U07")]).await;
    let mut options = options(&server.url);
    options.window = None;
    options.preset = Preset::named("ollama").unwrap();
    let model = OpenAiModel::new(options).unwrap();
    assert_eq!(model.prepare().await, Vec::<String>::new());
    assert_eq!(model.window(), Some(4096));
    assert_eq!(server.asked()[0].line, "GET /api/ps");
}

#[tokio::test]
async fn u08_a_prompt_whose_question_was_cut_off_is_an_overflow() {
    assert!(matches!(hear("U08").await.error(), ModelError::Overflow { .. }));
}

#[tokio::test]
async fn u09_a_full_window_without_a_word_is_an_overflow() {
    assert!(matches!(hear("U09").await.error(), ModelError::Overflow { .. }));
}

/// A question whose prompt is so long that the window matters.
fn long_question(words: usize) -> ChatRequest {
    let mut request = question();
    request.messages[1] = Message::User { content: "order ".repeat(words) };
    request
}

#[tokio::test]
async fn u10_the_window_is_read_where_it_is_told() {
    let window = async |fixtures: Vec<&str>, set: Option<usize>| {
        let server = Server::start(fixtures.into_iter().map(fixture).collect()).await;
        let mut options = options(&server.url);
        options.window = set;
        let model = OpenAiModel::new(options).unwrap();
        let heard = ask_model(&model, &long_question(7000), &server).await;
        (model.window(), heard.reply().warnings.len())
    };
    assert_eq!(window(vec!["U10", "OK"], None).await, (Some(32_768), 0));
    assert_eq!(window(vec!["OK"], Some(9000)).await, (Some(9000), 0), "settings win");
    let trained = window(vec!["U10-llamacpp", "OK"], None).await;
    assert_eq!(trained, (Some(8192), 1), "a trained window is not the live one");
}

#[tokio::test]
async fn u10_a_window_that_nobody_tells_is_the_one_that_is_set_as_a_limit() {
    let window = async |fixtures: Vec<&str>| {
        let server = Server::start(fixtures.into_iter().map(fixture).collect()).await;
        let mut options = options(&server.url);
        (options.window, options.assumed_window) = (None, Some(24_000));
        let model = OpenAiModel::new(options).unwrap();
        (model.prepare().await.len(), model.window())
    };
    assert_eq!(window(vec!["U10-llamacpp"]).await, (0, Some(24_000)));
    assert_eq!(window(vec!["U10"]).await, (0, Some(32_768)), "the server knows better");
}

#[tokio::test]
async fn u10_nobody_is_asked_for_a_window_that_does_not_matter() {
    let heard = ask(&question(), vec![fixture("OK")], |options| options.window = None).await;
    assert_eq!((heard.reply().text.as_str(), heard.asked.len()), ("Hello", 1));
}

#[tokio::test]
async fn u10_what_the_server_has_no_room_for_is_not_sent() {
    let unset = |options: &mut EndpointOptions| options.window = None;
    let heard = ask(&long_question(7_000), vec![fixture("U10-small")], unset).await;
    let window = heard.error();
    assert!(matches!(window, ModelError::Overflow { window: Some(4096), .. }), "{window:?}");
    assert_eq!(heard.asked.len(), 1, "only the list was asked for");
}

#[tokio::test]
async fn u10_a_refusal_corrects_the_window() {
    let server = Server::start(vec![fixture("E04")]).await;
    let model = OpenAiModel::new(options(&server.url)).unwrap();
    let heard = ask_model(&model, &question(), &server).await;
    assert!(matches!(heard.error(), ModelError::Overflow { window: Some(4096), .. }));
    assert_eq!(model.window(), Some(4096));
}

//! S01–S24: the shapes of deltas.

use std::collections::BTreeSet;

use pretty_assertions::assert_eq;

use super::*;
use crate::model::Finish;

const LS: (&str, &str) = ("terminal", r#"{"command":"ls"}"#);
const LIST: (&str, &str) = ("note", r#"{"action":"list"}"#);

/// Expects the two calls with ids of their own.
#[track_caller]
fn check_both(heard: &Heard) {
    assert_eq!(heard.calls(), [LS, LIST]);
    let ids: BTreeSet<_> = heard.reply().calls.iter().map(|call| &call.id).collect();
    assert_eq!(ids.len(), 2, "{ids:?}");
}

#[track_caller]
fn check_text(heard: &Heard, expected: &str) {
    assert_eq!((heard.reply().text.as_str(), heard.shown().as_str()), (expected, expected));
    assert_eq!((&heard.reply().calls, heard.reply().finish), (&Vec::new(), Finish::Stop));
}

#[tokio::test]
async fn s01_calls_without_a_number_are_told_apart() {
    check_both(&hear("S01").await);
}

#[tokio::test]
async fn s02_calls_that_share_a_number_do_not_run_together() {
    check_both(&hear("S02").await);
}

#[tokio::test]
async fn s03_an_empty_id_or_name_overwrites_nothing() {
    let heard = hear("S03").await;
    assert_eq!(heard.calls(), [LS]);
    assert_eq!(heard.reply().calls[0].id, "a1");
}

#[tokio::test]
async fn s04_a_null_id_or_name_overwrites_nothing() {
    let heard = hear("S04").await;
    assert_eq!(heard.calls(), [LS]);
    assert_eq!(heard.reply().calls[0].id, "a1");
}

#[tokio::test]
async fn s05_arguments_before_the_name_are_kept() {
    assert_eq!(hear("S05").await.calls(), [LS]);
}

#[tokio::test]
async fn s06_a_name_that_is_repeated_or_grows_is_one_name() {
    check_both(&hear("S06").await);
}

#[tokio::test]
async fn s07_calls_without_an_id_get_one_that_fits_every_server() {
    let heard = hear("S07").await;
    check_both(&heard);
    for call in &heard.reply().calls {
        assert_eq!(call.id.len(), 9);
        assert!(call.id.chars().all(|letter| letter.is_ascii_alphanumeric()), "{}", call.id);
    }
}

#[tokio::test]
async fn s07_an_id_that_was_used_before_is_made_anew() {
    let mut request = dialog();
    if let Some(Message::Tool { call_id, .. }) = request.messages.last_mut() {
        "a1".clone_into(call_id);
    }
    if let Message::Assistant { calls, .. } = &mut request.messages[2] {
        "a1".clone_into(&mut calls[0].id);
    }
    let heard = ask(&request, vec![fixture("S13")], |_| {}).await;
    assert_eq!(heard.calls(), [LS]);
    assert_ne!(heard.reply().calls[0].id, "a1");
}

#[tokio::test]
async fn s08_arguments_may_be_an_object() {
    assert_eq!(hear("S08").await.calls(), [LS]);
}

#[tokio::test]
async fn s09_missing_arguments_are_none_only_where_none_are_needed() {
    let heard = hear("S09").await;
    assert_eq!(heard.calls(), [("terminal", ""), ("status", "{}"), ("status", "{}")]);
}

#[tokio::test]
async fn s10_an_answer_cut_by_length_says_so() {
    let heard = hear("S10").await;
    assert_eq!(heard.reply().finish, Finish::Length);
    assert_eq!(heard.reply().text, "I write it down.");
    assert_eq!(heard.calls(), [("terminal", r#"{"command":"rm -rf"#)]);
}

#[tokio::test]
async fn s11_objects_that_ran_together_are_divided_only_after_s02() {
    let heard = hear("S11").await;
    assert_eq!(heard.calls(), [LS, LIST, ("note", r#"{"action":"summary"}"#)]);
    let mut alone = Accumulator::default();
    let arguments = r#"{"action":"list"}{"action":"summary"}"#;
    let call = json!({"index": 0, "id": "x", "function": {"name": "note", "arguments": arguments}});
    let chunk = json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
    alone.take(Chunk::read(&chunk));
    let calls = alone.calls(&std::collections::HashSet::new(), "");
    assert_eq!(calls[0].arguments, arguments, "the tool will say that this is no object");
}

#[tokio::test]
async fn s12_text_and_calls_in_one_chunk_are_all_taken() {
    let heard = hear("S12").await;
    check_both(&heard);
    assert_eq!(heard.reply().text, "I look. Both.");
}

#[tokio::test]
async fn s13_calls_count_also_under_stop() {
    let heard = hear("S13").await;
    assert_eq!((heard.calls(), heard.reply().finish), (vec![LS], Finish::Stop));
}

#[tokio::test]
async fn s14_an_empty_finish_is_no_finish() {
    check_text(&hear("S14").await, "Hello");
}

#[tokio::test]
async fn s15_done_is_an_end_without_a_finish() {
    check_text(&hear("S15").await, "Hello");
}

#[tokio::test]
async fn s16_the_end_has_many_words() {
    check_text(&hear("S16").await, "Hello");
    let unknown = hear("S16-unknown").await;
    check_text(&unknown, "Hello");
    assert!(unknown.reply().warnings[0].contains("`cosmic_rays`"));
    assert!(matches!(hear("S16-error").await.error(), ModelError::Unavailable { .. }));
    assert!(matches!(hear("S16-window").await.error(), ModelError::Overflow { .. }));
    let filtered = hear("S16-filter").await;
    assert!(filtered.reply().warnings[0].contains("filter"));
}

#[tokio::test]
async fn s17_chunks_without_choices_are_skipped() {
    let heard = hear("S17").await;
    check_text(&heard, "Hello");
    assert_eq!(heard.reply().usage.unwrap().prompt_tokens, 12);
}

#[tokio::test]
async fn s18_a_choice_may_lack_its_delta_or_have_a_message() {
    check_text(&hear("S18").await, "Hello");
}

#[tokio::test]
async fn s19_nothing_around_the_choice_is_needed() {
    check_text(&hear("S19").await, "Hello");
}

#[tokio::test]
async fn s20_role_and_content_may_be_anything() {
    check_text(&hear("S20").await, "Hello");
}

#[tokio::test]
async fn s21_reasoning_is_never_part_of_the_answer() {
    let heard = hear("S21").await;
    check_text(&heard, "Hello");
    assert_eq!(heard.reply().reasoning.as_deref(), Some("one two three four five"));
    let thought: String = heard
        .deltas
        .iter()
        .filter_map(|delta| match delta {
            Delta::Reasoning(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(thought, "one two three four five");
}

#[tokio::test]
async fn s22_unknown_fields_are_ignored() {
    check_text(&hear("S22").await, "Hello");
}

#[tokio::test]
async fn s23_a_call_written_as_text_is_a_call_where_the_row_says_so() {
    let heard = hear("S23").await;
    assert_eq!((heard.calls(), heard.reply().text.as_str()), (vec![LS], "I look."));
    let off = |options: &mut EndpointOptions| options.preset.text_calls = false;
    let heard = ask(&question(), vec![fixture("S23")], off).await;
    assert_eq!(heard.calls(), []);
    assert!(heard.reply().text.contains("<tool_call>"));
}

#[tokio::test]
async fn s24_a_signature_is_kept_with_the_call_and_sent_back() {
    let heard = hear("S24").await;
    let call = heard.reply().calls[0].clone();
    assert_eq!(call.extra, Some(json!({"google": {"thought_signature": "c2ln"}})));
    let mut request = question();
    let result =
        Message::Tool { call_id: call.id.clone(), name: call.name.clone(), content: "src".into() };
    let reply = Message::Assistant { content: String::new(), reasoning: None, calls: vec![call] };
    request.messages.extend([reply, result]);
    let heard = ask(&request, vec![fixture("OK")], |_| {}).await;
    let sent = &heard.asked[0].body["messages"][2]["tool_calls"][0];
    assert_eq!(sent["extra_content"]["google"]["thought_signature"], "c2ln");
}

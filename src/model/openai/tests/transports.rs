//! S25–S35: framing, silence, cuts, content types, certificates, proxies.

use std::sync::Arc;

use pretty_assertions::assert_eq;
use tokio::net::TcpListener;
use tokio::sync::Notify;

use super::*;
use crate::model::retrying::{RetryOptions, Retrying};

#[track_caller]
fn check_text(heard: &Heard, expected: &str) {
    assert_eq!((heard.reply().text.as_str(), heard.shown().as_str()), (expected, expected));
}

#[track_caller]
fn check_broken(heard: &Heard, words: &str) {
    let error = heard.error();
    assert!(matches!(error, ModelError::Truncated(_)), "{error:?}");
    assert!(error.to_string().contains(words), "{error}");
}

#[track_caller]
fn check_stop(heard: &Heard, words: &[&str]) {
    let error = heard.error();
    assert!(matches!(error, ModelError::Endpoint { .. }), "{error:?}");
    for word in words {
        assert!(error.to_string().contains(word), "{error}");
    }
}

#[tokio::test]
async fn s25_comments_and_other_lines_are_no_data() {
    check_text(&hear("S25").await, "Hello");
}

#[tokio::test]
async fn s26_an_answer_without_an_end_is_broken_and_its_calls_are_lost() {
    let heard = hear("S26").await;
    check_broken(&heard, "an answer without an end");
    assert_eq!(heard.shown(), "Half a", "what was shown stays shown");
}

#[tokio::test]
async fn s26_a_broken_answer_is_asked_for_once_more() {
    let server = Server::start(vec![fixture("S26"), fixture("OK")]).await;
    let model = OpenAiModel::new(options(&server.url)).unwrap();
    let retry = RetryOptions { first_wait: Duration::ZERO, ..RetryOptions::default() };
    let model = Retrying::new(Arc::new(model), retry);
    let deltas = Mutex::new(Vec::new());
    let request = question();
    let reply = model.chat(&request, &|delta| deltas.lock().unwrap().push(delta)).await.unwrap();
    assert_eq!((reply.text.as_str(), server.asked().len()), ("Hello", 2));
    let deltas = deltas.into_inner().unwrap();
    let restart = deltas.iter().position(|delta| *delta == Delta::Restart);
    assert_eq!(restart, Some(1), "{deltas:?}");
}

#[tokio::test]
async fn s26_a_reset_in_the_middle_is_a_broken_line() {
    let mut bytes = bytes("S26");
    bytes.truncate(bytes.len() - 20);
    let sent = Arc::new(Notify::new());
    let steps = vec![Step::Send(bytes), Step::Await(Arc::clone(&sent)), Step::Reset];
    let server = Server::start(vec![steps]).await;
    let model = OpenAiModel::new(options(&server.url)).unwrap();
    // The reset may overtake bytes that were not read: it comes when the text was seen.
    let request = question();
    let error = model.chat(&request, &|_| sent.notify_one()).await.unwrap_err();
    assert!(matches!(error, ModelError::Unavailable { .. }), "{error:?}");
    assert!(error.to_string().contains("broke in the middle of the answer"), "{error}");
}

#[tokio::test]
async fn s27_keep_alives_sent_as_data_are_skipped() {
    check_text(&hear("S27").await, "Hello");
}

#[tokio::test]
async fn s28_a_keep_alive_inside_a_frame_is_damage() {
    check_broken(&hear("S28").await, "is corrupt");
}

#[tokio::test]
async fn s29_frames_that_run_together_are_told_apart() {
    check_text(&hear("S29").await, "Hello");
}

#[tokio::test]
async fn s30_letters_may_be_cut_anywhere() {
    check_text(&hear("S30").await, "依赖冲突 — naïve 🦀");
}

#[tokio::test]
async fn s30_a_frame_may_be_as_long_as_a_book() {
    let long = "依".repeat(400_000);
    let mut bytes = bytes("OK");
    let at = bytes.windows(3).position(|part| part == b"Hel").unwrap();
    bytes.splice(at..at + 3, long.bytes());
    let heard = ask(&question(), vec![vec![Step::Send(bytes)]], |_| {}).await;
    assert_eq!(heard.reply().text.len(), long.len() + 2);
}

#[tokio::test]
async fn s30_a_frame_without_an_end_is_not_read_for_ever() {
    let mut bytes = bytes("OK");
    let at = bytes.windows(3).position(|part| part == b"Hel").unwrap();
    bytes.splice(at..at + 3, std::iter::repeat_n(b'x', 17 * 1024 * 1024));
    let heard = ask(&question(), vec![vec![Step::Send(bytes)]], |_| {}).await;
    check_stop(&heard, &["more than an answer can be"]);
}

#[tokio::test]
async fn s31_an_answer_in_one_piece_is_an_answer() {
    let heard = hear("S31").await;
    check_text(&heard, "Hello");
    assert_eq!(heard.calls(), [("terminal", r#"{"command":"ls"}"#)]);
    assert_eq!(heard.reply().usage.unwrap().prompt_tokens, 11);
    let heard = hear("S31-error").await;
    assert!(matches!(heard.error(), ModelError::Unavailable { .. }), "{:?}", heard.error());
    assert!(heard.error().to_string().contains("model is unloaded"));
}

#[tokio::test]
async fn s31_without_a_content_type_the_first_byte_tells() {
    for name in ["S31", "OK"] {
        let text = String::from_utf8(bytes(name)).unwrap();
        let kind = text.lines().find(|line| line.starts_with("content-type")).unwrap().to_owned();
        let untold = text.replace(&format!("{kind}\r\n"), "").into_bytes();
        let heard = ask(&question(), vec![vec![Step::Drip(untold)]], |_| {}).await;
        check_text(&heard, "Hello");
    }
}

#[tokio::test]
async fn s32_a_web_page_is_no_answer() {
    check_stop(&hear("S32").await, &["127.0.0.1:", "200", "an HTML page"]);
    check_stop(&hear("S32-nothing").await, &["204", "nothing"]);
    let login = hear("S32-login").await;
    check_stop(&login, &["302", "https://login.example.com/sso"]);
    assert!(!login.error().to_string().contains("secret"), "a query may hold a token");
}

#[tokio::test]
async fn s33_an_error_inside_a_stream_counts_as_its_code() {
    let heard = hear("S33").await;
    assert!(matches!(heard.error(), ModelError::Unavailable { .. }), "{:?}", heard.error());
    assert!(heard.error().to_string().contains("502 Bad Gateway: Provider disconnected"));
}

#[tokio::test]
async fn s34_silence_has_a_limit_of_its_own_before_and_in_an_answer() {
    let limits = |first: u64, idle: u64| {
        move |options: &mut EndpointOptions| {
            options.first_byte_timeout = Duration::from_millis(first);
            options.idle_timeout = Duration::from_millis(idle);
        }
    };
    let before = ask(&question(), vec![vec![Step::Stall]], limits(50, 60_000)).await;
    assert!(matches!(before.error(), ModelError::Silent { .. }), "{:?}", before.error());
    assert!(before.error().to_string().contains("did not begin to answer in 50ms"));
    assert!(before.error().hint().unwrap().contains("first_byte_timeout"));
    let mut steps = fixture("S34");
    steps.push(Step::Stall);
    let inside = ask(&question(), vec![steps], limits(60_000, 50)).await;
    check_broken(&inside, "sent nothing for 50ms");
    assert_eq!(inside.shown(), "Hel");
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n".to_vec();
    let after_head = vec![Step::Send(head), Step::Stall];
    check_broken(&ask(&question(), vec![after_head], limits(60_000, 50)).await, "sent nothing");
}

#[tokio::test]
async fn s35_the_base_url_may_be_written_in_many_ways() {
    for (end, path) in [
        ("/v1", "/v1/chat/completions"),
        ("/v1/", "/v1/chat/completions"),
        ("", "/v1/chat/completions"),
        ("/v1/chat/completions", "/v1/chat/completions"),
        (
            "/openai/deployments/d?api-version=2024-10-21",
            "/openai/deployments/d/chat/completions?api-version=2024-10-21",
        ),
    ] {
        let server = Server::start(vec![fixture("S35")]).await;
        let host = server.url.strip_suffix("/v1").unwrap();
        let model = OpenAiModel::new(options(&format!("{host}{end}"))).unwrap();
        let heard = ask_model(&model, &question(), &server).await;
        check_text(&heard, "Hello");
        assert_eq!(heard.asked[0].line, format!("POST {path}"));
    }
}

#[tokio::test]
async fn text_is_shown_while_the_answer_is_still_on_its_way() {
    let bytes = bytes("OK");
    let at = bytes.windows(4).position(|part| part == b"\"lo\"").unwrap();
    let seen = Arc::new(Notify::new());
    let steps = vec![
        Step::Send(bytes[..at].to_vec()),
        Step::Await(Arc::clone(&seen)),
        Step::Send(bytes[at..].to_vec()),
    ];
    let server = Server::start(vec![steps]).await;
    let model = OpenAiModel::new(options(&server.url)).unwrap();
    // The second half is only sent once the first was shown.
    let request = question();
    let show = |_| seen.notify_one();
    let asked = model.chat(&request, &show);
    let reply = tokio::time::timeout(Duration::from_secs(20), asked).await.unwrap().unwrap();
    assert_eq!(reply.text, "Hello");
}

#[tokio::test]
async fn the_key_travels_in_its_header_and_the_environment_adds_nothing() {
    let heard = ask(&question(), vec![fixture("OK")], |_| {}).await;
    let asked = &heard.asked[0];
    assert_eq!(asked.header("authorization"), Some("Bearer sk-test-0123456789"));
    assert_eq!(asked.header("openai-organization"), None);
    assert_eq!(asked.header("accept"), Some("text/event-stream"));
    assert!(asked.header("user-agent").unwrap().starts_with("groundskeeper/"));
    let heard = ask(&question(), vec![fixture("OK")], |options| options.key = None).await;
    assert_eq!(heard.asked[0].header("authorization"), None);
    let azure = |options: &mut EndpointOptions| options.preset = Preset::named("azure").unwrap();
    let heard = ask(&question(), vec![fixture("OK")], azure).await;
    assert_eq!(heard.asked[0].header("authorization"), None);
    assert_eq!(heard.asked[0].header("api-key"), Some("sk-test-0123456789"));
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_with_what_to_do() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let model = OpenAiModel::new(options(&url)).unwrap();
    let request = question();
    let error = model.chat(&request, &|_| {}).await.unwrap_err();
    assert!(matches!(error, ModelError::Unavailable { .. }), "{error:?}");
    assert!(error.to_string().contains("no connection to 127.0.0.1:"), "{error}");
    assert_eq!(error.hint(), Some("is the server running?"));
}

#[tokio::test]
async fn a_connection_that_ends_before_an_answer_may_be_tried_again() {
    let heard = ask(&question(), vec![vec![Step::Reset]], |_| {}).await;
    assert!(matches!(heard.error(), ModelError::Unavailable { .. }), "{:?}", heard.error());
    let heard = ask(&question(), vec![vec![]], |_| {}).await;
    assert!(matches!(heard.error(), ModelError::Unavailable { .. }), "{:?}", heard.error());
}

#[tokio::test]
async fn an_answer_may_be_asked_for_in_one_piece() {
    let heard = ask(&question(), vec![fixture("S31")], |options| options.stream = false).await;
    check_text(&heard, "Hello");
    assert_eq!(heard.asked[0].body["stream"], false);
    assert_eq!(heard.asked[0].header("accept"), Some("application/json"));
}

mod tls {
    use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
    use rustls::ServerConfig;
    use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio_rustls::TlsAcceptor;

    use super::{
        Arc, ChatModel, ChatReply, ModelError, Mutex, OpenAiModel, PathBuf, TcpListener, fixture,
        options, question, server,
    };

    /// Serves an answer over TLS with a certificate of an authority of its own. Returns the URL
    /// and the authority's certificate.
    async fn serve(name: &'static str) -> (String, String) {
        drop(rustls::crypto::ring::default_provider().install_default());
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let authority_certificate = authority.self_signed(&key).unwrap();
        let issuer = Issuer::new(authority, key);
        let server_key = KeyPair::generate().unwrap();
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let certificate =
            CertificateParams::new(names).unwrap().signed_by(&server_key, &issuer).unwrap();
        let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(server_key.serialize_der()));
        let config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], private)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://{}/v1", listener.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let Ok(mut stream) = acceptor.accept(stream).await else { continue };
                server::serve(&mut stream, fixture(name), &Mutex::default()).await;
            }
        });
        (url, authority_certificate.pem())
    }

    async fn ask(url: &str, ca_file: Option<PathBuf>) -> Result<ChatReply, ModelError> {
        let mut options = options(url);
        options.ca_file = ca_file;
        let request = question();
        OpenAiModel::new(options)?.chat(&request, &|_| {}).await
    }

    #[tokio::test]
    async fn an_own_authority_is_trusted_when_it_is_named_and_only_then() {
        let (url, authority) = serve("OK").await;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.pem");
        #[expect(clippy::disallowed_methods, reason = "a test's own file")]
        std::fs::write(&file, authority).unwrap();
        assert_eq!(ask(&url, Some(file.clone())).await.unwrap().text, "Hello");

        // The system's store may be empty on a bare machine, which is an answer of its own.
        let error = ask(&url, None).await.unwrap_err();
        assert!(matches!(error, ModelError::Endpoint { .. }), "{error:?}");
        assert!(error.hint().unwrap().contains("endpoint.ca_file"), "{error:?}");
    }

    #[tokio::test]
    async fn a_file_without_certificates_is_told() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path().join("no.pem"), folder.path().to_owned()] {
            let error = ask("https://localhost:1/v1", Some(path)).await.unwrap_err();
            assert!(error.to_string().starts_with("the certificates in `"), "{error}");
        }
    }

    #[tokio::test]
    async fn a_plain_server_behind_https_is_told() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://{}/v1", listener.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                drop(stream.read_u8().await);
                drop(stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await);
            }
        });
        let (_, authority) = serve("OK").await;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.pem");
        #[expect(clippy::disallowed_methods, reason = "a test's own file")]
        std::fs::write(&file, authority).unwrap();
        let error = ask(&url, Some(file)).await.unwrap_err();
        assert!(error.to_string().ends_with(" does not speak TLS"), "{error}");
    }

    #[tokio::test]
    async fn a_handshake_that_breaks_off_may_be_tried_again() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://{}/v1", listener.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                drop(stream.read_u8().await);
            }
        });
        let (_, authority) = serve("OK").await;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.pem");
        #[expect(clippy::disallowed_methods, reason = "a test's own file")]
        std::fs::write(&file, authority).unwrap();
        let error = ask(&url, Some(file)).await.unwrap_err();
        assert!(matches!(error, ModelError::Unavailable { .. }), "{error:?}");
    }
}

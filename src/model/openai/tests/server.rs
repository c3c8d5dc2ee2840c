//! A raw server on the own machine: it plays bytes, piece by piece where a test wants it, goes
//! silent, cuts the line, and remembers what it was asked.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// What the server does next on a connection.
#[derive(Clone)]
pub(super) enum Step {
    /// Sends bytes.
    Send(Vec<u8>),
    /// Sends bytes, one at a time.
    Drip(Vec<u8>),
    /// Waits until the test lets it go on.
    Await(Arc<Notify>),
    /// Says nothing more until the client hangs up.
    Stall,
    /// Resets the connection.
    Reset,
}

/// What the server was asked.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    /// `POST /v1/chat/completions`.
    pub(super) line: String,
    /// The header lines, names in lower case.
    pub(super) headers: Vec<String>,
    /// The body; null when there is none.
    pub(super) body: Value,
}

impl Asked {
    /// Returns the value of a header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// A running server.
pub(super) struct Server {
    /// Its base URL.
    pub(super) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    /// Starts a server that answers one connection with each of `answers`, in order; what comes
    /// after them gets a 500.
    pub(super) async fn start(answers: Vec<Vec<Step>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&asked);
        tokio::spawn(async move {
            let mut answers = answers.into_iter();
            while let Ok((mut stream, _)) = listener.accept().await {
                let answer = answers.next().unwrap_or_else(|| vec![Step::Send(SURPRISED.to_vec())]);
                let heard = Arc::clone(&heard);
                tokio::spawn(async move {
                    if answer.iter().any(|step| matches!(step, Step::Reset)) {
                        stream.set_zero_linger().unwrap();
                    }
                    serve(&mut stream, answer, &heard).await;
                });
            }
        });
        Self { url, asked }
    }

    /// Returns what was asked so far.
    pub(super) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

const SURPRISED: &[u8] =
    b"HTTP/1.1 500 Internal Server Error\r\nconnection: close\r\n\r\nno answer is left";

/// Reads one request and plays an answer.
pub(super) async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    answer: Vec<Step>,
    heard: &Mutex<Vec<Asked>>,
) {
    let Some(asked) = read_request(stream).await else { return };
    heard.lock().unwrap().push(asked);
    for step in answer {
        let sent = match step {
            Step::Send(bytes) => stream.write_all(&bytes).await,
            Step::Drip(bytes) => drip(stream, &bytes).await,
            Step::Await(notify) => {
                notify.notified().await;
                Ok(())
            }
            Step::Stall => stream.read_to_end(&mut Vec::new()).await.map(drop),
            Step::Reset => return,
        };
        if sent.is_err() || stream.flush().await.is_err() {
            return;
        }
    }
    drop(stream.shutdown().await);
}

async fn drip<S: AsyncWrite + Unpin>(stream: &mut S, bytes: &[u8]) -> std::io::Result<()> {
    for byte in bytes {
        stream.write_all(&[*byte]).await?;
        stream.flush().await?;
        tokio::task::yield_now().await;
    }
    Ok(())
}

async fn read_request<S: AsyncRead + Unpin>(stream: &mut S) -> Option<Asked> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let text = String::from_utf8_lossy(&bytes[..head]).into_owned();
    let mut lines = text.lines();
    let line = lines.next()?.trim_end_matches(" HTTP/1.1").to_owned();
    let headers: Vec<String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| format!("{}: {value}", name.to_lowercase()))
        .collect();
    let length = headers.iter().find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.map_or(0, |length| length.parse().unwrap());
    while bytes.len() < head + 4 + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let body = serde_json::from_slice(&bytes[head + 4..]).unwrap_or(Value::Null);
    Some(Asked { line, headers, body })
}

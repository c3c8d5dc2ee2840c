//! A server that plays recorded bytes to the program.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// A server that answers each request with the next of its answers, the last one again and again.
/// To an empty answer it keeps the line open and says nothing.
pub(crate) struct Server {
    /// Its base URL.
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<(String, Value)>>>,
    arrivals: Mutex<Receiver<()>>,
}

/// Answers a request for embeddings by its body.
type Embeds = fn(&Value) -> Vec<u8>;

impl Server {
    /// Starts a server.
    pub(crate) fn start(answers: Vec<Vec<u8>>) -> Self {
        let nothing = b"HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n".to_vec();
        Self::telling(answers, nothing)
    }

    /// Starts a server that makes vectors too.
    pub(crate) fn embedding(answers: Vec<Vec<u8>>, embeds: Embeds) -> Self {
        let nothing = b"HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n".to_vec();
        Self::with(answers, nothing, Some(embeds))
    }

    /// Starts a server that answers every GET with `told`.
    pub(crate) fn telling(answers: Vec<Vec<u8>>, told: Vec<u8>) -> Self {
        Self::with(answers, told, None)
    }

    fn with(answers: Vec<Vec<u8>>, told: Vec<u8>, embeds: Option<Embeds>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        let (tell, arrivals) = channel();
        std::thread::spawn(move || {
            let mut number = 0;
            let mut kept_open = Vec::new();
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                // A program that was interrupted does not finish its sentence.
                let Some((head, body)) = read_request(&mut stream) else { continue };
                let is_chat = head.starts_with("POST") && !is_for_vectors(&head);
                let vectors = embeds.filter(|_| is_for_vectors(&head));
                let vectors = vectors.map(|embeds| embeds(&body));
                log.lock().unwrap().push((head, body));
                let answer = if let Some(vectors) = vectors {
                    vectors
                } else if is_chat {
                    number += 1;
                    answers[(number - 1).min(answers.len() - 1)].clone()
                } else {
                    told.clone()
                };
                let _ = tell.send(());
                drop(stream.write_all(&answer));
                if answer.is_empty() {
                    kept_open.push(stream);
                }
            }
        });
        Self { url, asked, arrivals: Mutex::new(arrivals) }
    }

    /// Waits until one more request has arrived.
    pub(crate) fn wait_for_a_request(&self) {
        self.arrivals.lock().unwrap().recv().unwrap();
    }

    /// Returns the chats that it was asked for, as heads and bodies.
    pub(crate) fn chats(&self) -> Vec<(String, Value)> {
        let asked = self.asked.lock().unwrap();
        let is_chat = |head: &str| head.starts_with("POST") && !is_for_vectors(head);
        asked.iter().filter(|(head, _)| is_chat(head)).cloned().collect()
    }

    /// Returns the texts of which vectors were wanted, a list a request.
    pub(crate) fn embedded(&self) -> Vec<Vec<String>> {
        let asked = self.asked.lock().unwrap();
        let wanted = asked.iter().filter(|(head, _)| is_for_vectors(head));
        wanted.map(|(_, body)| serde_json::from_value(body["input"].clone()).unwrap()).collect()
    }
}

fn is_for_vectors(head: &str) -> bool {
    head.starts_with("POST /v1/embeddings")
}

fn read_request(stream: &mut impl Read) -> Option<(String, Value)> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.to_lowercase();
            let length = length
                .split("content-length: ")
                .nth(1)
                .map_or(0, |rest| rest.lines().next().unwrap().trim().parse::<usize>().unwrap());
            if body.len() >= length {
                return Some((head.to_owned(), serde_json::from_str(body).unwrap_or(Value::Null)));
            }
        }
        let read = stream.read(&mut piece).ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&piece[..read]);
    }
}

/// Returns a recorded answer.
pub(crate) fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/wire");
    std::fs::read(folder.join(format!("{name}.http"))).unwrap()
}

/// Returns a streamed answer that says a text.
pub(crate) fn says(text: &str) -> Vec<u8> {
    let delta =
        json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": "stop"}]});
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    format!("{head}data: {delta}\n\ndata: [DONE]\n\n").into_bytes()
}

//! A server that is the model of a test: it answers what the test told it to, keeps every request,
//! and can keep a request waiting, so that a program is killed exactly there.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// What the model replies.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// A text.
    Says(String),
    /// Calls of tools, each with its arguments.
    Calls(Vec<(&'static str, Value)>),
    /// Nothing ever: the request is kept waiting.
    Holds,
}

/// A model behind HTTP.
pub(crate) struct Dialog {
    pub(crate) url: String,
    shared: Arc<(Mutex<Shared>, Condvar)>,
}

#[derive(Default)]
struct Shared {
    replies: VecDeque<Reply>,
    requests: Vec<Value>,
    calls: usize,
    /// The connections that are kept waiting.
    held: Vec<TcpStream>,
}

impl Dialog {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let shared = Arc::new((Mutex::new(Shared::default()), Condvar::new()));
        let of_thread = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                answer(stream.unwrap(), &of_thread);
            }
        });
        Self { url, shared }
    }

    /// Takes what the model replies next, one request after the other.
    pub(crate) fn will(&self, replies: Vec<Reply>) {
        let mut shared = self.shared.0.lock().unwrap();
        assert!(shared.replies.is_empty(), "never asked for: {:?}", shared.replies);
        shared.replies.extend(replies);
    }

    /// Waits until a request is kept waiting, and forgets it.
    pub(crate) fn wait_until_held(&self) {
        let shared = self.shared.0.lock().unwrap();
        let none = |shared: &mut Shared| shared.held.is_empty();
        let longest = Duration::from_secs(60);
        let (mut shared, waited) = self.shared.1.wait_timeout_while(shared, longest, none).unwrap();
        assert!(!waited.timed_out(), "the model was not asked");
        shared.held.clear();
    }

    /// Returns the requests since the last time.
    pub(crate) fn requests(&self) -> Vec<Value> {
        std::mem::take(&mut self.shared.0.lock().unwrap().requests)
    }
}

fn answer(mut stream: TcpStream, shared: &(Mutex<Shared>, Condvar)) {
    // A program that was killed may leave half a request.
    let Some((head, body)) = read_request(&mut stream) else { return };
    if !head.starts_with("POST") {
        drop(stream.write_all(b"HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n"));
        return;
    }
    let mut state = shared.0.lock().unwrap();
    state.requests.push(body);
    let reply = state.replies.pop_front();
    let chunk = match reply.unwrap_or_else(|| Reply::Says("The script is over.".to_owned())) {
        Reply::Says(text) => json!({"delta": {"content": text}, "finish_reason": "stop"}),
        Reply::Calls(calls) => {
            let mut told = Vec::new();
            for (index, (name, arguments)) in calls.into_iter().enumerate() {
                state.calls += 1;
                let function = json!({"name": name, "arguments": arguments.to_string()});
                let id = format!("call_{}", state.calls);
                told.push(
                    json!({"index": index, "id": id, "type": "function", "function": function}),
                );
            }
            json!({"delta": {"tool_calls": told}, "finish_reason": "tool_calls"})
        }
        Reply::Holds => {
            state.held.push(stream);
            shared.1.notify_all();
            return;
        }
    };
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let mut choice = chunk;
    choice["index"] = json!(0);
    let data = json!({"choices": [choice]});
    drop(stream.write_all(format!("{head}data: {data}\n\ndata: [DONE]\n\n").as_bytes()));
}

fn read_request(stream: &mut impl Read) -> Option<(String, Value)> {
    let mut bytes = Vec::new();
    let mut piece = [0; 8192];
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let length = head.to_lowercase();
            let length = length
                .split("content-length: ")
                .nth(1)
                .map_or(0, |rest| rest.lines().next().unwrap().trim().parse::<usize>().unwrap());
            if bytes.len() >= end + 4 + length {
                return Some((head, serde_json::from_slice(&bytes[end + 4..]).unwrap_or_default()));
            }
        }
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return None,
            Ok(read) => bytes.extend_from_slice(&piece[..read]),
        }
    }
}

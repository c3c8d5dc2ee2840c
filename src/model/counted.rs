//! What a prompt takes in tokens of our own counter: texts, calls and what is told of the tools. A
//! server counts a little more for its template, and what is thought aloud is counted apart, since
//! not every server is sent it.

use super::ChatRequest;
use crate::protocol::{Message, ToolSpec};
use crate::support::tokens::TokenCounter;

/// The tokens of a request, without what was thought aloud.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) messages: u64,
    pub(crate) tools: u64,
}

impl Counted {
    /// Counts a request.
    pub(crate) fn of(request: &ChatRequest, counter: &TokenCounter) -> Self {
        Self {
            messages: of_messages(&request.messages, counter),
            tools: of_tools(&request.tools, counter),
        }
    }

    /// Returns the tokens of messages and tools.
    pub(crate) fn total(self) -> u64 {
        self.messages + self.tools
    }
}

/// Counts messages with their calls.
pub(crate) fn of_messages<'a>(
    messages: impl IntoIterator<Item = &'a Message>,
    counter: &TokenCounter,
) -> u64 {
    let of_one = |message: &Message| {
        let calls = message.calls().iter();
        let calls = calls.map(|call| counter.count(&call.name) + counter.count(&call.arguments));
        (counter.count(message.text()) + calls.sum::<usize>()) as u64
    };
    messages.into_iter().map(of_one).sum()
}

/// Counts what was thought aloud before messages.
pub(crate) fn of_reasoning<'a>(
    messages: impl IntoIterator<Item = &'a Message>,
    counter: &TokenCounter,
) -> u64 {
    messages.into_iter().map(|message| counter.count(message.reasoning()) as u64).sum()
}

/// Counts what a model is told of its tools.
pub(crate) fn of_tools(tools: &[ToolSpec], counter: &TokenCounter) -> u64 {
    let of_one = |tool: &ToolSpec| {
        let tokens = counter.count(&tool.description) + counter.count(&tool.parameters.to_string());
        tokens as u64
    };
    tools.iter().map(of_one).sum()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::protocol::ToolCall;

    #[test]
    fn each_part_of_a_request_that_is_sent_is_counted() {
        let counter = TokenCounter::for_model("offline");
        let count = |text: &str| counter.count(text) as u64;
        let (arguments, parameters) = (json!({"command": "ls -l"}), json!({"type": "object"}));
        let call = ToolCall::new("call_1", "terminal", &arguments);
        let tool = ToolSpec {
            name: "terminal".to_owned(),
            description: "Runs a line.".to_owned(),
            parameters: parameters.clone(),
        };
        let messages = vec![
            Message::System { content: "Look after it.".to_owned() },
            Message::Assistant {
                content: "I look.".to_owned(),
                reasoning: Some("Hm, let me see.".to_owned()),
                calls: vec![call],
            },
        ];
        assert_eq!(of_reasoning(&messages, &counter), count("Hm, let me see."));
        let tokens = Counted::of(&ChatRequest { messages, tools: vec![tool] }, &counter);
        let texts = count("Look after it.") + count("I look.");
        assert_eq!(tokens.messages, texts + count("terminal") + count(&arguments.to_string()));
        assert_eq!(tokens.tools, count("Runs a line.") + count(&parameters.to_string()));
        assert_eq!(tokens.total(), tokens.messages + tokens.tools);
    }
}

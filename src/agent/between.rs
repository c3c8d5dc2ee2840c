//! Between the turns of one process: another model, another interruption, a person's own command.
//!
//! A turn that was interrupted leaves a token behind that stays cancelled, so whoever runs several
//! turns gives each its own. Nothing here changes what was said: the next turn goes on from it.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::{AgentError, CodebaseMaintainer};
use crate::context::ContextBuilder;
use crate::model::ChatModel;
use crate::protocol::{CommandOrigin, EventKind, Message};
use crate::support::tokens::{Encoding, TokenCounter};
use crate::terminal::{CommandReport, Refusal};

impl CodebaseMaintainer {
    /// Lets `cancel` interrupt what is asked from now on.
    pub fn interrupt_with(&mut self, cancel: CancellationToken) {
        self.cancel = cancel;
    }

    /// Lets another model answer from now on, in the same session: it is shown all that was said.
    ///
    /// # Errors
    /// When the context's settings leave nothing of the budget.
    pub fn set_model(&mut self, model: Arc<dyn ChatModel>) -> Result<(), AgentError> {
        if Encoding::for_model(model.name()) != self.counter.encoding() {
            // The sources keep the counter for limits of their own; what is sent is counted anew.
            let counter = Arc::new(TokenCounter::for_model(model.name()));
            self.builder = ContextBuilder::new(*self.builder.config(), Arc::clone(&counter))?;
            self.counter = counter;
        }
        self.model = model;
        Ok(())
    }

    /// Returns the name of who answers.
    pub fn model_name(&self) -> &str {
        self.model.name()
    }

    /// Runs a command line for a person, in the folder where the model's commands run, and records
    /// it; returns what came of it, or why nothing was run.
    pub async fn run_command(
        &mut self,
        line: &str,
    ) -> Result<Result<CommandReport, Refusal>, AgentError> {
        let done = self.terminal.run_for_person(line, &self.cancel).await?;
        self.begin_session();
        self.recorder.emit(EventKind::CommandFinished(match &done {
            Ok(report) => report.facts(CommandOrigin::User),
            Err(refusal) => refusal.facts(line, CommandOrigin::User),
        }));
        // No turn may follow, and its figures are those of the journal.
        self.write_report();
        Ok(done)
    }

    /// Returns how many messages the next turn follows, and their tokens.
    pub fn said_so_far(&self) -> (usize, u64) {
        let said = self.messages.iter().chain(&self.resumed);
        let said = said.filter(|message| !matches!(message, Message::System { .. }));
        let messages: Vec<Message> = said.cloned().collect();
        (messages.len(), self.count(&messages))
    }
}

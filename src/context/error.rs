//! What is wrong with a configuration or a budget.

/// Why no context can be built.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ContextError {
    /// A setting has a value that it cannot have.
    #[error("`{field}` is {value}, and must be {range}")]
    BadSetting {
        /// The field's name, as in the configuration.
        field: &'static str,
        /// The value.
        value: String,
        /// What it may be.
        range: String,
    },
    /// The parts that are never cut do not fit.
    #[error(
        "the fixed parts need {needed} tokens and the budget is {budget}: {over} too many; the largest is `{largest}` with {largest_tokens}",
        over = needed - budget
    )]
    FixedPartsTooLarge {
        /// Tokens of role, task, output and what must be kept.
        needed: usize,
        /// The budget.
        budget: usize,
        /// The name of the largest of them.
        largest: &'static str,
        /// Its tokens.
        largest_tokens: usize,
    },
}

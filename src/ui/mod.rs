//! Shows what happens. A display gets events and nothing else: it cannot reach the agent, and it
//! may lose events where the journal may not.

mod jsonl;
pub mod markdown;
mod plain;
mod stream;
mod talk;
mod ticking;

pub use jsonl::JsonLines;
pub use plain::Plain;
pub use stream::{Abilities, Size, Stream};
pub use talk::Talk;
pub use ticking::{Tick, Ticking};

use std::sync::Arc;

use chrono::{DateTime, Utc};
use futures::executor::block_on;

use crate::context::{ContextPacket, ContextSource, Query, SourceFailure};
use crate::support::paths::Workspace;
use crate::support::tokens::{Encoding, TokenCounter};

pub(super) fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_760_000_000, 0).unwrap()
}

pub(super) fn counter() -> Arc<TokenCounter> {
    Arc::new(TokenCounter::for_encoding(Encoding::O200k))
}

pub(super) fn query(text: &str) -> Query {
    Query { text: text.to_owned(), mode: "auto".to_owned(), now: now(), session: None }
}

pub(super) fn gather(
    source: &dyn ContextSource,
    text: &str,
) -> Result<Vec<ContextPacket>, SourceFailure> {
    gather_for(source, &query(text))
}

pub(super) fn gather_for(
    source: &dyn ContextSource,
    query: &Query,
) -> Result<Vec<ContextPacket>, SourceFailure> {
    block_on(source.gather(query))
}

pub(super) fn workspace(folder: &tempfile::TempDir) -> Workspace {
    Workspace::open(folder.path()).unwrap()
}

/// Makes a folder with files.
#[expect(clippy::disallowed_methods, reason = "a test's own files")]
pub(super) fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

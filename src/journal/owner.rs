//! Who has a session: a file beside the journal, for the message to whoever comes second. The lock
//! itself is the kernel's; this only names its owner.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::support::atomic_file;

const FILE_NAME: &str = "owner.json";

#[derive(Serialize, Deserialize)]
struct Owner {
    pid: u32,
    host: String,
}

/// Names this process as the owner. A name that cannot be written keeps nobody from working.
pub(super) fn write(folder: &Path) {
    let owner = Owner { pid: std::process::id(), host: host() };
    if let Ok(json) = serde_json::to_vec(&owner) {
        drop(atomic_file::replace_derived(&folder.join(FILE_NAME), &json));
    }
}

/// Returns the owner in words.
pub(super) fn read(folder: &Path) -> String {
    let path = folder.join(FILE_NAME);
    let since = std::fs::metadata(&path).and_then(|metadata| metadata.modified()).ok();
    let since = since.map(|time| {
        let time = chrono::DateTime::<chrono::Utc>::from(time);
        time.format(" since %Y-%m-%d %H:%M:%S UTC").to_string()
    });
    let owner = std::fs::read(&path).ok().and_then(|json| serde_json::from_slice(&json).ok());
    match owner {
        Some(Owner { pid, host }) => {
            format!("process {pid} on {host}{}", since.unwrap_or_default())
        }
        None => "another process".to_owned(),
    }
}

#[cfg(unix)]
fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn host() -> String {
    "this machine".to_owned()
}

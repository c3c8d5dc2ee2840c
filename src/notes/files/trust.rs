//! On which file systems a folder's own stamp tells whether names came or went.
//!
//! Only on those of which it is known: elsewhere (over a network, say) a stamp may be one that was
//! remembered, and the names are read each time.

use std::fs::File;

/// Returns whether a folder's stamp changes at once with every name in it.
#[cfg(target_os = "linux")]
pub(super) fn shows_changes(folder: &File) -> bool {
    let system = rustix::fs::fstatfs(folder).ok();
    let kind = system.and_then(|system| u32::try_from(system.f_type).ok());
    kind.is_some_and(|kind| TRUSTED.iter().any(|(_, trusted)| *trusted == kind))
}

/// Returns whether a folder's stamp changes at once with every name in it.
#[cfg(not(target_os = "linux"))]
pub(super) fn shows_changes(_folder: &File) -> bool {
    false
}

/// Local file systems by what `statfs(2)` calls them.
#[cfg(target_os = "linux")]
const TRUSTED: [(&str, u32); 6] = [
    ("ext4", 0xef53),
    ("xfs", 0x5846_5342),
    ("btrfs", 0x9123_683e),
    ("f2fs", 0xf2f5_2010),
    ("zfs", 0x2fc1_2fc1),
    ("tmpfs", 0x0102_1994),
];

//! The one door through which files are written: whole or not at all, also when the process is
//! killed, the power goes or the disk is full half-way.
//!
//! A file is written beside its place under a name of its own, synced, renamed, and the folder is
//! synced; a reader sees the old bytes or the new ones. Names of unfinished files begin with
//! [`UNFINISHED`] and never end like what they are for, so nobody reads them. It takes no locks by
//! itself: who has to read before writing holds a [`Lock`]. One call writes in place,
//! [`patch_derived`], for what may be lost.

#[cfg(test)]
pub(crate) mod faults;
#[cfg(test)]
mod tests;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How the names of files begin that are being written, or were when their writer died.
pub const UNFINISHED: &str = ".unfinished-";

/// Puts bytes in the place of what is there, if anything; durable when it returns. A device or a
/// pipe is no file that could be replaced: it is written into.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        step()?;
        return OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    let unfinished = Unfinished::write(path, bytes, Sync::Yes)?;
    step()?;
    fs::rename(&unfinished.path, path)?;
    unfinished.done();
    sync_folder(folder_of(path))
}

/// Like [`replace`] for a file in a folder that nobody sweeps: what a killed writer leaves lies in
/// `sweeping`, a folder of the same disk whose next writer removes it.
pub fn replace_by_way_of(sweeping: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    use io::ErrorKind::{
        CrossesDevices, NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem,
    };

    let written =
        Unfinished::write_as(unfinished_path(&sweeping.join("file")), path, bytes, Sync::Yes);
    let moved = written.and_then(|unfinished| {
        step()?;
        fs::rename(&unfinished.path, path)?;
        unfinished.done();
        Ok(())
    });
    match moved {
        Ok(()) => sync_folder(folder_of(path)),
        // There is no such folder, it is another disk, or a writer swept it in this moment.
        Err(error)
            if matches!(
                error.kind(),
                NotFound | NotADirectory | CrossesDevices | PermissionDenied | ReadOnlyFilesystem
            ) =>
        {
            replace(path, bytes)
        }
        Err(error) => Err(error),
    }
}

/// Like [`replace`] without waiting for the disk: for what can be made again.
pub fn replace_derived(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let unfinished = Unfinished::write(path, bytes, Sync::No)?;
    step()?;
    fs::rename(&unfinished.path, path)?;
    unfinished.done();
    Ok(())
}

/// Like [`replace_derived`] for a file that its owner alone may read.
pub fn replace_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let unfinished = Unfinished::write_private(path, bytes)?;
    step()?;
    fs::rename(&unfinished.path, path)?;
    unfinished.done();
    Ok(())
}

/// Makes a folder and those above it, of which the last lets its owner alone in. One that is there
/// stays as it is.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    step()?;
    if let Some(above) = path.parent() {
        fs::create_dir_all(above)?;
    }
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        result => result,
    }
}

/// Like [`replace_derived`] with the first `keep` bytes of what is there and `bytes` behind them;
/// the kernel copies, so that a large file costs little.
pub fn extend_derived(path: &Path, keep: u64, bytes: &[u8]) -> io::Result<()> {
    let unfinished = Unfinished::write(path, b"", Sync::No)?;
    let mut old = File::open(path)?.take(keep);
    let mut new = OpenOptions::new().append(true).open(&unfinished.path)?;
    step()?;
    if io::copy(&mut old, &mut new)? != keep {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    step()?;
    new.write_all(bytes)?;
    step()?;
    fs::rename(&unfinished.path, path)?;
    unfinished.done();
    Ok(())
}

/// Writes some bytes at their places into a file that is still the one with that inode number, one
/// after the other. They may be written half, so whoever reads them must be able to tell.
pub fn patch_derived(path: &Path, inode: u64, patches: &[(u64, Vec<u8>)]) -> io::Result<()> {
    use std::os::unix::fs::{FileExt, MetadataExt};
    let mut options = OpenOptions::new();
    let file = without_following(options.write(true)).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.ino() != inode {
        return Err(io::Error::other("another file took its place"));
    }
    for (at, bytes) in patches {
        step()?;
        file.write_all_at(bytes, *at)?;
    }
    Ok(())
}

/// Writes a new file; an error of kind `AlreadyExists` when something is there. Durable when it
/// returns.
pub fn create_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::symlink_metadata(path).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let unfinished = Unfinished::write(path, bytes, Sync::Yes)?;
    step()?;
    rename_new(&unfinished.path, path)?;
    unfinished.done();
    sync_folder(folder_of(path))
}

/// Moves a file to a place where nothing is; durable when it returns.
pub fn move_new(from: &Path, to: &Path) -> io::Result<()> {
    step()?;
    rename_new(from, to)?;
    sync_folder(folder_of(to))?;
    sync_folder(folder_of(from))
}

/// Removes a file.
pub fn remove(path: &Path) -> io::Result<()> {
    step()?;
    fs::remove_file(path)
}

/// Makes a folder and those above it; durable when it returns.
pub fn make_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    step()?;
    fs::create_dir_all(path)?;
    sync_folder(folder_of(path))
}

/// A kernel lock on a file: held until dropped, and let go by the kernel when the process dies.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for the lock, at most for `patience`; then an error of kind `TimedOut`.
    pub fn take(path: &Path, patience: Duration) -> io::Result<Self> {
        let file = open_lock(path)?;
        let started = Instant::now();
        let mut pause = Duration::from_micros(200);
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) if started.elapsed() < patience => {
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_millis(5));
                }
                Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::TimedOut.into()),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }
}

/// Opens the file of a lock.
fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let options = without_following(options.write(true).create(true).truncate(false));
    let file = match options.open(path) {
        // The file of another user: to hold its lock it need not be written.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => options
            .write(false)
            .create(false)
            .truncate(false)
            .read(true)
            .open(path)
            .map_err(|_| error),
        result => result,
    };
    let is_plain = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file());
    match file {
        Ok(file) if is_plain => Ok(file),
        Err(error) if is_plain || error.kind() == io::ErrorKind::NotFound => Err(error),
        Err(error) if fs::symlink_metadata(path).is_err() => Err(error),
        Ok(_) | Err(_) => Err(io::Error::other("it is not a plain file")),
    }
}

/// A link is not followed, since a folder may come from anywhere and a lock makes its file; whoever
/// is at the other end of a pipe is not waited for.
fn without_following(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default())
}

/// Removes the files in a folder whose writers died. The caller holds the lock that all writers
/// of the folder take, so none of them is alive.
pub fn remove_unfinished(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
            // What cannot be removed now is tried again at the next write.
            fs::remove_file(entry.path()).ok();
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sync {
    Yes,
    No,
}

/// A file under its first name; removed when it does not come to its place.
struct Unfinished {
    path: PathBuf,
    is_done: bool,
}

impl Unfinished {
    fn write(target: &Path, bytes: &[u8], sync: Sync) -> io::Result<Self> {
        Self::write_as(unfinished_path(target), target, bytes, sync)
    }

    fn write_as(path: PathBuf, target: &Path, bytes: &[u8], sync: Sync) -> io::Result<Self> {
        step()?;
        let mut file = OpenOptions::new().write(true).create_new(true).open(&path)?;
        let unfinished = Self { path, is_done: false };
        if let Ok(old) = fs::metadata(target) {
            file.set_permissions(old.permissions())?;
        }
        let (first, second) = bytes.split_at(bytes.len() / 2);
        step()?;
        file.write_all(first)?;
        step()?;
        file.write_all(second)?;
        if sync == Sync::Yes {
            step()?;
            file.sync_all()?;
        }
        Ok(unfinished)
    }

    fn write_private(target: &Path, bytes: &[u8]) -> io::Result<Self> {
        step()?;
        let path = unfinished_path(target);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path)?;
        let unfinished = Self { path, is_done: false };
        step()?;
        file.write_all(bytes)?;
        Ok(unfinished)
    }

    fn done(mut self) {
        self.is_done = true;
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.is_done && !is_stopped() {
            // The name says that it is unfinished; the next writer removes it.
            fs::remove_file(&self.path).ok();
        }
    }
}

fn unfinished_path(target: &Path) -> PathBuf {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let process = std::process::id();
    folder_of(target).join(format!("{UNFINISHED}{process}-{number}"))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Syncs a folder, so that the names in it survive a power cut.
fn sync_folder(folder: &Path) -> io::Result<()> {
    step()?;
    match File::open(folder)?.sync_all() {
        // Some file systems cannot sync folders and say so.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
}

/// Renames without replacing what is there.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {}
            result => return result.map_err(io::Error::from),
        }
    }
    // A file system without that flag: a second name, which never replaces, and then only one.
    fs::hard_link(from, to)?;
    fs::remove_file(from)
}

/// Stands before every system call that changes something, so that tests can stop there.
#[cfg(not(test))]
#[inline]
#[expect(clippy::unnecessary_wraps, reason = "it fails in tests")]
fn step() -> io::Result<()> {
    Ok(())
}

#[cfg(not(test))]
#[inline]
fn is_stopped() -> bool {
    false
}

#[cfg(test)]
use faults::{is_stopped, step};

//! The one door through which files are written: whole or not at all, also when the process is
//! killed, the power goes or the disk is full half-way.
//!
//! A file is written beside its place under a name of its own, synced, renamed, and the folder is
//! synced; a reader sees the old bytes or the new ones. Names of unfinished files begin with
//! [`UNFINISHED`] and never end like what they are for, so nobody reads them. It takes no locks by
//! itself: who has to read before writing holds a [`Lock`].

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

/// Opens the file of a lock. A link is not followed, since a folder may come from anywhere and a
/// lock makes its file; whoever is at the other end of a pipe is not waited for.
fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    }
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
        step()?;
        let path = unfinished_path(target);
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

#[cfg(test)]
pub(crate) mod faults {
    //! Lets a test stop or fail a write before its nth system call, on its own thread.

    use std::cell::Cell;
    use std::io;

    /// What happens at the chosen step.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Fault {
        /// As by `kill -9`: nothing after it happens, not even tidying up.
        Stop,
        /// The disk is full at this one call.
        DiskFull,
    }

    thread_local! {
        static PLAN: Cell<Option<(usize, Fault)>> = const { Cell::new(None) };
        static STEPS: Cell<usize> = const { Cell::new(0) };
    }

    /// Runs `work` with a fault before the `nth` step, from 0; tells whether it came that far.
    pub(crate) fn at_step<T>(nth: usize, fault: Fault, work: impl FnOnce() -> T) -> (T, bool) {
        PLAN.set(Some((nth, fault)));
        STEPS.set(0);
        let result = work();
        PLAN.set(None);
        (result, STEPS.get() > nth)
    }

    pub(super) fn step() -> io::Result<()> {
        let at = STEPS.get();
        STEPS.set(at + 1);
        match PLAN.get() {
            Some((nth, Fault::Stop)) if at >= nth => Err(io::Error::other("stopped")),
            Some((nth, Fault::DiskFull)) if at == nth => Err(io::ErrorKind::StorageFull.into()),
            _ => Ok(()),
        }
    }

    pub(super) fn is_stopped() -> bool {
        matches!(PLAN.get(), Some((nth, Fault::Stop)) if STEPS.get() > nth)
    }
}

#[cfg(test)]
mod tests {
    use super::faults::{Fault, at_step};
    use super::*;

    type Write = fn(&Path) -> io::Result<()>;

    fn new_or_old(path: &Path) -> Option<String> {
        fs::read_to_string(path).ok()
    }

    #[test]
    fn a_file_is_old_or_new_whatever_step_is_the_last() {
        let writes: [(Write, Option<&str>); 6] = [
            (|path| replace_private(path, b"new bytes"), Some("old")),
            (|path| extend_derived(path, 0, b"new bytes"), Some("old")),
            (|path| replace(path, b"new bytes"), Some("old")),
            (|path| replace(path, b"new bytes"), None),
            (|path| replace_derived(path, b"new bytes"), Some("old")),
            (|path| create_new(path, b"new bytes"), None),
        ];
        for (write, old) in writes {
            for fault in [Fault::Stop, Fault::DiskFull] {
                for nth in 0.. {
                    let folder = tempfile::tempdir().unwrap();
                    let path = folder.path().join("file");
                    if let Some(old) = old {
                        replace(&path, old.as_bytes()).unwrap();
                    }
                    let (result, came_there) = at_step(nth, fault, || write(&path));
                    let now = new_or_old(&path);
                    assert!(
                        now.as_deref() == old || now.as_deref() == Some("new bytes"),
                        "{now:?}"
                    );
                    if !came_there {
                        result.unwrap();
                        assert_eq!(now.as_deref(), Some("new bytes"));
                        break;
                    }
                    assert!(result.is_err());
                    if fault == Fault::DiskFull {
                        let left = fs::read_dir(folder.path()).unwrap().count();
                        assert_eq!(left, usize::from(now.is_some()), "nothing else is left");
                    }
                    remove_unfinished(folder.path());
                    assert_eq!(
                        fs::read_dir(folder.path()).unwrap().count(),
                        usize::from(now.is_some())
                    );
                }
            }
        }
    }

    #[test]
    fn a_new_file_replaces_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        create_new(&path, b"first").unwrap();
        let error = create_new(&path, b"second").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(new_or_old(&path).as_deref(), Some("first"));
        let other = folder.path().join("other");
        create_new(&other, b"other").unwrap();
        assert!(move_new(&other, &path).is_err());
        assert_eq!(new_or_old(&path).as_deref(), Some("first"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_is_written_into_and_stays_one() {
        use std::os::unix::fs::FileTypeExt;
        // A link to the device, so that a failure of this test breaks no machine.
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("full");
        std::os::unix::fs::symlink("/dev/full", &link).unwrap();
        let error = replace(&link, b"x").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(fs::metadata(&link).unwrap().file_type().is_char_device());
    }

    #[cfg(unix)]
    #[test]
    fn permissions_stay() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        create_new(&path, b"x").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        replace(&path, b"y").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[cfg(unix)]
    #[test]
    fn a_lock_is_a_plain_file_and_no_link() {
        let folder = tempfile::tempdir().unwrap();
        let (link, target) = (folder.path().join("link"), folder.path().join("target"));
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        let inside = folder.path().join("folder");
        fs::create_dir(&inside).unwrap();
        for path in [link, pipe, inside] {
            let error = Lock::take(&path, Duration::ZERO).unwrap_err();
            assert_eq!(error.to_string(), "it is not a plain file", "{}", path.display());
        }
        assert!(!target.exists());
    }

    #[test]
    fn a_lock_is_waited_for_and_not_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".lock");
        let held = Lock::take(&path, Duration::ZERO).unwrap();
        let error = Lock::take(&path, Duration::ZERO).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(held);
        Lock::take(&path, Duration::ZERO).unwrap();
    }
}

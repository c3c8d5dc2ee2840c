//! A write is whole or not there, whatever happens to the writer.

use super::faults::{Fault, at_step};
use super::*;

type Write = fn(&Path) -> io::Result<()>;

fn new_or_old(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

#[test]
fn bytes_are_written_in_place_only_into_the_file_that_was_meant() {
    use std::os::unix::fs::{MetadataExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let [path, other, link] = ["file", "other", "link"].map(|name| folder.path().join(name));
    let inode = |path: &Path| fs::symlink_metadata(path).unwrap().ino();
    replace(&path, b"0123456789").unwrap();
    replace(&other, b"0123456789").unwrap();
    let patches = [(8, b"89AB".to_vec()), (3, b"xyz".to_vec())];
    symlink(&path, &link).unwrap();
    patch_derived(&path, inode(&other), &patches).unwrap_err();
    patch_derived(&link, inode(&path), &patches).unwrap_err();
    patch_derived(folder.path(), inode(folder.path()), &patches).unwrap_err();
    assert_eq!(new_or_old(&path).unwrap(), "0123456789");
    patch_derived(&path, inode(&path), &patches).unwrap();
    assert_eq!(new_or_old(&path).unwrap(), "012xyz6789AB");
    assert_eq!(new_or_old(&other).unwrap(), "0123456789");
}

#[test]
fn a_file_is_old_or_new_whatever_step_is_the_last() {
    let writes: [(Write, Option<&str>); 7] = [
        (|path| replace_by_way_of(folder_of(path), path, b"new bytes"), Some("old")),
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
                assert!(now.as_deref() == old || now.as_deref() == Some("new bytes"), "{now:?}");
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
fn what_a_killed_writer_leaves_lies_where_it_is_swept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let sweeping = folder.path().join("notes");
    for nth in 0.. {
        replace(&path, b"old").unwrap();
        fs::create_dir_all(&sweeping).unwrap();
        let work = || replace_by_way_of(&sweeping, &path, b"new bytes");
        let (_, came_there) = at_step(nth, Fault::Stop, work);
        let names: Vec<_> = fs::read_dir(folder.path()).unwrap().flatten().collect();
        assert_eq!(names.len(), 2, "{names:?}");
        remove_unfinished(&sweeping);
        fs::remove_dir(&sweeping).unwrap();
        if !came_there {
            assert_eq!(new_or_old(&path).as_deref(), Some("new bytes"));
            break;
        }
    }
    // Without that folder it is written all the same.
    replace_by_way_of(&sweeping, &path, b"newer").unwrap();
    assert_eq!(new_or_old(&path).as_deref(), Some("newer"));
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

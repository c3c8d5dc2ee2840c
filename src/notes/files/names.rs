//! The names in a folder, without an allocation for each.

use std::ffi::CStr;
use std::fs::File;
use std::io;

/// Shows one name after the other.
pub(super) struct Names<'a> {
    #[cfg(target_os = "linux")]
    folder: &'a File,
    #[cfg(target_os = "linux")]
    buffer: Vec<u8>,
    #[cfg(not(target_os = "linux"))]
    folder: rustix::fs::Dir,
    #[cfg(not(target_os = "linux"))]
    _of: std::marker::PhantomData<&'a File>,
}

#[cfg(target_os = "linux")]
impl<'a> Names<'a> {
    #[expect(clippy::unnecessary_wraps, reason = "on other systems it can fail")]
    pub(super) fn of(folder: &'a File) -> io::Result<Self> {
        Ok(Self { folder, buffer: Vec::with_capacity(BUFFER) })
    }

    /// Shows the next names; none when there are no more.
    pub(super) fn next(&mut self, mut show: impl FnMut(&CStr)) -> io::Result<Option<()>> {
        // What is left in the buffer at the end of one is lost with it, so each takes all of it.
        let mut entries = rustix::fs::RawDir::new(self.folder, self.buffer.spare_capacity_mut());
        let mut any = None;
        while let Some(entry) = entries.next() {
            show(entry?.file_name());
            any = Some(());
            if entries.is_buffer_empty() {
                break;
            }
        }
        Ok(any)
    }
}

#[cfg(not(target_os = "linux"))]
impl<'a> Names<'a> {
    pub(super) fn of(folder: &'a File) -> io::Result<Self> {
        Ok(Self { folder: rustix::fs::Dir::read_from(folder)?, _of: std::marker::PhantomData })
    }

    /// Shows the next names; none when there are no more.
    pub(super) fn next(&mut self, mut show: impl FnMut(&CStr)) -> io::Result<Option<()>> {
        match self.folder.read() {
            Some(entry) => {
                show(entry?.file_name());
                Ok(Some(()))
            }
            None => Ok(None),
        }
    }
}

/// Room for some seven hundred names: the system is asked that often.
#[cfg(target_os = "linux")]
const BUFFER: usize = 32 * 1024;

//! The names in a folder as the system lists them, without an allocation for each.

use std::ffi::CStr;
use std::fs::File;
use std::io;

/// The names that are wanted, in lists, as they are read.
pub(super) struct Listing<'a> {
    names: Names<'a>,
    /// How many names are a list.
    length: usize,
    /// Lists that are full.
    full: Vec<List>,
    /// The list that the next name comes into.
    next: List,
}

impl<'a> Listing<'a> {
    pub(super) fn of(folder: &'a File, length: usize) -> io::Result<Self> {
        let names = Names::of(folder)?;
        Ok(Self { names, length, full: Vec::new(), next: List::with_room_for(length) })
    }

    /// Reads some more names, and returns whether there were any.
    pub(super) fn read(&mut self, mut is_wanted: impl FnMut(&[u8]) -> bool) -> io::Result<bool> {
        let Self { names, length, full, next } = self;
        let any = names.next(|name| {
            if is_wanted(name.to_bytes()) {
                next.push(name);
                if next.ends.len() == *length {
                    full.push(std::mem::replace(next, List::with_room_for(*length)));
                }
            }
        })?;
        Ok(any.is_some())
    }

    /// Returns how many full lists there are.
    pub(super) fn full(&self) -> usize {
        self.full.len()
    }

    /// Takes the full lists.
    pub(super) fn take_full(&mut self) -> Vec<List> {
        std::mem::take(&mut self.full)
    }

    /// Takes all lists, the last of which may be short.
    pub(super) fn take(&mut self) -> Vec<List> {
        self.full.push(std::mem::replace(&mut self.next, List::with_room_for(0)));
        self.take_full()
    }
}

/// Some names, one behind the other, each with a 0 behind it.
pub(super) struct List {
    names: Vec<u8>,
    ends: Vec<u32>,
}

impl List {
    fn with_room_for(length: usize) -> Self {
        Self { names: Vec::with_capacity(length * USUAL_NAME), ends: Vec::with_capacity(length) }
    }

    fn push(&mut self, name: &CStr) {
        self.names.extend_from_slice(name.to_bytes_with_nul());
        self.ends.push(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
    }

    /// Returns the names in the order in which they were read.
    pub(super) fn names(&self) -> impl Iterator<Item = &CStr> {
        let mut start = 0;
        self.ends.iter().filter_map(move |end| {
            let name = self.names.get(start..*end as usize).unwrap_or_default();
            start = *end as usize;
            CStr::from_bytes_with_nul(name).ok()
        })
    }
}

/// Shows one name after the other.
struct Names<'a> {
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
    fn of(folder: &'a File) -> io::Result<Self> {
        Ok(Self { folder, buffer: Vec::with_capacity(BUFFER) })
    }

    /// Shows the next names; none when there are no more.
    fn next(&mut self, mut show: impl FnMut(&CStr)) -> io::Result<Option<()>> {
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
    fn of(folder: &'a File) -> io::Result<Self> {
        Ok(Self { folder: rustix::fs::Dir::read_from(folder)?, _of: std::marker::PhantomData })
    }

    /// Shows the next names; none when there are no more.
    fn next(&mut self, mut show: impl FnMut(&CStr)) -> io::Result<Option<()>> {
        match self.folder.read() {
            Some(entry) => {
                show(entry?.file_name());
                Ok(Some(()))
            }
            None => Ok(None),
        }
    }
}

/// Room for a name, with the 0 behind it.
const USUAL_NAME: usize = 40;

/// Room for some seven hundred names: the system is asked that often.
#[cfg(target_os = "linux")]
const BUFFER: usize = 32 * 1024;

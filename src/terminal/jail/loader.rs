//! Which loader a program asks for: the kernel executes it too, so it needs the right.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Returns the loader that an ELF program names; none for static programs and other files.
pub(in crate::terminal) fn loader_of(program: &Path) -> Option<PathBuf> {
    const LOADER: u32 = 3; // PT_INTERP
    let mut file = File::open(program).ok()?;
    let mut header = [0; 64];
    file.read_exact(&mut header).ok()?;
    // Only 64-bit little-endian programs run on the architectures that the jail knows.
    if header[..6] != [0x7f, b'E', b'L', b'F', 2, 1] {
        return None;
    }
    let table = u64::from_le_bytes(header[32..40].try_into().ok()?);
    let size = u64::from(u16::from_le_bytes(header[54..56].try_into().ok()?));
    let count = u64::from(u16::from_le_bytes(header[56..58].try_into().ok()?));
    for index in 0..count {
        let mut entry = [0; 56];
        file.read_exact_at(&mut entry, table + index * size).ok()?;
        if u32::from_le_bytes(entry[..4].try_into().ok()?) != LOADER {
            continue;
        }
        let at = u64::from_le_bytes(entry[8..16].try_into().ok()?);
        let length = u64::from_le_bytes(entry[32..40].try_into().ok()?);
        let mut name = vec![0; usize::try_from(length.min(4096)).ok()?];
        file.read_exact_at(&mut name, at).ok()?;
        name.retain(|byte| *byte != 0);
        return Some(PathBuf::from(OsString::from_vec(name)));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_the_system_names_a_loader_that_is_there() {
        let program = [Path::new("/usr/bin/ls"), Path::new("/bin/ls")];
        let loader = program.iter().find_map(|program| loader_of(program));
        // A static `ls` (busybox) names none.
        assert!(loader.is_none_or(|loader| loader.is_file()));
    }

    #[test]
    fn a_file_that_is_no_program_names_none() {
        assert_eq!(loader_of(Path::new(file!())), None);
        assert_eq!(loader_of(Path::new("/nonexistent")), None);
    }
}

//! The re-executed side: it is a fresh small process, so nothing of the parent's memory, threads
//! or locks is here. It jails itself, then becomes the one program.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;

use super::cell::{Cell, Job, Layer, SETUP_FAILED};
use super::{Complaint, landlock, limits, probe, seccomp};

/// Jails the process and becomes the program; returns only to say why not.
pub(super) fn enter(arguments: &[OsString]) -> Complaint {
    match prepare(arguments) {
        Ok(complaint) => complaint,
        Err(message) => Complaint { code: SETUP_FAILED, message },
    }
}

fn prepare(arguments: &[OsString]) -> Result<Complaint, String> {
    let (cell, job) = Cell::from_arguments(arguments)?;
    match job {
        Job::Run { program, arguments } => {
            // Everything that `exec` needs is in memory before the last door closes.
            let path = c_string(program.as_os_str())?;
            let arguments: Vec<CString> =
                arguments.iter().map(|word| c_string(word)).collect::<Result<_, _>>()?;
            close_doors(&cell, &path)?;
            let error = execute(&path, &arguments);
            Ok(Complaint { code: exit_code(&error), message: cannot_run(&program, &error) })
        }
        Job::Probe => {
            let path = c_string(OsStr::new("/"))?;
            let doors = close_doors(&cell, &path)?;
            probe::try_everything(&doors);
            Err("the self-test does not end here".to_owned())
        }
    }
}

/// What became of the layers.
pub(super) struct Doors {
    /// The interface number of Landlock; 0 without.
    pub(super) landlock: u32,
    /// Why there is no filter, if there is none.
    pub(super) seccomp: Result<(), String>,
}

/// Closes every door, the system-call filter last: the others need calls that it forbids.
fn close_doors(cell: &Cell, program: &CString) -> Result<Doors, String> {
    limits::apply(cell)?;
    let landlock = match cell.landlock {
        Layer::Off => 0,
        Layer::Try => landlock::apply(cell).unwrap_or(0),
        Layer::Must => match landlock::apply(cell)? {
            0 => return Err("this kernel has no Landlock".to_owned()),
            number => number,
        },
    };
    let seccomp = match cell.seccomp {
        Layer::Off => Err("off".to_owned()),
        Layer::Try => seccomp::apply(cell, program.as_ptr()),
        Layer::Must => {
            seccomp::apply(cell, program.as_ptr())?;
            Ok(())
        }
    };
    Ok(Doors { landlock, seccomp })
}

/// Replaces this process. `path` must be the very string that the filter was told.
fn execute(path: &CString, arguments: &[CString]) -> io::Error {
    let environment: Vec<CString> = std::env::vars_os()
        .filter_map(|(key, value)| {
            let mut pair = key;
            pair.push("=");
            pair.push(value);
            c_string(&pair).ok()
        })
        .collect();
    let argument_pointers = pointers(arguments);
    let environment_pointers = pointers(&environment);
    // SAFETY: both arrays end with a null pointer and hold pointers to strings that live until
    // the call, which returns only when it failed.
    unsafe {
        libc::execve(path.as_ptr(), argument_pointers.as_ptr(), environment_pointers.as_ptr())
    };
    io::Error::last_os_error()
}

fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    strings.iter().map(|string| string.as_ptr()).chain([std::ptr::null()]).collect()
}

fn c_string(word: &OsStr) -> Result<CString, String> {
    CString::new(word.as_bytes()).map_err(|_| "an argument holds a NUL".to_owned())
}

/// As a shell does: 127 when it is not there, 126 when it cannot be run.
fn exit_code(error: &io::Error) -> i32 {
    if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 }
}

fn cannot_run(program: &std::path::Path, error: &io::Error) -> String {
    let name = program.file_name().unwrap_or(program.as_os_str());
    format!("`{}` cannot be run: {error}", name.display())
}

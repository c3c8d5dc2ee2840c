//! The self-test: a helper closes every door and tries to open each; what it could open is said.

/// What of the jail works on this machine.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct JailReport {
    /// The number of the kernel's Landlock interface; 0 without.
    pub landlock: u32,
    /// Each thing that must fail in the jail, and whether it did.
    pub checks: Vec<Check>,
    /// Why there is no jail at all, or why a part is missing; empty when it is whole.
    pub missing: Vec<String>,
}

/// One thing that must fail in the jail.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Check {
    /// What was tried.
    pub tried: String,
    /// Whether it failed, as it must.
    pub stopped: bool,
}

/// What a program says that is no helper: it ran, and did not end as one.
const NO_ANSWER: &str = "the jail's helper gave no answer (a program of your own has to call `terminal::run_jail_helper` first of all)";

/// The oldest Landlock interface that can stop a file from being shortened.
const OLDEST_LANDLOCK: u32 = 3;

impl JailReport {
    /// Returns whether every layer is there and stopped what it must.
    pub fn is_whole(&self) -> bool {
        self.missing.is_empty()
    }

    /// Returns whether the helper answered at all: if not, it is not ours.
    pub(in crate::terminal) fn has_answered(&self) -> bool {
        !self.checks.is_empty()
    }

    /// Returns the report for a system, or a way of starting, that has no jail.
    pub(in crate::terminal) fn none(reason: impl Into<String>) -> Self {
        Self { landlock: 0, checks: Vec::new(), missing: vec![reason.into()] }
    }

    /// Reads what the helper printed.
    pub(in crate::terminal) fn read(printed: &str) -> Self {
        let mut report = Self { landlock: 0, checks: Vec::new(), missing: Vec::new() };
        for line in printed.lines() {
            match line.split_once('\t') {
                Some(("landlock", number)) => report.landlock = number.parse().unwrap_or(0),
                Some(("stopped", tried)) => report.checks.push(check(tried, true)),
                Some(("open", tried)) => report.checks.push(check(tried, false)),
                Some(("seccomp", reason)) => {
                    report.missing.push(format!("no system-call filter: {reason}"));
                }
                _ => {}
            }
        }
        if report.checks.is_empty() {
            // Nothing is known of the kernel then.
            report.missing.push(NO_ANSWER.to_owned());
        } else if report.landlock == 0 {
            report.missing.push("no Landlock in this kernel".to_owned());
        } else if report.landlock < OLDEST_LANDLOCK {
            let number = report.landlock;
            let needed = OLDEST_LANDLOCK;
            report.missing.push(format!("Landlock {number} of this kernel is older than {needed}"));
        }
        let open = report.checks.iter().filter(|check| !check.stopped);
        report.missing.extend(open.map(|check| format!("not stopped: {}", check.tried)));
        report
    }
}

fn check(tried: &str, stopped: bool) -> Check {
    Check { tried: tried.to_owned(), stopped }
}

/// Tries what must fail, prints what came of it, and ends the helper.
///
/// Nothing here could do harm if it succeeded: the device swallows what is written, and the
/// files of the other attempts do not exist.
#[cfg(target_os = "linux")]
#[expect(clippy::exit, reason = "the helper's only task is done")]
pub(super) fn try_everything(doors: &super::helper::Doors) {
    use std::fmt::Write as _;
    use std::io::Write as _;

    let mut text = format!("landlock\t{}\n", doors.landlock);
    if let Err(reason) = &doors.seccomp {
        // Writing to a string does not fail.
        let _ = writeln!(text, "seccomp\t{reason}");
    }
    for (tried, stopped) in attempts() {
        let _ = writeln!(text, "{}\t{tried}", if stopped { "stopped" } else { "open" });
    }
    // The parent tells a missing answer from a good one.
    drop(std::io::stdout().write_all(text.as_bytes()));
    std::process::exit(0);
}

#[cfg(target_os = "linux")]
fn attempts() -> [(&'static str, bool); 6] {
    use std::io::ErrorKind::PermissionDenied;
    let refused = |error: &std::io::Error| error.kind() == PermissionDenied;
    let write = std::fs::OpenOptions::new().write(true).open("/dev/zero");
    let read = std::fs::File::open("/etc/passwd");
    let list = std::fs::read_dir("/etc");
    let socket = std::os::unix::net::UnixDatagram::unbound();
    // The path of these two does not exist, which is another error than being refused.
    let nothing = c"/nonexistent/groundskeeper";
    // SAFETY: the path is a constant string that ends with a NUL.
    let mode = unsafe { libc::chmod(nothing.as_ptr(), 0o600) };
    let mode_refused = mode != 0 && refused(&std::io::Error::last_os_error());
    let arguments = [nothing.as_ptr(), std::ptr::null()];
    // SAFETY: the path is a constant string, and both arrays end with a null pointer.
    unsafe { libc::execve(nothing.as_ptr(), arguments.as_ptr(), arguments[1..].as_ptr()) };
    let exec_refused = refused(&std::io::Error::last_os_error());
    [
        ("writing outside `/dev/null`", write.is_err_and(|error| refused(&error))),
        ("reading outside the workspace", read.is_err_and(|error| refused(&error))),
        ("listing outside the workspace", list.is_err_and(|error| refused(&error))),
        ("opening a socket", socket.is_err_and(|error| refused(&error))),
        ("changing a mode", mode_refused),
        ("starting a second program", exec_refused),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_missing(printed: &str, expected: &[&str]) {
        assert_eq!(JailReport::read(printed).missing, expected);
    }

    #[test]
    fn a_report_names_what_is_missing() {
        check_missing("landlock\t7\nstopped\topening a socket\n", &[]);
        check_missing("landlock\t0\nstopped\topening a socket\n", &["no Landlock in this kernel"]);
        check_missing(
            "landlock\t2\nopen\topening a socket\n",
            &["Landlock 2 of this kernel is older than 3", "not stopped: opening a socket"],
        );
        for printed in ["", "running 0 tests\n"] {
            check_missing(printed, &[NO_ANSWER]);
        }
    }
}

//! One signal of our own process, and nothing of the jail: the file is here because the kernel has
//! no safe form of it.

use libc::{SIG_DFL, SIG_ERR, SIGXFSZ, c_int, sighandler_t, signal};

/// Makes a file that grows over the limit of the process (`ulimit -f`) an error that is told, and
/// not the end of the program without a word. Programs that it starts have the usual again.
pub fn survive_the_largest_file() {
    // SAFETY: the function does nothing, which is safe in a signal handler.
    let before = unsafe { signal(SIGXFSZ, nothing as extern "C" fn(c_int) as sighandler_t) };
    if before != SIG_DFL && before != SIG_ERR {
        // Whoever called the program chose otherwise: it is so ignored as before.
        // SAFETY: what the kernel returned as a handler it takes as one.
        unsafe { signal(SIGXFSZ, before) };
    }
}

extern "C" fn nothing(_signal: c_int) {}

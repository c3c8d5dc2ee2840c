//! Reads what a pipeline prints, as long as it may: until its end, the limit of bytes, the limit
//! of time, or a stop.
//!
//! Nothing is buffered but one chunk; a program that prints faster than we read waits in its
//! pipe. So memory does not grow with what a program could print.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::children::{Children, Stop};
use super::clean::Cleaner;

/// How long a pipe may stay open once every process that we started has ended, and how long what
/// is still in the pipes of ended processes may take to read.
const GRACE: Duration = Duration::from_secs(2);

/// What is kept of a line's output.
pub(super) struct Capture {
    /// The output.
    pub(super) stdout: Cleaner,
    /// The messages.
    pub(super) stderr: Cleaner,
    /// Bytes taken of both.
    pub(super) bytes: u64,
    most: u64,
    deadline: Instant,
    grace: Duration,
    chunk: Vec<u8>,
}

/// Whether there is more to read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    More,
    End,
    Full,
}

impl Capture {
    /// Returns a capture of at most so many bytes, until then.
    pub(super) fn new(stdout: Cleaner, stderr: Cleaner, most: u64, deadline: Instant) -> Self {
        Self { stdout, stderr, bytes: 0, most, deadline, grace: GRACE, chunk: vec![0; 1 << 16] }
    }

    /// Reads both pipes of a pipeline until it is over. `ended` is readable when every stage has
    /// ended. What was printed before a stop is kept.
    pub(super) fn follow(
        &mut self,
        stdout: OwnedFd,
        stderr: OwnedFd,
        ended: BorrowedFd<'_>,
        children: &Children,
    ) -> io::Result<()> {
        let mut stdout = Some(stdout);
        let mut stderr = Some(stderr);
        let mut running = true;
        // Set when nothing that we started is left to print.
        let mut last_call: Option<Instant> = None;
        while stdout.is_some() || stderr.is_some() || running {
            let now = Instant::now();
            if last_call.is_none() && (!running || children.stopped().is_some()) {
                last_call = Some(now + self.grace);
            }
            let until = last_call.unwrap_or(self.deadline);
            if now >= until {
                if last_call.is_some() {
                    return Ok(());
                }
                children.stop(Stop::TimedOut);
                continue;
            }
            let wake = last_call.is_none().then(|| children.wake());
            let asked = [
                stdout.as_ref().map(AsFd::as_fd),
                stderr.as_ref().map(AsFd::as_fd),
                running.then_some(ended),
                wake,
            ];
            let [out_ready, err_ready, all_ended, _] = wait(asked, until - now)?;
            running &= !all_ended;
            for (pipe, ready, is_output) in
                [(&mut stdout, out_ready, true), (&mut stderr, err_ready, false)]
            {
                let (Some(open), true) = (pipe.as_ref(), ready) else { continue };
                match self.take(open, is_output)? {
                    Flow::More => {}
                    Flow::End => *pipe = None,
                    Flow::Full => {
                        children.stop(Stop::Full);
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// Takes one chunk of a pipe that has something or has ended.
    fn take(&mut self, pipe: &OwnedFd, is_output: bool) -> io::Result<Flow> {
        let room = usize::try_from(self.most.saturating_sub(self.bytes)).unwrap_or(usize::MAX);
        let cleaner = if is_output { &mut self.stdout } else { &mut self.stderr };
        // One byte more than there is room for tells a full output from one that just fits.
        let size = self.chunk.len().min(room.saturating_add(1));
        let count = match rustix::io::read(pipe, &mut self.chunk[..size]) {
            Ok(0) => return Ok(Flow::End),
            Ok(count) => count,
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => return Ok(Flow::More),
            Err(error) => return Err(error.into()),
        };
        let kept = count.min(room);
        cleaner.push(&self.chunk[..kept]);
        self.bytes += kept as u64;
        if kept < count || cleaner.is_full() { Ok(Flow::Full) } else { Ok(Flow::More) }
    }
}

/// Waits until one of several descriptors has something, or for a time.
fn wait<const N: usize>(
    asked: [Option<BorrowedFd<'_>>; N],
    time: Duration,
) -> io::Result<[bool; N]> {
    let present = asked.iter().flatten();
    let mut polled: Vec<PollFd<'_>> =
        present.map(|asked| PollFd::from_borrowed_fd(*asked, PollFlags::IN)).collect();
    let time = Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(time.subsec_nanos()),
    };
    match poll(&mut polled, Some(&time)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let mut answers = polled.iter().map(|polled| !polled.revents().is_empty());
    Ok(asked.map(|asked| asked.is_some() && answers.next().unwrap_or(false)))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn pipe() -> (OwnedFd, OwnedFd) {
        let (reader, writer) = io::pipe().unwrap();
        (reader.into(), writer.into())
    }

    fn capture(grace: Duration) -> Capture {
        let cleaner = || Cleaner::new(1000, false);
        let deadline = Instant::now() + Duration::from_secs(60);
        Capture { grace, ..Capture::new(cleaner(), cleaner(), 1000, deadline) }
    }

    #[test]
    fn a_pipe_that_nobody_of_ours_holds_is_given_up() {
        let ((stdout, held), (stderr, _)) = (pipe(), pipe());
        let (ended, _) = pipe();
        std::fs::File::from(held.try_clone().unwrap()).write_all(b"before").unwrap();
        let mut capture = capture(Duration::from_millis(20));
        let children = Children::new().unwrap();
        capture.follow(stdout, stderr, ended.as_fd(), &children).unwrap();
        assert_eq!(capture.stdout.finish().text, "before");
        assert_eq!(children.stopped(), None);
        drop(held);
    }

    #[test]
    fn what_is_still_in_the_pipe_of_a_stopped_line_is_kept() {
        let ((stdout, output), (stderr, _)) = (pipe(), pipe());
        let (ended, running) = pipe();
        std::fs::File::from(output).write_all(b"before").unwrap();
        let children = Children::new().unwrap();
        children.stop(Stop::Cancelled);
        let mut capture = capture(Duration::from_millis(20));
        capture.follow(stdout, stderr, ended.as_fd(), &children).unwrap();
        assert_eq!(capture.stdout.finish().text, "before");
        drop(running);
    }
}

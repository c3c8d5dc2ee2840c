//! The processors that this process may use, and threads that do not share one needlessly.
//!
//! Only hints are given: a thread may run anywhere afterwards, and what the system refuses leaves
//! things as they are.

/// Returns how many processors this process may use at once.
///
/// The standard library's number also heeds what control groups allow, and reads five files for
/// it, which takes as long as looking at some hundred notes.
pub fn count() -> usize {
    #[cfg(target_os = "linux")]
    let count = rustix::thread::sched_getaffinity(None).map_or(1, |set| set.count() as usize);
    #[cfg(not(target_os = "linux"))]
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    count.max(1)
}

/// Returns `work` for a thread that the caller is about to start: it goes to another processor than
/// the caller's first.
///
/// Some kernels start a thread on the processor of the one that started it, and move it after
/// several milliseconds, in which the two take turns.
pub fn elsewhere<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    #[cfg(target_os = "linux")]
    let taken = rustix::thread::sched_getcpu();
    move || {
        #[cfg(target_os = "linux")]
        leave(taken);
        work()
    }
}

/// Goes to another processor, if this one is taken and there is another.
#[cfg(target_os = "linux")]
fn leave(taken: usize) {
    if let Some(all) = keep_off(taken) {
        // From here on the kernel places it as it likes.
        rustix::thread::sched_setaffinity(None, &all).ok();
    }
}

/// Goes from a processor to another one and stays off it; returns where the thread might run
/// before, and none where it did not go.
#[cfg(target_os = "linux")]
fn keep_off(taken: usize) -> Option<rustix::thread::CpuSet> {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
    if sched_getcpu() != taken || taken >= CpuSet::MAX_CPU {
        return None;
    }
    let all = sched_getaffinity(None).ok()?;
    let mut others = all;
    others.unset(taken);
    let is_gone = others.count() > 0 && sched_setaffinity(None, &others).is_ok();
    is_gone.then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_least_one_processor_may_be_used() {
        assert!((1..=1 << 20).contains(&count()), "{}", count());
    }

    #[test]
    fn work_is_done_elsewhere_and_may_go_on_anywhere() {
        for _ in 0..100 {
            let thread = std::thread::spawn(elsewhere(|| (count(), std::thread::current().id())));
            let (processors, id) = thread.join().unwrap();
            assert_eq!(processors, count(), "it may use as many as before");
            assert_ne!(id, std::thread::current().id());
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_leaves_the_processor_that_is_taken() {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
        std::thread::spawn(|| {
            let all = sched_getaffinity(None).unwrap();
            let here = sched_getcpu();
            // Held here, it can go nowhere and stays.
            let mut only = CpuSet::new();
            only.set(here);
            sched_setaffinity(None, &only).unwrap();
            leave(here);
            assert_eq!(sched_getcpu(), here);
            assert_eq!(sched_getaffinity(None).unwrap(), only);
            sched_setaffinity(None, &all).unwrap();
            leave(sched_getcpu());
            assert_eq!(sched_getaffinity(None).unwrap(), all);
            // The kernel may move it between the two calls, and then there is nothing to leave.
            let left = (0..1000).map(|_| sched_getcpu()).find(|here| keep_off(*here).is_some());
            assert_eq!(left.is_some(), all.count() > 1);
            if let Some(left) = left {
                assert_ne!(sched_getcpu(), left);
                assert!(!sched_getaffinity(None).unwrap().is_set(left));
            }
        })
        .join()
        .unwrap();
    }
}

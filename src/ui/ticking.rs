//! Lets a display tell how time passes while nothing happens.

use std::io;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::protocol::{Event, EventSink};

/// How often a display is told of the time.
const OFTEN: Duration = Duration::from_secs(1);

/// A display that shows how long something takes. [`Ticking`] tells it.
pub trait Tick: EventSink {
    /// Shows that so much time has passed since the last event.
    fn tick(&mut self, since: Duration) -> io::Result<()>;
}

/// Hands events on to a display, and tells it the time in between.
pub struct Ticking<D> {
    shared: Arc<Mutex<Shared<D>>>,
    /// The thread ends when this is gone.
    _end: mpsc::Sender<()>,
}

struct Shared<D> {
    display: D,
    last: Instant,
}

impl<D: Tick + 'static> Ticking<D> {
    /// Starts telling a display the time.
    pub fn start(display: D) -> Self {
        let shared = Arc::new(Mutex::new(Shared { display, last: Instant::now() }));
        let (end, ended) = mpsc::channel();
        let ticked = Arc::clone(&shared);
        std::thread::spawn(move || {
            while ended.recv_timeout(OFTEN) == Err(RecvTimeoutError::Timeout) {
                let mut shared = lock(&ticked);
                let since = shared.last.elapsed();
                // What cannot be shown now is shown by the next event or not at all.
                shared.display.tick(since).ok();
            }
        });
        Self { shared, _end: end }
    }
}

impl<D: Tick> EventSink for Ticking<D> {
    fn emit(&mut self, event: &Event) -> io::Result<()> {
        let mut shared = lock(&self.shared);
        shared.last = Instant::now();
        shared.display.emit(event)
    }
}

fn lock<D>(shared: &Mutex<Shared<D>>) -> MutexGuard<'_, Shared<D>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

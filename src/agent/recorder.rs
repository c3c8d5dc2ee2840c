//! Numbers and dates what happened, writes it down first and shows it then.

use crate::journal::Journal;
use crate::protocol::{Event, EventKind, EventSink};
use crate::support::clock::Clock;
use std::sync::Arc;

/// The journal first and always, the display as well as it can.
pub(super) struct Recorder {
    clock: Arc<dyn Clock>,
    journal: Option<Journal>,
    display: Box<dyn EventSink>,
    events: Vec<Event>,
    unsaved: Option<String>,
    /// Whether it was told that nothing is saved any more.
    is_lost: bool,
    /// Whether what happens is only tried and belongs nowhere.
    is_quiet: bool,
}

impl Recorder {
    /// Returns a recorder of a session that may have events already.
    pub(super) fn new(
        clock: Arc<dyn Clock>,
        journal: Option<Journal>,
        display: Box<dyn EventSink>,
        events: Vec<Event>,
    ) -> Self {
        Self { clock, journal, display, events, unsaved: None, is_lost: false, is_quiet: false }
    }

    /// Records one thing that happened. A journal that cannot be written is told once, and the
    /// session goes on in memory.
    pub(super) fn emit(&mut self, kind: EventKind) {
        if self.is_quiet {
            return;
        }
        // Pieces of an answer are only shown, so they do not use up a number.
        let last = self.events.last().map_or(0, |event| event.seq);
        if kind.is_passing() {
            self.show(&Event { seq: last, at: self.clock.utc(), kind });
            return;
        }
        let event = Event { seq: last + 1, at: self.clock.utc(), kind };
        let failure = match &mut self.journal {
            Some(journal) => journal.emit(&event).err(),
            None => None,
        };
        self.show(&event);
        self.events.push(event);
        if let Some(error) = failure {
            self.lose(&error.to_string());
        }
    }

    /// Says once that nothing is saved from here on.
    pub(super) fn lose(&mut self, reason: &str) {
        self.journal = None;
        if !self.is_lost {
            self.is_lost = true;
            self.unsaved = Some(reason.to_owned());
            let message = format!(
                "The session cannot be saved ({reason}); it goes on, and is gone when it ends."
            );
            self.emit(EventKind::Warning { message });
        }
    }

    /// Says once that a part of the session could not be kept; the journal goes on.
    pub(super) fn lose_part(&mut self, what: &str, reason: &str) {
        if self.unsaved.is_none() {
            self.unsaved = Some(reason.to_owned());
            self.warn(format!(
                "{what} could not be kept ({reason}); what follows may not be either."
            ));
        }
    }

    /// Records nothing until [`Recorder::speak`]: what happens is only tried.
    pub(super) fn be_quiet(&mut self) {
        self.is_quiet = true;
    }

    /// Records again.
    pub(super) fn speak(&mut self) {
        self.is_quiet = false;
    }

    /// Records a warning.
    pub(super) fn warn(&mut self, message: impl Into<String>) {
        self.emit(EventKind::Warning { message: message.into() });
    }

    /// Goes on after the events of an earlier time, in their journal.
    pub(super) fn take_up(&mut self, journal: Journal, events: Vec<Event>) {
        self.journal = Some(journal);
        self.events = events;
    }

    /// Writes what happens from here on into a journal.
    pub(super) fn write_into(&mut self, journal: Journal) {
        self.journal = Some(journal);
    }

    /// Returns all events of the session.
    pub(super) fn events(&self) -> &[Event] {
        &self.events
    }

    /// Returns why the session could not be saved, if it could not.
    pub(super) fn unsaved(&self) -> Option<&str> {
        self.unsaved.as_deref()
    }

    /// A display that cannot show loses its events, and nothing else happens.
    fn show(&mut self, event: &Event) {
        if self.display.emit(event).is_err() {
            self.display = Box::new(Nowhere);
        }
    }
}

/// Shows nothing.
#[derive(Debug, Clone, Copy)]
pub struct Nowhere;

impl EventSink for Nowhere {
    fn emit(&mut self, _event: &Event) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Mutex;

    use chrono::DateTime;
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::support::clock::FixedClock;

    #[derive(Clone, Default)]
    struct Shown(Arc<Mutex<Vec<Event>>>, bool);

    impl EventSink for Shown {
        fn emit(&mut self, event: &Event) -> io::Result<()> {
            self.0.lock().unwrap().push(event.clone());
            if self.1 { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
        }
    }

    fn recorder(display: &Shown) -> Recorder {
        let at = DateTime::parse_from_rfc3339("2025-01-19T15:30:00+08:00").unwrap();
        let clock = Arc::new(FixedClock::at(at));
        Recorder::new(clock, None, Box::new(display.clone()), Vec::new())
    }

    #[test]
    fn events_are_numbered_without_gaps_and_pieces_have_no_number_of_their_own() {
        let shown = Shown::default();
        let mut recorder = recorder(&shown);
        recorder.warn("one");
        recorder.emit(EventKind::ModelDelta { text: "piece".to_owned() });
        recorder.warn("two");
        assert_eq!(recorder.events().iter().map(|event| event.seq).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(shown.0.lock().unwrap().len(), 3);
    }

    #[test]
    fn a_display_that_breaks_is_left_alone() {
        let shown = Shown(Arc::default(), true);
        let mut recorder = recorder(&shown);
        recorder.warn("one");
        recorder.warn("two");
        assert_eq!(shown.0.lock().unwrap().len(), 1);
        assert_eq!(recorder.events().len(), 2);
    }

    #[test]
    fn what_cannot_be_saved_is_told_once() {
        let shown = Shown::default();
        let mut recorder = recorder(&shown);
        recorder.lose("no space");
        recorder.lose("no space");
        assert_eq!(recorder.unsaved(), Some("no space"));
        assert_eq!(recorder.events().len(), 1);
        recorder.lose_part("An output", "no space");
        assert_eq!(recorder.events().len(), 1);
    }

    #[test]
    fn a_part_that_is_lost_is_told_once_and_does_not_hide_that_all_is() {
        let shown = Shown::default();
        let mut recorder = recorder(&shown);
        recorder.lose_part("An output", "no space");
        recorder.lose_part("An output", "no space");
        assert_eq!((recorder.unsaved(), recorder.events().len()), (Some("no space"), 1));
        recorder.lose("none at all");
        assert_eq!((recorder.unsaved(), recorder.events().len()), (Some("none at all"), 2));
    }
}

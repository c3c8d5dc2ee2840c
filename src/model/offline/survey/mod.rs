//! What is there: folders, languages, sizes, landmarks, history.

pub(super) mod history;
pub(super) mod landmarks;
pub(super) mod languages;
pub(super) mod sizes;
pub(super) mod structure;

//! The newest of many, without sorting or keeping them all.

use std::cmp::Ordering;

/// The greatest of what was added, and how many there were in all.
#[derive(Debug)]
pub(super) struct Newest<T, C> {
    limit: usize,
    compare: C,
    /// The greatest so far, and some more.
    kept: Vec<T>,
    /// What is not greater is not among the greatest.
    bar: Option<T>,
    total: usize,
}

impl<T: Copy, C: Fn(&T, &T) -> Ordering> Newest<T, C> {
    /// Keeps the `limit` greatest.
    pub(super) fn new(limit: usize, compare: C) -> Self {
        Self { limit, compare, kept: Vec::new(), bar: None, total: 0 }
    }

    pub(super) fn add(&mut self, new: T) {
        self.total += 1;
        if self.bar.is_some_and(|bar| (self.compare)(&new, &bar).is_le()) {
            return;
        }
        self.kept.push(new);
        if self.kept.len() >= self.limit.saturating_mul(2).max(ROOM) {
            self.cut();
        }
    }

    /// Returns the greatest, the greatest first, and how many were added.
    pub(super) fn sorted(mut self) -> (Vec<T>, usize) {
        self.cut();
        self.kept.sort_unstable_by(|a, b| (self.compare)(b, a));
        (self.kept, self.total)
    }

    fn cut(&mut self) {
        if self.limit < self.kept.len() {
            let newest_first = |a: &T, b: &T| (self.compare)(b, a);
            let (_, next, _) = self.kept.select_nth_unstable_by(self.limit, newest_first);
            self.bar = Some(*next);
            self.kept.truncate(self.limit);
        }
    }
}

/// So many are kept at least before the smallest of them are left out.
const ROOM: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(limit: usize, added: impl Iterator<Item = u32> + Clone) {
        let mut newest = Newest::new(limit, u32::cmp);
        added.clone().for_each(|number| newest.add(number));
        let mut sorted: Vec<u32> = added.collect();
        let total = sorted.len();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        sorted.truncate(limit);
        assert_eq!(newest.sorted(), (sorted, total), "the greatest {limit} of {total}");
    }

    #[test]
    fn they_are_what_sorting_all_would_give() {
        for limit in [0, 1, 20, 300, 999, 1000, usize::MAX] {
            check(limit, 0..1000);
            check(limit, (0..1000).rev());
            check(limit, (0..1000).map(|number| number * 7919 % 1009));
            check(limit, (0..1000).map(|number| number % 3));
            check(limit, 0..0);
        }
    }
}

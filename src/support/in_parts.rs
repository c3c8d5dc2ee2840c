//! Work on a list, divided over the processors.
//!
//! Only what takes longer than a thread takes to start is divided. Where no more threads may be
//! started the caller's does all, so the result never depends on how many there were.

use std::thread::{self, Builder};

use super::processors::{self, elsewhere};

/// Does `work` on consecutive parts of a list, at the same time where the list is large, and returns
/// the results in the order of the parts. `bytes` tells how much work an item is.
pub fn in_parts<'a, T: Sync, R: Send>(
    items: &'a [T],
    bytes: impl Fn(&T) -> usize,
    work: impl Fn(&'a [T]) -> R + Sync,
) -> Vec<R> {
    let all = items.iter().map(&bytes).fold(0, usize::saturating_add);
    if all < WORTH_DIVIDING {
        return vec![work(items)];
    }
    let parts = divided(items, bytes, all / processors::count().min(MOST_THREADS) + 1);
    thread::scope(|scope| {
        let (own, others) =
            parts.split_first().map_or((items, &[][..]), |(own, rest)| (*own, rest));
        let work = &work;
        let started: Vec<_> = others
            .iter()
            .map(|part| (*part, Builder::new().spawn_scoped(scope, elsewhere(move || work(part)))))
            .collect();
        let mut results = vec![work(own)];
        for (part, thread) in started {
            let result = thread.ok().and_then(|thread| thread.join().ok());
            results.push(result.unwrap_or_else(|| work(part)));
        }
        results
    })
}

/// Less is done faster than a thread starts.
const WORTH_DIVIDING: usize = 1 << 20;

/// More threads than this gain nothing on what a context is chosen from.
const MOST_THREADS: usize = 4;

/// Returns the items in parts of at least `least` bytes, the last excepted.
fn divided<T>(items: &[T], bytes: impl Fn(&T) -> usize, least: usize) -> Vec<&[T]> {
    let mut parts = Vec::new();
    let (mut start, mut size) = (0, 0);
    for (at, item) in items.iter().enumerate() {
        size = bytes(item).saturating_add(size);
        if size >= least {
            parts.push(&items[start..=at]);
            (start, size) = (at + 1, 0);
        }
    }
    if start < items.len() {
        parts.push(&items[start..]);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_results_are_in_the_order_of_the_items() {
        for (count, size) in [(0, 1), (1, 1), (100, 10), (1_000, 5_000), (7, 1 << 20), (1, 1 << 22)]
        {
            let items: Vec<usize> = (0..count).collect();
            let parts = in_parts(&items, |_| size, <[usize]>::to_vec);
            assert_eq!(parts.concat(), items, "{count} of {size}");
            assert!(parts.len() <= MOST_THREADS, "{}", parts.len());
        }
    }

    #[test]
    fn parts_are_of_about_one_size() {
        let sizes = [10, 1, 1, 30, 5, 5, 5, 1];
        let parts = divided(&sizes, |size| *size, 12);
        assert_eq!(parts, [&[10, 1, 1][..], &[30], &[5, 5, 5], &[1]]);
    }
}

//! Numbers for the tests that make their own lines: the same in each run, and more of them when
//! they are asked for.

/// A generator of numbers that are the same in each run (xorshift).
pub(super) struct Random(u64);

impl Random {
    /// Returns the generator of a round.
    pub(super) fn of_round(round: u64) -> Self {
        Self(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(2 * round + 1))
    }

    /// Returns a number below `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(end).unwrap()).unwrap()
    }
}

/// Returns the numbers of the rounds to go: one, or as many as `GROUNDSKEEPER_FUZZ` said when the
/// tests were compiled (`FIRST..END`).
pub(super) fn rounds() -> std::ops::Range<u64> {
    let Some(asked) = option_env!("GROUNDSKEEPER_FUZZ") else { return 0..1 };
    let (first, end) = asked.split_once("..").unwrap();
    first.parse().unwrap()..end.parse().unwrap()
}

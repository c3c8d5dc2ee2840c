//! The part of the filter that looks at the number of a call only: a binary search over ranges.

use seccompiler::sock_filter;

pub(super) const LOAD: u16 = 0x20;
pub(super) const JUMP: u16 = 0x05;
pub(super) const JUMP_IF_EQUAL: u16 = 0x15;
pub(super) const JUMP_IF_GREATER: u16 = 0x25;
pub(super) const JUMP_IF_AT_LEAST: u16 = 0x35;
pub(super) const RETURN: u16 = 0x06;

/// Where the number and the architecture stand in what a filter looks at.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;

#[cfg(target_arch = "x86_64")]
pub(super) const THIS_ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
pub(super) const THIS_ARCHITECTURE: u32 = 0xc000_00b7;
// No call has this architecture, so everything kills; the crate knows no further ones that we
// have lists for.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) const THIS_ARCHITECTURE: u32 = 0;

/// Numbers from here on are those of the x32 variant, which would go around the lists.
const X32: u32 = 0x4000_0000;

/// Returns the first steps: other architectures and the numbers of x32 kill, and `clone3`, whose
/// flags lie in memory where a filter cannot look, does not exist; the C library then uses
/// `clone`.
pub(super) fn prefix(clone3: i64) -> Vec<sock_filter> {
    let absent = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned();
    vec![
        step(LOAD, 0, 0, ARCHITECTURE),
        step(JUMP_IF_EQUAL, 1, 0, THIS_ARCHITECTURE),
        step(RETURN, 0, 0, libc::SECCOMP_RET_KILL_PROCESS),
        step(LOAD, 0, 0, NUMBER),
        step(JUMP_IF_AT_LEAST, 0, 1, X32),
        step(RETURN, 0, 0, libc::SECCOMP_RET_KILL_PROCESS),
        step(JUMP_IF_EQUAL, 0, 1, u32::try_from(clone3).unwrap_or(u32::MAX)),
        step(RETURN, 0, 0, absent),
    ]
}

/// Returns steps that allow these numbers, and go on below for all others.
pub(super) fn allow(numbers: &[i64]) -> Vec<sock_filter> {
    let mut tree = search(&ranges(numbers));
    let end = tree.len();
    for (index, step) in tree.iter_mut().enumerate() {
        if step.code == JUMP {
            step.k = u32::try_from(end - index - 1).unwrap_or(u32::MAX);
        }
    }
    tree
}

fn ranges(numbers: &[i64]) -> Vec<(u32, u32)> {
    let mut numbers: Vec<u32> = numbers.iter().flat_map(|n| u32::try_from(*n)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    ranges
}

/// Each leaf allows one range or jumps to the end, whose distance is filled in later.
fn search(ranges: &[(u32, u32)]) -> Vec<sock_filter> {
    match ranges {
        [] => Vec::new(),
        [(first, last)] => vec![
            step(JUMP_IF_AT_LEAST, 0, 2, *first),
            step(JUMP_IF_GREATER, 1, 0, *last),
            step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
            step(JUMP, 0, 0, 0),
        ],
        _ => {
            let (left, right) = ranges.split_at(ranges.len() / 2);
            let pivot = right[0].0;
            let left = search(left);
            // A tree of fewer than a hundred ranges keeps its jumps within a byte; should it ever
            // grow, everything to the right is merely not found.
            let over = u8::try_from(left.len()).unwrap_or(u8::MAX);
            let mut tree = vec![step(JUMP_IF_AT_LEAST, over, 0, pivot)];
            tree.extend(left);
            tree.extend(search(right));
            tree
        }
    }
}

fn step(code: u16, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

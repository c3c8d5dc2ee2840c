//! Lines that nobody would write: every one gets a plan or a reason, and none a panic.
//!
//! They begin as the examples of the rules, allowed and refused, so that they reach deep into the
//! languages of the commands; then parts are cut out, doubled, exchanged and strewn in.

use super::*;
use crate::terminal::fuzz::{Random, rounds};
use crate::terminal::tests::Fixture;

/// How many lines are made in a round.
const LINES: usize = 4_000;

#[test]
fn no_mutated_example_makes_the_checker_panic() {
    let fixture = Fixture::new();
    let checker = fixture.checker();
    let top = checker.workspace().top();
    let rules = Rules::read(include_str!("../rules.yaml")).unwrap();
    let seeds: Vec<String> =
        rules.all().flat_map(|rule| rule.accepted.iter().chain(&rule.refused).cloned()).collect();
    let mut allowed = 0;
    for round in rounds() {
        let mut random = Random::of_round(round);
        for _ in 0..LINES {
            let line = line(&seeds, &mut random);
            match checker.plan(&line, &top) {
                Ok(_) => allowed += 1,
                Err(refusal) => assert!(!refusal.reason.is_empty(), "{line:?}"),
            }
        }
    }
    assert!(allowed > 0);
    println!("{allowed} lines are allowed in {:?} rounds of {LINES} lines", rounds());
}

fn line(seeds: &[String], random: &mut Random) -> String {
    const STREWN: [&str; 40] = [
        " ",
        "\n",
        "\t",
        "'",
        "\"",
        "\\",
        "|",
        "&&",
        ";",
        "<",
        ">",
        "2>&1",
        "-",
        "--",
        "--x=",
        "=",
        "*",
        "?",
        "[",
        "]",
        "{}",
        "{",
        "}",
        "/",
        "..",
        "~",
        "$",
        "#",
        "@",
        "%",
        "+",
        "0",
        "-1",
        "1e999",
        "99999999999999999999",
        "中",
        "\u{200b}",
        "\u{0}",
        "\u{feff}",
        "é",
    ];
    if random.below(16) == 0 {
        return (0..random.below(80)).map(|_| character(random)).collect();
    }
    let mut characters: Vec<char> = seeds[random.below(seeds.len())].chars().collect();
    for _ in 0..random.below(6) {
        let (at, end) = place(&characters, random);
        match random.below(6) {
            0 => drop(characters.drain(at..end)),
            1 => {
                let doubled: Vec<char> = characters[at..end].to_vec();
                characters.splice(at..at, doubled);
            }
            2 | 3 => {
                let strewn = STREWN[random.below(STREWN.len())];
                characters.splice(at..at, strewn.chars());
            }
            4 => {
                let other: Vec<char> = seeds[random.below(seeds.len())].chars().collect();
                let (from, to) = place(&other, random);
                characters.splice(at..end, other[from..to].iter().copied());
            }
            _ => characters.insert(at, character(random)),
        }
    }
    characters.into_iter().collect()
}

/// Returns a range of the characters, mostly a short one.
fn place(characters: &[char], random: &mut Random) -> (usize, usize) {
    let at = random.below(characters.len() + 1);
    let most = if random.below(2) == 0 { 4 } else { 40 };
    (at, (at + random.below(most)).min(characters.len()))
}

fn character(random: &mut Random) -> char {
    let end = if random.below(3) == 0 { 0x11_0000 } else { 0x80 };
    u32::try_from(random.below(end)).ok().and_then(char::from_u32).unwrap_or('\u{fffd}')
}

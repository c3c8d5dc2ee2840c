//! Makes the tables that tokens are counted with, in the form in which they are used, so that the
//! program has nothing to load.
//!
//! The vocabularies are those of tiktoken-rs, token by token; the classes of characters are those
//! of regex-syntax, with which tiktoken-rs cuts texts. Numbers are little-endian whatever the
//! machine, so that a build for another machine has the same tables.

use std::collections::HashMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use regex_syntax::hir::{Class, HirKind};
use tiktoken_rs::CoreBPE;

use layout::{
    BLANK, FREE, LINE_END, LONGEST_TOKEN, LOWER, MARK, NO_TOKEN, NUMBER, PLAIN, RANK_BITS, UPPER,
};

#[path = "src/support/tokens/layout.rs"]
mod layout;

/// Which characters have which class, and all others are [`layout::OTHER`]; the later one counts.
const CLASSES: [(&str, u8); 7] = [
    (r"[\p{Lu}\p{Lt}]", UPPER),
    (r"\p{Ll}", LOWER),
    (r"[\p{Lm}\p{Lo}]", PLAIN),
    (r"\p{M}", MARK),
    (r"\p{N}", NUMBER),
    (r"\s", BLANK),
    (r"[\r\n]", LINE_END),
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/support/tokens/layout.rs");
    #[expect(clippy::disallowed_methods, reason = "Cargo tells a build script so where to write")]
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("Cargo sets OUT_DIR")?);
    write_classes(&folder)?;
    write_vocabulary(&folder, "o200k_base", &tiktoken_rs::o200k_base()?, 199_998)?;
    write_vocabulary(&folder, "cl100k_base", &tiktoken_rs::cl100k_base()?, 100_256)
}

/// Writes the bytes of all tokens by rank, where each begins, a hash table of ranks, and the ranks of
/// all pairs of bytes.
fn write_vocabulary(folder: &Path, name: &str, tables: &CoreBPE, count: u32) -> Outcome {
    let (mut bytes, mut starts) = (Vec::new(), vec![0]);
    let mut joints = vec![0; layout::JOINTS / 8];
    let mut pairs = vec![NO_TOKEN; 1 << 16];
    let mut places = vec![FREE; (count as usize * 2).next_power_of_two()];
    for rank in 0..count {
        let token = tables.decode_bytes(&[rank])?;
        if token.is_empty() || token.len() > LONGEST_TOKEN || rank >= FREE & ((1 << RANK_BITS) - 1)
        {
            return Err(format!("the token {rank} of {name} does not fit the layout").into());
        }
        let hash = layout::hash(&token);
        let mut place = layout::place(hash, places.len());
        while places[place] != FREE {
            place = layout::next_place(place, places.len());
        }
        places[place] = layout::tag(hash) | rank;
        if let [first, second] = token[..] {
            pairs[layout::pair(first, second)] = rank;
        }
        mark_joints(&mut joints, &token);
        bytes.extend_from_slice(&token);
        starts.push(u32::try_from(bytes.len())?);
    }
    write(folder, &format!("{name}.bytes"), &bytes)?;
    write(folder, &format!("{name}.starts"), &little_endian(&starts))?;
    write(folder, &format!("{name}.joints"), &joints)?;
    write(folder, &format!("{name}.pairs"), &little_endian(&pairs))?;
    write(folder, &format!("{name}.places"), &little_endian(&places))
}

/// Marks which neighbouring characters beyond ASCII a token reaches across, also where it has only
/// the end of the one or the beginning of the other.
fn mark_joints(joints: &mut [u8], token: &[u8]) {
    let mut mark = |left: u32, right: u32| {
        let bit = layout::joint(left, right);
        joints[bit / 8] |= 1 << (bit % 8);
    };
    for at in 1..token.len() {
        if token[at] < 0xC0 || token[at - 1] < 0x80 {
            continue;
        }
        let mut from = at - 1;
        while from > 0 && token[from] < 0xC0 && token[from] >= 0x80 {
            from -= 1;
        }
        let left = &token[from..at];
        let left = if left[0] >= 0xC0 { layout::packed(left) } else { layout::ANY };
        let length = layout::length_of_character(token[at]);
        let right = &token[at..token.len().min(at + length)];
        let missing = length - right.len();
        if missing > 1 && left != layout::ANY {
            mark(left, layout::ANY);
        } else {
            let ends = 6 * missing;
            let start = layout::packed(right) << (8 * missing);
            for end in 0..1_u32 << ends {
                let bytes =
                    (0..missing).map(|byte| (0x80 | end >> (6 * byte) & 0x3F) << (8 * byte));
                mark(left, start | bytes.sum::<u32>());
            }
        }
    }
}

/// Writes the classes of all characters: one table of blocks without repetitions, and which block
/// each 128 characters have.
fn write_classes(folder: &Path) -> Outcome {
    let mut classes = vec![layout::OTHER; char::MAX as usize + 1];
    for (pattern, class) in CLASSES {
        let parsed = regex_syntax::parse(pattern)?;
        let HirKind::Class(Class::Unicode(set)) = parsed.kind() else {
            return Err(format!("`{pattern}` is no class of characters").into());
        };
        for range in set.ranges() {
            classes[range.start() as usize..=range.end() as usize].fill(class);
        }
    }
    let (mut blocks, mut index) = (Vec::new(), Vec::new());
    let mut known = HashMap::new();
    for block in classes.chunks(layout::BLOCK) {
        let at = *known.entry(block).or_insert_with(|| {
            blocks.extend_from_slice(block);
            blocks.len() / layout::BLOCK - 1
        });
        index.extend_from_slice(&u16::try_from(at)?.to_le_bytes());
    }
    write(folder, "classes.blocks", &blocks)?;
    write(folder, "classes.index", &index)
}

fn little_endian(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> Outcome {
    #[expect(clippy::disallowed_methods, reason = "what a build writes nobody has to keep")]
    std::fs::write(folder.join(name), bytes)?;
    Ok(())
}

type Outcome = Result<(), Box<dyn Error>>;

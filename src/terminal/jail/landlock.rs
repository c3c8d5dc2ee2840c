//! Landlock: what of the file system, of the network and of other processes can be reached.
//!
//! The kernel checks every open by where the file really lies, so no trick with names, links or
//! races reaches anything that is not listed in the cell.

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus,
    PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError,
    RulesetStatus, Scope,
};

use super::cell::{Cell, Processes};

/// The newest interface that we ask for; an older kernel gives what it has.
const NEWEST: ABI = ABI::V7;

/// Takes every right that the cell does not list, and returns the number of the kernel's
/// interface, 0 when there is none.
pub(super) fn apply(cell: &Cell) -> Result<u32, String> {
    restrict(cell).map_err(|error| format!("Landlock cannot be set up: {error}"))
}

fn restrict(cell: &Cell) -> Result<u32, RulesetError> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let execute = AccessFs::ReadFile | AccessFs::Execute;
    let library = match cell.processes {
        Processes::One => BitFlags::from(AccessFs::ReadFile),
        Processes::Many => execute,
    };
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?;
    for path in &cell.readable {
        ruleset = allow(ruleset, path, read)?;
    }
    for path in &cell.libraries {
        ruleset = allow(ruleset, path, library)?;
    }
    for path in &cell.executable {
        ruleset = allow(ruleset, path, execute)?;
    }
    let null = AccessFs::ReadFile | AccessFs::WriteFile;
    ruleset = allow(ruleset, std::path::Path::new("/dev/null"), null)?;
    let status = ruleset.restrict_self()?;
    Ok(match (status.ruleset, status.landlock) {
        (
            RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced,
            LandlockStatus::Available { effective_abi, .. },
        ) => effective_abi as u32,
        _ => 0,
    })
}

/// Adds a rule for a path that is there. One that is not (a folder of libraries of another
/// distribution) needs no rule: what cannot be opened now stays unreachable.
fn allow(
    ruleset: RulesetCreated,
    path: &std::path::Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    let Ok(descriptor) = PathFd::new(path) else { return Ok(ruleset) };
    // Rights that only folders can have are an error on a file.
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(NEWEST) };
    ruleset.add_rule(PathBeneath::new(descriptor, access))
}

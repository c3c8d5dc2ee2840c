//! What a cell is, and how the parent tells the helper: as plain arguments, because an argument
//! carries any path byte for byte and is gone once the program runs.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// The helper's exit code when a layer that must be there could not be set up.
pub(in crate::terminal) const SETUP_FAILED: i32 = 213;

/// Everything that the helper takes away and leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::terminal) struct Cell {
    /// Landlock: what of the file system can be reached.
    pub(in crate::terminal) landlock: Layer,
    /// Seccomp: which system calls exist.
    pub(in crate::terminal) seccomp: Layer,
    /// Whether further programs and processes may start.
    pub(in crate::terminal) processes: Processes,
    /// Whether the system-call filter lets a file that is there be opened for writing at all. Git
    /// dies when it cannot open `/dev/null` for writing; nothing else needs it.
    pub(in crate::terminal) opens_for_writing: bool,
    /// What can be read and listed.
    pub(in crate::terminal) readable: Vec<PathBuf>,
    /// What can be read when one knows its name: libraries, locales.
    pub(in crate::terminal) libraries: Vec<PathBuf>,
    /// What can be executed: the program and its loader.
    pub(in crate::terminal) executable: Vec<PathBuf>,
    /// What it may use up.
    pub(in crate::terminal) limits: Limits,
    /// The process that must be there as long as the program is.
    pub(in crate::terminal) parent: u32,
}

/// How much a layer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::terminal) enum Layer {
    /// Nothing runs without it.
    Must,
    /// As much of it as the system offers.
    Try,
    /// Left out.
    Off,
}

/// Whether a jailed program may start another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::terminal) enum Processes {
    /// Only the one program: every command line runs so.
    One,
    /// Forks and programs of the system folders, still in the jail: for tests of the other layers
    /// alone.
    Many,
}

/// What a program may use up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::terminal) struct Limits {
    /// Seconds of processor time.
    pub(in crate::terminal) cpu_seconds: u64,
    /// Bytes of address space.
    pub(in crate::terminal) memory: u64,
    /// Open files.
    pub(in crate::terminal) descriptors: u64,
}

/// What the helper does in its cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::terminal) enum Job {
    /// Becomes the program; the arguments begin with its name.
    Run {
        /// The absolute path.
        program: PathBuf,
        /// Its arguments, the name first.
        arguments: Vec<OsString>,
    },
    /// Tries what must fail, and prints what failed.
    Probe,
}

impl Cell {
    /// Returns the arguments that describe the cell and the job, without the helper's name.
    pub(in crate::terminal) fn to_arguments(&self, job: &Job) -> Vec<OsString> {
        let mut words = vec![
            pair("landlock", self.landlock.word()),
            pair("seccomp", self.seccomp.word()),
            pair("processes", self.processes.word()),
            pair("opens-for-writing", if self.opens_for_writing { "yes" } else { "no" }),
            pair("cpu", self.limits.cpu_seconds.to_string()),
            pair("memory", self.limits.memory.to_string()),
            pair("descriptors", self.limits.descriptors.to_string()),
            pair("parent", self.parent.to_string()),
        ];
        words.extend(self.readable.iter().map(|path| pair("read", path)));
        words.extend(self.libraries.iter().map(|path| pair("library", path)));
        words.extend(self.executable.iter().map(|path| pair("execute", path)));
        words.push(OsString::from("--"));
        if let Job::Run { program, arguments } = job {
            words.push(program.clone().into_os_string());
            words.extend(arguments.iter().cloned());
        }
        words
    }

    /// Reads what [`Self::to_arguments`] wrote; anything else is refused with a sentence.
    pub(in crate::terminal) fn from_arguments(words: &[OsString]) -> Result<(Self, Job), String> {
        let mut cell = Self {
            landlock: Layer::Must,
            seccomp: Layer::Must,
            processes: Processes::One,
            opens_for_writing: false,
            readable: Vec::new(),
            libraries: Vec::new(),
            executable: Vec::new(),
            limits: Limits { cpu_seconds: 0, memory: 0, descriptors: 0 },
            parent: 0,
        };
        let mut rest = words.iter();
        for word in rest.by_ref() {
            if word == "--" {
                let program = rest.next().map(PathBuf::from);
                let arguments = rest.cloned().collect();
                let job = program.map_or(Job::Probe, |program| Job::Run { program, arguments });
                return Ok((cell, job));
            }
            cell.take(word)?;
        }
        Err("the jail's description does not end".to_owned())
    }

    fn take(&mut self, word: &OsStr) -> Result<(), String> {
        let unknown = || format!("the jail does not know `{}`", word.display());
        let bytes = word.as_bytes();
        let at = bytes.iter().position(|byte| *byte == b'=').ok_or_else(unknown)?;
        let (key, value) = (&bytes[..at], &bytes[at + 1..]);
        let path = || PathBuf::from(OsString::from_vec(value.to_vec()));
        let text = std::str::from_utf8(value).unwrap_or_default();
        match key {
            b"landlock" => self.landlock = Layer::from_word(text).ok_or_else(unknown)?,
            b"seccomp" => self.seccomp = Layer::from_word(text).ok_or_else(unknown)?,
            b"processes" => self.processes = Processes::from_word(text).ok_or_else(unknown)?,
            b"opens-for-writing" => self.opens_for_writing = text == "yes",
            b"cpu" => self.limits.cpu_seconds = text.parse().map_err(|_| unknown())?,
            b"memory" => self.limits.memory = text.parse().map_err(|_| unknown())?,
            b"descriptors" => self.limits.descriptors = text.parse().map_err(|_| unknown())?,
            b"parent" => self.parent = text.parse().map_err(|_| unknown())?,
            b"read" => self.readable.push(path()),
            b"library" => self.libraries.push(path()),
            b"execute" => self.executable.push(path()),
            _ => return Err(unknown()),
        }
        Ok(())
    }
}

impl Layer {
    fn word(self) -> &'static str {
        match self {
            Self::Must => "must",
            Self::Try => "try",
            Self::Off => "off",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        [Self::Must, Self::Try, Self::Off].into_iter().find(|layer| layer.word() == word)
    }
}

impl Processes {
    fn word(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::Many => "many",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        [Self::One, Self::Many].into_iter().find(|processes| processes.word() == word)
    }
}

fn pair(key: &str, value: impl AsRef<OsStr>) -> OsString {
    let mut word = OsString::from(key);
    word.push("=");
    word.push(value);
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell() -> Cell {
        Cell {
            landlock: Layer::Try,
            seccomp: Layer::Off,
            processes: Processes::One,
            opens_for_writing: true,
            readable: vec![PathBuf::from("/a=b"), PathBuf::from(OsString::from_vec(vec![47, 255]))],
            libraries: vec![PathBuf::from("/lib")],
            executable: vec![PathBuf::from("/bin/ls")],
            limits: Limits { cpu_seconds: 30, memory: 1 << 32, descriptors: 512 },
            parent: 7,
        }
    }

    #[test]
    fn a_cell_arrives_as_it_was_sent_whatever_its_paths_hold() {
        let job = Job::Run {
            program: PathBuf::from("/bin/ls"),
            arguments: vec![OsString::from("ls"), OsString::from("--"), OsString::from("read=/")],
        };
        assert_eq!(Cell::from_arguments(&cell().to_arguments(&job)), Ok((cell(), job)));
        let probe = cell().to_arguments(&Job::Probe);
        assert_eq!(Cell::from_arguments(&probe), Ok((cell(), Job::Probe)));
    }

    #[test]
    fn a_description_that_is_not_ours_is_refused() {
        for words in [&["root=/", "--"][..], &["landlock=maybe", "--"], &["nonsense"], &[]] {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            assert!(Cell::from_arguments(&words).is_err(), "{words:?}");
        }
    }
}

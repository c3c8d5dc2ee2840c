//! The terminal as a model has it: lines that only read run in a jail, anything else is refused
//! with the form that works, and the current folder stays from line to line.
//!
//! `cargo run --example terminal_tool`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use groundskeeper::support::atomic_file;
use groundskeeper::support::paths::Workspace;
use groundskeeper::terminal::{self, Options, Terminal};
use groundskeeper::tools::TerminalTool;

fn main() -> Result<(), Box<dyn Error>> {
    // Each command starts as this program, which jails itself and becomes the command. That must
    // come before anything else, threads of a runtime included.
    if terminal::jail_helper_requested() {
        terminal::run_jail_helper();
    }
    tokio::runtime::Runtime::new()?.block_on(look())
}

async fn look() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let files = [
        ("src/app.py", "import os\n\n# TODO: close the connection\ndef run():\n    pass\n"),
        ("src/models.py", "class Order:\n    total = 0  # TODO: use Decimal\n"),
        ("data/sales.csv", "date,city\n2025-01-02,Lyon\n2025-01-03,Oslo\n2025-01-04,Lyon\n"),
    ];
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/")))?;
        atomic_file::replace(&path, text.as_bytes())?;
    }

    let terminal = Terminal::open(Workspace::open(folder.path())?, Options::of_this_program())?;
    let tool = TerminalTool::new(Arc::new(terminal));
    for line in [
        "find . -name '*.py' | sort",
        "grep -rn TODO --include='*.py' . | wc -l",
        "tail -n +2 data/sales.csv | cut -d, -f2 | sort | uniq -c",
        "cd src && ls",
        "head -n 1 app.py",
        "sed -i 's/TODO/DONE/' app.py",
        "cat ../../outside.txt",
    ] {
        println!("$ {line}\n{}\n", tool.run_line(line).await?.trim_end());
    }
    Ok(())
}

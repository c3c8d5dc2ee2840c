use std::os::unix::fs::symlink;

use super::*;

/// A workspace with files, folders and links, and a secret beside it.
struct Fixture {
    folder: tempfile::TempDir,
    workspace: Workspace,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("shop");
        for path in ["shop/src/core", "shop-evil", "outside", "outputs"] {
            std::fs::create_dir_all(folder.path().join(path)).unwrap();
        }
        for path in ["shop/README.md", "shop/src/main.rs", "shop-evil/x", "outside/secret"] {
            touch(&folder.path().join(path));
        }
        let links = [
            ("../outside/secret", "out"),
            ("../outside", "outdir"),
            ("/etc", "etc"),
            ("src/core", "in"),
            ("out", "twice"),
            ("loop", "loop"),
            ("b", "a"),
            ("a", "b"),
            ("nosuch", "dangling"),
            ("../nosuch", "dangling_out"),
            ("/dev/null", "null"),
            ("../../shop/README.md", "src/round"),
        ];
        for (target, name) in links {
            symlink(target, root.join(name)).unwrap();
        }
        let workspace = Workspace::open(&root).unwrap();
        Self { folder, workspace }
    }

    fn from(&self, path: &str) -> WorkspacePath {
        self.workspace.folder(&self.workspace.top(), Path::new(path)).unwrap().unwrap()
    }

    /// Resolves a path and returns it relative to the root, or what is wrong with it.
    #[track_caller]
    fn check(&self, from: &str, path: &str, expected: Result<&str, PathProblem>) {
        let resolved = self.workspace.resolve(&self.from(from), Path::new(path));
        let relative = resolved.map(|resolved| {
            resolved.strip_prefix(self.workspace.root()).unwrap().to_str().unwrap().to_owned()
        });
        assert_eq!(relative, expected.map(str::to_owned), "{path:?} from {from:?}");
    }
}

fn touch(path: &Path) {
    let mut file = std::fs::OpenOptions::new();
    drop(file.write(true).create(true).truncate(true).open(path).unwrap());
}

#[test]
fn a_path_is_seen_from_the_current_folder() {
    let fixture = Fixture::new();
    fixture.check("", ".", Ok(""));
    fixture.check("", "", Ok(""));
    fixture.check("", "src//./main.rs", Ok("src/main.rs"));
    fixture.check("src", "main.rs", Ok("src/main.rs"));
    fixture.check("src/core", "../main.rs", Ok("src/main.rs"));
    fixture.check("src", "..", Ok(""));
    fixture.check("", "nosuch/deep/file", Ok("nosuch/deep/file"));
    fixture.check("", "中文 文件", Ok("中文 文件"));
}

#[test]
fn an_absolute_path_may_lead_back_inside() {
    let fixture = Fixture::new();
    let root = fixture.workspace.root().to_str().unwrap().to_owned();
    fixture.check("src", &format!("{root}/README.md"), Ok("README.md"));
    fixture.check("src", &format!("{root}/../shop/README.md"), Ok("README.md"));
    fixture.check("", &format!("{root}-evil/x"), Err(PathProblem::Outside));
}

#[test]
fn dots_cannot_leave_the_workspace() {
    let fixture = Fixture::new();
    fixture.check("", "..", Err(PathProblem::Outside));
    fixture.check("src", "../../outside/secret", Err(PathProblem::Outside));
    fixture.check("", "src/core/../../../outside/secret", Err(PathProblem::Outside));
    fixture.check("", "nosuch/../../outside/secret", Err(PathProblem::Outside));
    fixture.check("", "../shop-evil/x", Err(PathProblem::Outside));
    fixture.check("", "/", Err(PathProblem::Outside));
    fixture.check("", "/etc/passwd", Err(PathProblem::Outside));
}

#[test]
fn links_are_followed_as_the_kernel_does() {
    let fixture = Fixture::new();
    fixture.check("", "in", Ok("src/core"));
    // `..` leaves the folder that the link leads to, not the one that the link is in.
    fixture.check("", "in/../main.rs", Ok("src/main.rs"));
    fixture.check("", "src/round", Ok("README.md"));
    fixture.check("", "dangling", Ok("nosuch"));
    fixture.check("", "out", Err(PathProblem::LinkOutside));
    fixture.check("", "twice", Err(PathProblem::LinkOutside));
    fixture.check("", "outdir/secret", Err(PathProblem::LinkOutside));
    fixture.check("", "outdir/nosuch", Err(PathProblem::LinkOutside));
    fixture.check("", "outdir/../outside/secret", Err(PathProblem::LinkOutside));
    fixture.check("", "etc/passwd", Err(PathProblem::LinkOutside));
    fixture.check("", "dangling_out", Err(PathProblem::LinkOutside));
    fixture.check("", "outdir/../shop/README.md", Ok("README.md"));
}

#[test]
fn links_in_circles_and_impossible_paths_are_refused() {
    let fixture = Fixture::new();
    fixture.check("", "loop", Err(PathProblem::Circle));
    fixture.check("", "a/x", Err(PathProblem::Circle));
    fixture.check("", "a\0b", Err(PathProblem::Malformed));
    fixture.check("", &"x/".repeat(5_000), Err(PathProblem::Malformed));
}

#[test]
fn the_trees_of_the_system_are_refused() {
    let fixture = Fixture::new();
    fixture.check("", "/proc/self/environ", Err(PathProblem::System));
    fixture.check("", "/proc/self/cwd/README.md", Err(PathProblem::System));
    fixture.check("", "/dev/zero", Err(PathProblem::System));
    fixture.check("", "/sys", Err(PathProblem::System));
    fixture.check("", "null", Err(PathProblem::System));
}

#[test]
fn only_files_and_folders_are_read() {
    let fixture = Fixture::new();
    let root = fixture.workspace.root();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, root.join("pipe"), mode).unwrap();
    let socket = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
    fixture.check("", "pipe", Err(PathProblem::Special("a pipe that waits for a writer")));
    fixture.check("src", "../socket", Err(PathProblem::Special("a socket")));
    drop(socket);
}

#[test]
fn a_folder_may_be_read_too_when_it_was_named_at_the_start() {
    let fixture = Fixture::new();
    let outputs = fixture.folder.path().join("outputs");
    let secret = fixture.folder.path().join("outside/secret");
    let top = fixture.workspace.top();
    let workspace = fixture.workspace.clone().with_readable(&outputs);
    assert!(workspace.resolve(&top, &outputs.join("1.txt")).is_ok());
    assert_eq!(workspace.resolve(&top, &secret), Err(PathProblem::Outside));
    for not_one in [Path::new("/"), &secret, &secret.join("in a file")] {
        assert!(fixture.workspace.clone().with_readable(not_one).readable().is_empty());
    }
}

#[test]
fn a_folder_that_does_not_exist_yet_may_be_read_once_it_does() {
    let fixture = Fixture::new();
    let path = |name: &str| fixture.folder.path().join(name);
    let (top, later) = (fixture.workspace.top(), path("later/sessions"));
    let workspace = fixture.workspace.clone().with_readable(&later);
    assert!(workspace.resolve(&top, &later.join("1.txt")).is_ok());
    assert_eq!(workspace.resolve(&top, &path("later/1.txt")), Err(PathProblem::Outside));
    // It was a promise of a folder there, not of where a link may lead.
    std::fs::create_dir(path("later")).unwrap();
    symlink(path("outside"), &later).unwrap();
    assert_eq!(workspace.resolve(&top, &later.join("secret")), Err(PathProblem::LinkOutside));
    symlink(path("nosuch"), path("dangling")).unwrap();
    for not_one in [path("dangling/in it"), path("nosuch/../outside")] {
        let refused = fixture.workspace.clone().with_readable(&not_one);
        assert!(refused.readable().is_empty(), "{}", not_one.display());
    }
}

#[test]
fn a_folder_to_go_to_must_be_one() {
    let fixture = Fixture::new();
    let top = fixture.workspace.top();
    let folder = |path: &str| fixture.workspace.folder(&top, Path::new(path));
    assert_eq!(folder("in").unwrap().unwrap().relative(), Path::new("src/core"));
    assert_eq!(folder("README.md"), Ok(None));
    assert_eq!(folder("nosuch"), Ok(None));
    assert_eq!(folder(".."), Err(PathProblem::Outside));
    assert_eq!(folder("outdir"), Err(PathProblem::LinkOutside));
}

#[test]
fn a_workspace_is_an_existing_folder() {
    let fixture = Fixture::new();
    let open = |path: &str| Workspace::open(&fixture.folder.path().join(path));
    assert!(matches!(open("nosuch"), Err(WorkspaceError::Missing(_))));
    assert!(matches!(open("shop/README.md"), Err(WorkspaceError::NotAFolder(_))));
    assert!(matches!(open("shop/README.md/x"), Err(WorkspaceError::NotAFolder(_))));
    // A link to a folder is that folder.
    assert_eq!(open("shop/in").unwrap().root(), fixture.workspace.root().join("src/core"));
}

fn put(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = std::fs::OpenOptions::new();
    let mut file = file.write(true).create(true).truncate(true).open(path).unwrap();
    std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
}

#[test]
fn a_submodule_knows_where_its_repository_is() {
    let folder = tempfile::tempdir().unwrap();
    let root = Workspace::open(folder.path()).unwrap();
    let path = |name: &str| root.root().join(name);
    let opened = |folder: &str| Workspace::open(&path(folder)).unwrap().git_elsewhere().to_vec();
    let inner = "app/.git/modules/vendor/lib";
    put(&path("app/vendor/lib/.git"), "gitdir: ../../.git/modules/vendor/lib\n");
    put(
        &path("app/.git/modules/vendor/lib/config"),
        "[core]\n\tbare = false\n\tworktree = ../../../../vendor/lib\n[remote \"x\"]\n",
    );
    assert_eq!(opened("app/vendor/lib"), [path(inner)]);
    assert_eq!(Workspace::open(&path("app/vendor/lib")).unwrap().main_checkout(), None);

    // Whoever only points there is not believed, and no other repository is lent that way.
    put(&path("evil/.git"), &format!("gitdir: {}\n", path(inner).display()));
    assert!(opened("evil").is_empty());
    put(&path("other/.git/config"), &format!("[core]\nworktree = {}\n", path("evil").display()));
    put(&path("evil/.git"), &format!("gitdir: {}\n", path("other/.git").display()));
    assert!(opened("evil").is_empty(), "it is no submodule");
    put(
        &path("app/.git/modules/vendor/lib/config"),
        "[remote \"x\"]\nworktree = ../../../../vendor/lib\n",
    );
    assert!(opened("app/vendor/lib").is_empty());
}

#[test]
fn a_linked_worktree_knows_where_its_repository_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(path("repository/.git/worktrees/tree")).unwrap();
    std::fs::create_dir_all(path("tree")).unwrap();
    let write = |name: &str, text: &str| {
        let mut file = std::fs::OpenOptions::new();
        let mut file = file.write(true).create(true).truncate(true).open(path(name)).unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
    };
    let inner = path("repository/.git/worktrees/tree");
    write("tree/.git", &format!("gitdir: {}\n", inner.display()));
    write("repository/.git/worktrees/tree/commondir", "../..\n");
    write("repository/.git/worktrees/tree/gitdir", &format!("{}/.git\n", path("tree").display()));
    let workspace = Workspace::open(&path("tree")).unwrap();
    assert_eq!(workspace.git_elsewhere(), [inner, path("repository/.git")]);

    // A repository that does not know the workspace is not lent by naming it.
    write("repository/.git/worktrees/tree/gitdir", &format!("{}/.git\n", path("other").display()));
    assert!(Workspace::open(&path("tree")).unwrap().git_elsewhere().is_empty());
}

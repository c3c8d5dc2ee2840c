#!/usr/bin/env bash
# Runs the program beside the Python package hello-agents 0.2.8: what one writes the other must
# read, in both directions, with the right id, title, type, tags, created_at and updated_at.
#
#   PACKAGE_PYTHON=VENV/bin/python tests/real/python_package.sh [PROGRAM]
#
# PACKAGE_PYTHON is a Python that has the package (`pip install hello-agents==0.2.8`); PROGRAM is
# target/debug/groundskeeper unless named. Titles that YAML must quote are read with their quotes
# by the package, which takes the line as it stands: exactly those may differ, and are counted.
set -euo pipefail
program=$(realpath "${1:-$(dirname "$0")/../../target/debug/groundskeeper}")
python=${PACKAGE_PYTHON:?a Python that has hello-agents 0.2.8}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/home"
cat >"$work/compare.py" <<'PYTHON'
import json, os, pathlib, shutil, subprocess, sys

program, work = sys.argv[1], pathlib.Path(sys.argv[2])
environment = {"PATH": os.environ["PATH"], "HOME": str(work / "home")}
SIX = ["id", "title", "type", "tags", "created_at", "updated_at"]
failures = []

def ours(state, *words):
    argv = [program, "--state-dir", str(state), "-C", str(work), "--json", "notes", *words]
    done = subprocess.run(argv, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(f"{words}: {done.stderr}")
    return json.loads(done.stdout)

def check(what, found, expected):
    if found != expected:
        failures.append(f"{what}: {found!r} is not {expected!r}")

sys.stdout, real = open(os.devnull, "w"), sys.stdout
from hello_agents.tools import NoteTool
sys.stdout = real

PLAIN = [
    ("项目进展 - 第一阶段", "task_state", ["refactoring", "phase1", "后端"]),
    ("The pool is exhausted", "blocker", ["db, pool", "a \"quoted\" tag", "c:\\path", "😀", "#12"]),
    ("fix(parser) — don't panic, ever", "conclusion", []),
    ("src/db.rs line 40", "action", ["x"]),
    ("100% of it", "reference", ["true", "12", "null", "[x]", "- y"]),
]
QUOTED = [("fix: [WIP] 解析器 #12", "general", ["重构"]), ("[WIP] x", "general", []), ("true", "general", [])]

# Ours, read by the package.
state = work / "ours"
for title, kind, tags in PLAIN + QUOTED:
    words = ["create", "--title", title, "--type", kind, "--content", f"第一行 {title}\n\n- b: c\n"]
    ours(state, *words, *(f"--tag={tag}" for tag in tags))
first = ours(state, "search", PLAIN[0][0])["hits"][0]["id"]
ours(state, "update", first, "--status", "doing", "--content", "第一行 changed")
ours(state, "update", first, "--tag", "后端", "--tag", "new one")
folder = work / "read_by_package"
folder.mkdir()
for path in (state / "notes").glob("*.md"):
    shutil.copy(path, folder)
tool = NoteTool(workspace=str(folder))
listed = ours(state, "list")["notes"]
check("how many", len(listed), len(PLAIN + QUOTED))
quoted = 0
for entry in listed:
    note = ours(state, "read", entry["id"])
    read = tool._markdown_to_note((folder / entry["file"]).read_text(encoding="utf-8"))
    for key in SIX:
        if key == "title" and read[key] != note[key] and read[key][0] in "'\"" and note[key] in [row[0] for row in QUOTED]:
            quoted += 1
            continue
        check(f"the package's {key} of {entry['file']}", read[key], note[key])
    check(f"the package's content of {entry['file']}", read["content"], note["content"].strip())
    shown = tool.run({"action": "read", "note_id": entry["id"]})
    if entry["id"] not in shown:
        failures.append(f"the package does not read {entry['id']}: {shown}")
check("titles that the package shows with their quotes", quoted, len(QUOTED))

# The package's, read and taken over by us.
made = work / "made" / "notes"
package = NoteTool(workspace=str(made))
for title, kind, tags in PLAIN + QUOTED:
    package.run({"action": "create", "title": title, "content": f"正文 {title}\n\n## b\nc: d", "note_type": kind, "tags": tags})
entries = json.loads((made / "notes_index.json").read_text(encoding="utf-8"))["notes"]
package.run({"action": "update", "note_id": entries[1]["id"], "content": "changed"})
texts = {entry["id"]: (made / f"{entry['id']}.md").read_text(encoding="utf-8") for entry in entries}
taken = work / "taken"
report = ours(taken, "import", str(made))
check("what could not be taken over", report.get("problems"), [])
for state, what in [(work / "made", "in its place"), (taken, "taken over")]:
    check(f"how many {what}", ours(state, "list")["total"], len(PLAIN + QUOTED))
    for note_id, text in texts.items():
        read, note = ours(state, "read", note_id), package._markdown_to_note(text)
        for key in SIX:
            check(f"our {key} of {note_id} {what}", read[key], note.get(key, []))
        if state == taken:
            check(f"our content of {note_id}", read["content"].strip(), note["content"])
for failure in failures:
    print(failure)
count = len(PLAIN + QUOTED)
print(f"{count} notes of ours and {count} of the package compared; {quoted} titles with quotes there; {len(failures)} failures")
sys.exit(1 if failures else 0)
PYTHON
HOME="$work/home" "$python" "$work/compare.py" "$program" "$work"

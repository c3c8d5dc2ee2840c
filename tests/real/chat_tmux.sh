#!/usr/bin/env bash
# Chats in a real terminal: tmux draws it, types into it and tells what is on it. Each check waits
# for what must appear, so that nothing depends on how fast the machine is; what does not appear
# within the deadline has failed, and the screen is shown.
#
#   tests/real/chat_tmux.sh [PROGRAM]      default: target/debug/groundskeeper
set -euo pipefail
program=$(realpath "${1:-$(dirname "$0")/../../target/debug/groundskeeper}")
work=$(mktemp -d)
socket=$work/tmux
mux() { tmux -S "$socket" -f /dev/null "$@"; }
trap 'mux kill-server 2>/dev/null || true; rm -rf "$work"' EXIT
deadline=${DEADLINE:-60}

mkdir -p "$work/home" "$work/shop/app"
printf '# Shop\n\nOrders are processed in app/order.py.\n' >"$work/shop/README.md"
printf 'def process(order):\n    return order\n' >"$work/shop/app/order.py"

mux new-session -d -s keep 'exec sleep 100000' # the server outlives its chats
failed=0
# Lines that were wrapped count as one.
screen() { mux capture-pane -p -J -t chat 2>/dev/null | sed 's/ *$//' || true; }
ok() { echo "ok      $1"; }
bad() {
  failed=1
  echo "FAILED  $1"
  screen | sed 's/^/        |/'
}

# start SIZE ARGUMENTS…: begins a chat; VARIABLES go before it, TO is where its output goes
start() {
  local size=$1
  shift
  mux kill-session -t chat 2>/dev/null || true
  rm -f "$work/code"
  local line
  line=$(printf '%q ' "$@")
  mux new-session -d -s chat -x "${size%x*}" -y "${size#*x}" \
    "cd $work/shop; sh -c 'echo \$\$ >$work/pid; exec \"\$@\"' - env -i PATH=$PATH HOME=$work/home LANG=C.UTF-8 TERM=${TERM_IS:-tmux-256color} ${VARIABLES:-} \
     $program chat $line ${TO:-}; echo \$? >$work/code; echo ENDED; exec sleep 1000"
}
script() { # script STEPS: the model's script from here on
  printf 'steps:\n%s\n' "$1" >"$work/script.yaml"
}
model() { echo --model "script:$work/script.yaml"; }
type_in() { mux send-keys -t chat -l -- "$1"; }
key() { mux send-keys -t chat "$@"; }

# sees TEXT NAME: waits until the screen holds the text
sees() {
  local end=$((SECONDS + deadline))
  until screen | grep -qF -- "$1"; do
    [ $SECONDS -lt $end ] || { bad "$2: «$1» does not appear"; return 0; }
    sleep 0.05
  done
  ok "$2"
}
misses() { # misses TEXT NAME: the screen does not hold it now
  if screen | grep -qF -- "$1"; then bad "$2: «$1» is there"; else ok "$2"; fi
}
# ends CODE NAME: waits until the chat has ended with the code
ends() {
  local end=$((SECONDS + deadline))
  until [ -s "$work/code" ]; do
    [ $SECONDS -lt $end ] || { bad "$2: it does not end"; return 0; }
    sleep 0.05
  done
  if [ "$(cat "$work/code")" = "$1" ]; then ok "$2"; else bad "$2: exit code $(cat "$work/code"), expected $1"; fi
}
ready() { # ready: waits for an empty prompt at the end
  local end=$((SECONDS + deadline))
  until [ "$(screen | grep -v '^$' | tail -n 1)" = ">" ]; do
    [ $SECONDS -lt $end ] || { bad "no prompt"; return 0; }
    sleep 0.05
  done
}
journal() { cat "$work"/shop/.groundskeeper/sessions/*/journal.jsonl; }
fresh() { rm -rf "$work/shop/.groundskeeper"; }

## Chinese: editing counts characters, not bytes or cells
script '  - sees: ["订单在这里"]
    says: "**好的**。"'
start 60x20 $(model)
ready
type_in '订单在哪里'
sees '> 订单在哪里' 'Chinese is shown as it is typed'
key BSpace BSpace
sees '> 订单在' 'backspace takes whole characters'
type_in '里'
key Left
type_in '这'
sees '> 订单在这里' 'the arrows move by characters'
key Enter
sees '好的。' 'the answer is rendered'
misses '**' 'no marks of Markdown are left'
ready
key C-d
ends 0 'Ctrl-D leaves'
sees 'chat --session session_' 'leaving tells how to go on'

## A paste of several lines is one message; slash commands inside are text
fresh
script '  - sees: ["first line\n/quit\n!ls\nlast line\\"]
    says: One message.
  - says: Two turns would be wrong.'
start 60x20 $(model)
ready
printf 'first line\n/quit\n!ls\nlast line\\ x' | mux load-buffer -
mux paste-buffer -p -t chat
sees 'last line' 'a paste is shown and not sent'
key BSpace BSpace
key M-Enter
type_in 'added'
key Enter
sees 'One message.' 'a paste is one message'
ready
key C-d
ends 1 'a script with a step left over is told'
if [ "$(journal | grep -c '"turn.started"')" = 1 ]; then ok 'there was one turn'; else bad 'not one turn'; fi
if journal | grep '"turn.started"' | grep -qF 'last line\\\nadded'; then ok 'Alt-Enter makes a line, a pasted backslash stays'; else bad 'the message is not what was typed'; fi

## A backslash and a block make new lines
fresh
script '  - sees: ["one\ntwo"]
    says: A.
  - sees: ["```\ncode\n```"]
    says: B.'
start 60x20 $(model)
ready
type_in 'one\'
key Enter
type_in 'two'
key Enter
sees 'A.' 'a backslash before Enter makes a line'
ready
for line in '```' 'code' '```'; do type_in "$line"; key Enter; done
sees 'B.' 'an open block goes on'
ready
key C-d
ends 0 'Ctrl-D leaves'

## Ctrl-C while the answer comes
fresh
script '  - says: "Half of the answer "
    fails: hangs
  - sees: ["Half of the answer", "go on"]
    says: The rest.'
start 60x20 $(model)
ready
type_in 'a question'
key Enter
sees 'Half of the answer' 'text is shown as it comes'
key C-c
sees 'interrupted; what came until then is kept' 'Ctrl-C stops the turn'
ready
if journal | grep '"turn.finished"' | grep -q '"cancelled","answer":"Half of the answer '; then ok 'the partial text is saved'; else bad 'the partial text is not saved'; fi
type_in 'go on'
key Enter
sees 'The rest.' 'the next turn knows what was said'
ready
## Ctrl-C at the prompt
type_in 'not sent'
sees '> not sent' 'a line is typed'
key C-c
ready
ok 'Ctrl-C leaves a line that was typed'
key C-c
sees 'Ctrl-C once more leaves' 'an empty prompt tells how to leave'
ready
key C-c
ends 130 'twice at an empty prompt leaves'

## Twice Ctrl-C while the answer comes
fresh
script '  - says: "Half of the answer "
    fails: hangs'
start 60x20 $(model)
ready
type_in 'a question'
key Enter
sees 'Half of the answer' 'text is shown as it comes'
# Two at the very same time are one signal.
end=$((SECONDS + deadline))
until [ -s "$work/code" ] || [ $SECONDS -ge $end ]; do key C-c; sleep 0.1; done
ends 130 'twice Ctrl-C leaves'
sees 'chat --session session_' 'and tells how to go on'
if journal | tail -n 1 | grep -q '"turn.finished"\|"model.asked"'; then ok 'the journal is whole'; else bad 'the journal is not whole'; fi

## What is typed during a turn waits for the prompt; a command that runs is stopped
fresh
script '  - sees: ["typed ahead"]
    says: Seen.'
start 60x20 $(model) --set terminal.timeout_seconds=300
ready
type_in "!awk 'BEGIN { while (1) endless = 1 }'"
key Enter
end=$((SECONDS + deadline))
until grep -sqa endless /proc/[0-9]*/cmdline; do
  [ $SECONDS -lt $end ] || { bad 'no command runs'; break; }
  sleep 0.05
done
key C-c
ready
type_in 'typed ahead'
key Enter
sees 'Seen.' 'the chat goes on after a command was stopped'
ready
key C-d
ends 0 'Ctrl-D leaves'

## A window that changes its size while a line is typed
fresh
script '  - sees: ["a long line that is typed while the window changes, 中文也一样, to its end"]
    says: Whole.'
start 60x20 $(model)
ready
type_in 'a long line that is typed while the window changes, '
sees 'changes,' 'a long line is shown'
mux resize-window -t chat -x 25 -y 15
type_in '中文也一样'
sees '中文' 'the line goes on in the narrow window'
mux resize-window -t chat -x 70 -y 20
type_in ', to its end'
key Enter
sees 'Whole.' 'all of the line is sent'
ready
key C-d
ends 0 'Ctrl-D leaves'

## History over two runs, notes, undo, board, completion, mistakes
fresh
start 70x24 --model offline
ready
type_in '!ls app'
key Enter
sees 'order.py' '!ls shows a folder'
ready
key C-d
ends 0 'Ctrl-D leaves'
(cd "$work/shop" && env -i PATH="$PATH" HOME="$work/home" "$program" notes create --title 'Old title' --type blocker >/dev/null)
id=$(cd "$work/shop" && env -i PATH="$PATH" HOME="$work/home" "$program" notes list | grep -o 'note_[0-9_]*' | head -n 1)
(cd "$work/shop" && env -i PATH="$PATH" HOME="$work/home" "$program" notes update "$id" --title 'New title' >/dev/null)
start 70x24 --model offline
ready
key Up
sees '> !ls app' 'what was typed in another run comes back'
key C-u
type_in '/no'
key Tab
sees '> /notes' 'Tab completes a command'
key Enter
sees 'New title' '/notes lists the notes'
ready
type_in '/undo'
key Enter
sees 'took the update of' '/undo takes a change back'
ready
type_in '/board'
key Enter
sees "$id Old title" '/board shows what is open'
ready
type_in "see note_"
key Tab
sees "see $id" 'Tab completes an id'
key C-u
type_in '/moed'
key Enter
sees 'did you mean `/mode`?' 'a slip is told'
ready
type_in '/quit'
key Enter
ends 0 '/quit leaves'
if [ "$(stat -c %a "$work/home/.local/state/groundskeeper/chat_history.jsonl")" = 600 ]; then ok 'the history is private'; else bad 'the history is not private'; fi
if [ -e "$work/shop/chat_history.jsonl" ] || find "$work/shop" -name 'chat_history*' | grep -q .; then bad 'the history is in the repository'; else ok 'the history is not in the repository'; fi

## An endpoint that is down does not end the chat
fresh
start 100x24 --model nobody --base-url http://127.0.0.1:9/v1 --set endpoint.tries=1
ready
type_in 'hello?'
key Enter
sees 'error: ' 'an endpoint that is down is told'
ready
key C-d
ends 0 'the chat went on'

## Colour
colours() { mux capture-pane -p -e -t chat | grep -q $'\x1b\[[0-9;]*[1-9]'; }
script '  - says: "# A heading"'
for choice in colour NO_COLOR=1 TERM_IS=dumb never; do
  fresh
  VARIABLES='' TERM_IS='' flags=()
  case $choice in
  NO_COLOR=1) VARIABLES=NO_COLOR=1 ;;
  TERM_IS=dumb) TERM_IS=dumb ;;
  never) flags=(--color never) ;;
  esac
  VARIABLES=$VARIABLES TERM_IS=${TERM_IS:-tmux-256color} start 60x20 $(model) "${flags[@]}"
  ready
  type_in 'x'
  key Enter
  sees 'A heading' "an answer ($choice)"
  ready
  if [ "$choice" = colour ]; then
    if colours; then ok 'a heading has a style'; else bad 'a heading has no style'; fi
  elif colours; then bad "there is colour ($choice)"; else ok "there is no colour ($choice)"; fi
  key C-d
  ends 0 "Ctrl-D leaves ($choice)"
done
VARIABLES='' TERM_IS=''

## A pipe in the place of the terminal
fresh
script '  - says: "**The** answer."'
TO='> out.txt' start 60x20 $(model)
ready
type_in 'x'
key Enter
sees 'context:' 'so is the progress'
ready
key C-d
ends 0 'Ctrl-D leaves'
if [ "$(cat "$work/shop/out.txt")" = '**The** answer.' ]; then ok 'stdout has the answer alone, as it is'; else bad "stdout has: $(cat "$work/shop/out.txt")"; fi

## The terminal is as it was
fresh
script '  - says: x'
start 60x20 $(model)
ready
kill -TERM "$(cat "$work/pid")"
ends 143 'SIGTERM at the prompt ends it'
tty=$(mux display-message -p -t chat '#{pane_tty}')
if stty -a <"$tty" | grep -q ' -echo \| -icanon'; then bad 'the terminal does not echo'; else ok 'the terminal echoes again'; fi
exit $failed

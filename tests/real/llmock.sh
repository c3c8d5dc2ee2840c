#!/usr/bin/env bash
# Runs the program against llmock (PyPI), a mock server that breaks on demand and judges its
# client: whether it waits as long as it was told, gives up at the right time, and notices a cut
# stream. Every scenario must end as told here, and the verdict must be without a finding.
#
#   tests/real/llmock.sh [PROGRAM]      default: target/debug/groundskeeper
#
# llmock is installed into a virtual environment of its own, $LLMOCK_VENV or a temporary one.
set -euo pipefail
program=$(realpath "${1:-$(dirname "$0")/../../target/debug/groundskeeper}")
work=$(mktemp -d)
venv=${LLMOCK_VENV:-$work/venv}
if [ ! -x "$venv/bin/llmock" ]; then
  python3 -m venv "$venv"
  "$venv/bin/pip" -q install --disable-pip-version-check llmock==0.2.2
fi
port=$("$venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$venv/bin/llmock" serve --port "$port" --log-level warning --response-style hello \
  --stream-chunk-delay-ms 20 >"$work/llmock.log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null; rm -rf "$work"' EXIT
url=http://127.0.0.1:$port
for _ in $(seq 100); do curl -sf "$url/health" >/dev/null && break; sleep 0.1; done

mkdir -p "$work/home" "$work/shop/app"
printf '# Shop\n\nOrders are processed in app/order.py.\n' >"$work/shop/README.md"
printf 'def process(order):\n    # TODO: check the stock\n    return order\n' >"$work/shop/app/order.py"

failed=0
# scenario NAME EXIT-CODE BEHAVIOURS ARGUMENTS…
scenario() {
  local name=$1 expected=$2 behaviours=$3
  shift 3
  curl -sf -X POST "$url/_llmock/reset" >/dev/null
  [ -z "$behaviours" ] || curl -sf "$url/_llmock/scenario" -d "{\"behaviors\": [$behaviours]}" >/dev/null
  local code=0
  (cd "$work/shop" && env -i PATH="$PATH" HOME="$work/home" OPENAI_API_KEY=sk-mock OPENAI_BASE_URL="$url/v1" \
    OPENAI_MODEL=gpt-4o timeout 120 "$program" --set endpoint.idle_timeout=2 --set notes.auto_notes=off "$@") \
    >"$work/out" 2>"$work/err" || code=$?
  local verdict
  verdict=$(curl -sf "$url/_llmock/verdict")
  local findings
  findings=$(grep -o '"code":"[a-z_]*"' <<<"$verdict" | grep -v "\"${allowed:-none}\"" || true)
  if [ "$code" = "$expected" ] && [ -z "$findings" ]; then
    echo "ok      $name"
  else
    failed=1
    echo "FAILED  $name: exit code $code, expected $expected"
    curl -sf "$url/_llmock/verdict?format=text" | sed 's/^/        /'
    tail -5 "$work/err" | sed 's/^/        /'
  fi
}

look='{"type": "reply", "tool_calls": [{"name": "terminal", "arguments": {"command": "cat app/order.py"}}]}'
both='{"type": "reply", "tool_calls": [{"name": "terminal", "arguments": {"command": "ls"}}, {"name": "note", "arguments": {"action": "create", "title": "Stock", "content": "app/order.py:2 does not check the stock", "note_type": "blocker"}}]}'
says='{"type": "reply", "text": "The stock is not checked (app/order.py:2)."}'

scenario 'an answer' 0 "$says" ask 'what is missing?'
scenario 'a call, then an answer' 0 "$look, $says" explore
scenario 'two calls in one reply' 0 "$both, $says" analyze
scenario 'the calls that it makes up by itself' 0 '' ask 'what is here?'
scenario 'broken arguments' 0 "{\"type\": \"tool_fault\", \"kind\": \"malformed_arguments\"}, {\"type\": \"reply\", \"text\": \"Well.\", \"match\": {\"tools\": false}}, $says" ask 'x'
scenario 'an unknown tool' 0 "{\"type\": \"tool_fault\", \"kind\": \"unknown_tool\"}, $says" ask 'x'
scenario '429 with a wait' 0 "{\"type\": \"fail\", \"status\": 429, \"retry_after\": 2, \"times\": 2}, $says" ask 'x'
scenario '429 in the middle of a turn' 0 "$look, $says, {\"type\": \"fail\", \"status\": 429, \"retry_after\": 1, \"match\": {\"path\": \"/never\"}}" ask 'x'
scenario '500, 502, 503, 504, 529 one after the other' 0 "$(for s in 500 502 503 504 529; do printf '{"type": "fail", "status": %s}, ' $s; done) $says" ask 'x'
scenario '408 and 409' 0 "{\"type\": \"fail\", \"status\": 408}, {\"type\": \"fail\", \"status\": 409}, $says" ask 'x'
scenario '503 without an end' 4 '{"type": "fail", "status": 503, "times": null}' ask 'x'
# An hour is too long to wait on purpose, which the judge only warns about.
allowed=gave_up scenario '429 that asks to wait an hour' 5 '{"type": "fail", "status": 429, "retry_after": 3600, "times": 2}' --set endpoint.tries=2 ask 'x'
scenario '400' 4 '{"type": "fail", "status": 400}' ask 'x'
scenario '401' 3 '{"type": "fail", "status": 401}' ask 'x'
scenario '403' 3 '{"type": "fail", "status": 403}' ask 'x'
scenario '404' 4 '{"type": "fail", "status": 404}' ask 'x'
scenario '422' 4 '{"type": "fail", "status": 422}' ask 'x'
for chunks in 0 1 3; do
  for kind in disconnect truncate malformed; do
    scenario "$kind after $chunks chunks" 0 "{\"type\": \"stream_fault\", \"kind\": \"$kind\", \"after_chunks\": $chunks}, $says, $says" ask 'x'
  done
done
scenario 'a stream that is cut inside a call' 0 "{\"type\": \"stream_fault\", \"kind\": \"truncate\", \"after_chunks\": 2}, $look, $look, $says" ask 'x'
scenario 'a stall' 0 "{\"type\": \"stream_fault\", \"kind\": \"stall\", \"after_chunks\": 2, \"stall_seconds\": 20}, $says, $says" ask 'x'
scenario 'a slow first token' 0 "{\"type\": \"slow_first_token\", \"seconds\": 1}, $says" ask 'x'
scenario 'a slow answer' 0 "{\"type\": \"delay\", \"seconds\": 3}, $says" ask 'x'
exit $failed

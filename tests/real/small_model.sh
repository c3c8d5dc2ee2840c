#!/usr/bin/env bash
# Runs the program against a real, small model behind llama.cpp's own server: the answers may be
# silly, but every turn must end as a turn ends, and the server must refuse nothing.
#
#   tests/real/small_model.sh SERVE-SCRIPT [PROGRAM]
#
# SERVE-SCRIPT starts the server: with `start` it prints the port, with `stop` it ends it.
set -euo pipefail
serve=$(realpath "${1:?the script that starts the server}")
program=$(realpath "${2:-$(dirname "$0")/../../target/debug/groundskeeper}")
work=$(mktemp -d)
trap '"$serve" stop; rm -rf "$work"' EXIT
port=$("$serve" start)
url=http://127.0.0.1:$port/v1

mkdir -p "$work/home" "$work/shop/app"
printf '# Shop\n\nOrders are processed in app/order.py.\n' >"$work/shop/README.md"
printf 'def process(order):\n    # TODO: check the stock\n    return order\n' >"$work/shop/app/order.py"

failed=0
# turn NAME ARGUMENTS…: an answer (0) or a limit with its report (6)
turn() {
  local name=$1 code=0
  shift
  (cd "$work/shop" && env -i PATH="$PATH" HOME="$work/home" OPENAI_BASE_URL="$url" OPENAI_MODEL=smollm2-135m \
    timeout 900 "$program" --set endpoint.preset=llamacpp --set endpoint.max_output_tokens=300 \
    --set limits.steps=4 --set limits.seconds=600 "$@") >"$work/out" 2>"$work/err" || code=$?
  if [ "$code" = 0 ] || [ "$code" = 6 ]; then
    echo "ok      $name ($code): $(tr '\n' ' ' <"$work/out" | cut -c 1-90)"
  else
    failed=1
    echo "FAILED  $name: exit code $code"
    sed 's/^/        /' "$work/err"
  fi
}

turn explore explore
turn 'a question' ask 'Where are orders processed?'
turn 'a question in Chinese' ask '订单在哪里处理？'
turn analyze analyze app
turn plan plan
turn 'without a stream' --set endpoint.stream=false ask 'What is in the README?'
exit $failed

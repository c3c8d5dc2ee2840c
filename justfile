# A menu over .ci/run, which is the gate; `just` alone lists it.

default:
    @just --list

# Everything that CI runs.
gate:
    .ci/run

# The quick half, while working.
check:
    cargo fmt --check
    cargo clippy --all-targets -- -D warnings

# All tests, or those whose name holds a word.
test word="":
    cargo test {{word}}

# The documentation of the library, in a browser.
doc:
    cargo doc --no-deps --open

# One example, offline: just example three_day_workflow
example name:
    cargo run --example {{name}}

# What a newcomer sees first.
explore folder=".":
    cargo run --release -- -C {{folder}} explore

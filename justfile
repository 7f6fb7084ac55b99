# `just` lists the recipes. CI runs the same scripts.

_default:
    @just --list --unsorted

# What the compiler and clippy say of everything
check:
    cargo clippy --workspace --all-targets --locked -- -D warnings

# Format all Rust sources
format:
    cargo fmt --all
    rustfmt --edition 2024 crates/workloads/src/suite/*/*.rs

# All tests, or those that the arguments choose: `just test -p strata-ptx forms`
test *arguments="--workspace":
    cargo test --locked {{ arguments }}

# CI's first half: format, dependencies, lints, every room's own tests
fast:
    .ci/fast

# CI's second half, after the first
slow:
    .ci/slow

# All of CI
ci:
    .ci/run

# Run the command, optimised: `just run gemm --size small`
run *arguments:
    cargo run --release -- run {{ arguments }}

# Build what is handed out, optimised as a whole: target/dist/strata
dist:
    cargo build --profile dist --locked

# Build the book into target/book and follow its links
book:
    scripts/book

# The API's documentation, in target/doc
doc:
    cargo doc --workspace --no-deps --locked

# Host time of hot paths and whole runs
bench *arguments:
    cargo bench -p strata-gpu --features bench --bench time -- {{ arguments }}

# Host instructions of the same, by Valgrind; needs gungraun-runner
instructions:
    cargo bench -p strata-gpu --features bench --bench instructions

# Compare the pages of published and measured numbers with the results that come along
claims:
    scripts/claims.py --check
    scripts/all_five.py --check

# Look at the HTML pages with Chromium, wide and narrow, light and dark: `just look --shots FOLDER`
look *arguments:
    cargo build
    scripts/look-at-pages target/debug/strata {{ arguments }}

# Run the tutorials' commands and compare what they print with the pages: `just tutorials --write`
tutorials *arguments:
    cargo build -p strata -p strata-driver -p own-designs
    scripts/tutorials.py target/debug/strata {{ arguments }}

# Build the wheel of the Python package, from a profile: `just wheel dev`
wheel profile="dist":
    scripts/wheel {{ profile }}

# Test the wheel as its users get it, notebooks included
python:
    scripts/python-tests

# Look at the live page with Chromium while a sweep goes on: `just live-page --shots FOLDER`
live-page *arguments:
    cargo build
    scripts/live-page target/debug/strata {{ arguments }}

# Licences and sources of dependencies
deny:
    scripts/deny

# Dependencies that nothing uses, and sources that belong to no crate
unused:
    scripts/unused

# Known faults of dependencies; needs a network
audit:
    scripts/deny advisories

# Build and test a crate of every kind that `strata new` writes
new-crates:
    cargo build
    scripts/new-crates

# Package every crate, and build the packages
packages:
    scripts/packages

# Write what the build says into README.md and docs: `just documents README.md`, `just documents --check`
documents *pages:
    scripts/documents.py {{ pages }}

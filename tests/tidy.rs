//! What must be true of the whole source tree: the rules of ARCHITECTURE.md and CONTRIBUTING.md that a search of the
//! text can check. `cargo test -p tidy` runs them in seconds.
//!
//! Each rule is a plain search, so that a failure names a file and a line. A rule that needs an exception lists it,
//! with its reason.

/// The files are in `tests/tidy`, next to the manifest of this package.
mod tidy {
    mod architecture;
    mod code;
    mod imports;
    mod layers;
    mod moved;
    mod rule;
    mod scan;
    mod text;
    mod time;
    mod tree;
    mod versions;
}

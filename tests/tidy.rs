//! Rules for the whole source tree: those of ARCHITECTURE.md and CONTRIBUTING.md that a text search can check. `cargo
//! test -p tidy` runs them in seconds.
//!
//! Each rule is a plain search, so that a failure names a file and a line. A rule that needs an exception lists it,
//! with its reason.

/// The files are in `tests/tidy`, next to the manifest of this package.
mod tidy {
    mod architecture;
    mod code;
    mod diagnostics;
    mod imports;
    mod language;
    mod layers;
    mod rule;
    mod scan;
    mod text;
    mod time;
    mod tree;
    mod versions;
}

//! Compiles `proto/` with a compiler written in Rust, so that building needs no `protoc`.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto");
    let definitions = protox::compile(["proto/tfplugin6.proto", "proto/plugin.proto"], ["proto"])?;
    // Connections are made by hand: a Unix socket with a pinned certificate is nothing that generated code knows.
    tonic_prost_build::configure()
        .build_transport(false)
        .generate_default_stubs(true)
        .emit_rerun_if_changed(false)
        .compile_fds(definitions)?;
    Ok(())
}

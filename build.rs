//! Compiles `proto/` with protox, a compiler in Rust, so that the build does not require `protoc`. Links again if the
//! order of the functions has changed.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto");
    println!("cargo::rerun-if-changed=scripts/order.txt");
    let definitions = protox::compile(["proto/tfplugin6.proto", "proto/plugin.proto"], ["proto"])?;
    // The generated transport does not support a Unix socket with a pinned certificate.
    tonic_prost_build::configure()
        .build_transport(false)
        .generate_default_stubs(true)
        .emit_rerun_if_changed(false)
        .compile_fds(definitions)?;
    Ok(())
}

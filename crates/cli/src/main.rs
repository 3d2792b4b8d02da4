//! The binary `argiope`.
fn main() {}

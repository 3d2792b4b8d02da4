//! A made-up web, deterministic from a seed.

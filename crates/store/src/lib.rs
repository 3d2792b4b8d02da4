//! What we know about every URL.

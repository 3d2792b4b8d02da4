//! What is in these bytes.

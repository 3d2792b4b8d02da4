//! What the web answers.

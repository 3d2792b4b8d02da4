//! What exactly did we see.

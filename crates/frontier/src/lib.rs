//! What may be fetched, what next, when again.

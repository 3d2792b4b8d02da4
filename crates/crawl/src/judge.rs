//! Headers first: whether a body is worth taking.

use argiope_fetch::{Head, Take};
use argiope_frontier::Entry;
use argiope_model::{FetchOutcome, Job, OutcomeKind, Role};
use argiope_parse::{is_wanted, media_type};

/// Bodies of answers that are no document (redirects, errors) are kept up to this length.
const MAX_NOTE: u64 = 1 << 20;

/// Decides by status, type and length. The length limits themselves are the fetcher's.
pub(crate) fn judge(job: &Job, entry: &Entry, head: &Head) -> Take {
    let length = head.content_length().unwrap_or(0);
    if !(200..300).contains(&head.status) {
        return if length <= MAX_NOTE { Take::Body } else { Take::Nothing(note_only(head)) };
    }
    if entry.role == Role::Sitemap {
        return Take::Body;
    }
    // A header that names a type decides; without one the bytes will.
    let Some(declared) = head.content_type() else { return Take::Body };
    let essence = media_type(Some(&declared), &[], entry.url.extension().as_deref()).essence;
    if is_wanted(&essence, &job.wanted.types) {
        return Take::Body;
    }
    Take::Nothing(FetchOutcome::with_detail(OutcomeKind::UnwantedType, head.status, essence))
}

/// How an answer without a wanted document ended, by its status alone.
pub(crate) fn note_only(head: &Head) -> FetchOutcome {
    let kind = match head.status {
        300..400 => OutcomeKind::Redirect,
        400..500 => OutcomeKind::ClientError,
        _ => OutcomeKind::ServerError,
    };
    FetchOutcome::new(kind, head.status)
}

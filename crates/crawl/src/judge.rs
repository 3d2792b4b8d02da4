//! Headers first: whether a body is worth taking.

use crate::visit::Shared;
use argiope_fetch::{Head, Take};
use argiope_filter::Known;
use argiope_frontier::{Entry, SkipReason};
use argiope_model::{FetchOutcome, Job, OutcomeKind, Role};
use argiope_parse::{is_wanted, media_type, type_group};

/// Bodies of answers that are no document (redirects, errors) are kept up to this length.
const MAX_NOTE: u64 = 1 << 20;

/// With these words the outcome of an answer begins that the job's filter refused.
const BY_FILTER: &str = "by the filter: ";

/// Decides by status, type and length. The length limits themselves are the fetcher's.
pub(crate) fn judge(shared: &Shared, job: &Job, entry: &Entry, head: &Head) -> Take {
    let length = head.content_length().unwrap_or(0);
    if !(200..300).contains(&head.status) {
        return if length <= MAX_NOTE { Take::Body } else { Take::Nothing(note_only(head)) };
    }
    if entry.role == Role::Sitemap {
        return Take::Body;
    }
    // A header that names a type decides; without one the bytes will.
    let essence = head
        .content_type()
        .map(|declared| media_type(Some(&declared), &[], entry.url.extension().as_deref()).essence);
    if let Some(essence) = essence.as_deref().filter(|e| !is_wanted(e, &job.wanted.types)) {
        let unwanted = OutcomeKind::UnwantedType;
        return Take::Nothing(FetchOutcome::with_detail(unwanted, head.status, essence));
    }
    let known = Known {
        kind: essence.as_deref().map(|essence| (essence, type_group(essence))),
        size: head.content_length(),
        language: None,
    };
    match shared.filters.refuses_answer(job, &entry.url, &shared.suffixes, known) {
        Some(why) => Take::Nothing(refused_by_filter(head.status, &why)),
        None => Take::Body,
    }
}

/// How an answer ended that the job's filter refused.
pub(crate) fn refused_by_filter(status: u16, why: &str) -> FetchOutcome {
    let detail = format!("{BY_FILTER}{why}");
    FetchOutcome::with_detail(OutcomeKind::UnwantedType, status, detail)
}

/// Why an answer was not taken: for its type, or for what the job's filter says of it.
pub(crate) fn skip_of(outcome: &FetchOutcome) -> SkipReason {
    match outcome.detail.as_deref().is_some_and(|detail| detail.starts_with(BY_FILTER)) {
        true => SkipReason::Filter,
        false => SkipReason::Type,
    }
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

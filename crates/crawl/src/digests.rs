//! The digests of a body.

use crate::visit::VisitError;
use argiope_archive::{BodyHasher, PayloadHasher};
use argiope_fetch::Body;
use std::io::Read;

/// The digest of what is stored and of what it means; one pass when they are the same bytes.
pub(crate) fn digests(
    stored: &Body,
    plain: Option<&Body>,
) -> Result<([u8; 20], [u8; 32]), VisitError> {
    let (mut payload, mut meaning) = (PayloadHasher::new(), BodyHasher::new());
    let same = plain.is_some_and(|plain| std::ptr::eq(plain, stored));
    each_piece(stored, |piece| {
        payload.update(piece);
        if same {
            meaning.update(piece);
        }
    })?;
    if let Some(plain) = plain.filter(|_| !same) {
        each_piece(plain, |piece| meaning.update(piece))?;
    }
    Ok((payload.finish(), meaning.finish()))
}

fn each_piece(body: &Body, mut take: impl FnMut(&[u8])) -> Result<(), VisitError> {
    if let Some(bytes) = body.bytes() {
        take(bytes);
        return Ok(());
    }
    let mut reader = body.reader()?;
    let mut piece = vec![0; 128 << 10];
    loop {
        match reader.read(&mut piece)? {
            0 => return Ok(()),
            n => take(&piece[..n]),
        }
    }
}

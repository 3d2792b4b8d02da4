//! Where an answer in pieces goes on: the place of its last row, sealed.
//!
//! A cursor belongs to the request it was given for, and only this server can make one: its place need not be
//! looked at again. It holds until the server gets another token.

use super::given::Given;
use crate::app::App;
use crate::failure::Failure;
use data_encoding::BASE64URL_NOPAD;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Characters of the seal.
const SEAL: usize = 32;

/// The cursor for the next piece.
pub(crate) fn sealed(app: &App, given: &Given, rest: &impl Serialize) -> String {
    let place = serde_json::to_string(rest).unwrap_or_default();
    let seal = seal(app, given, &place);
    BASE64URL_NOPAD.encode(format!("{seal}{place}").as_bytes())
}

/// The place that a request's cursor holds; none where it has no cursor.
pub(crate) fn opened<T: DeserializeOwned>(app: &App, given: &Given) -> Result<Option<T>, Failure> {
    let Some(cursor) = given.text("cursor") else { return Ok(None) };
    let open = || {
        let bytes = BASE64URL_NOPAD.decode(cursor.as_bytes()).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        let (said, place) = text.split_at_checked(SEAL)?;
        let ours = app.guard.same(said, &seal(app, given, place));
        serde_json::from_str(place).ok().filter(|_| ours)
    };
    open().map(Some).ok_or_else(|| {
        Failure::wrong("this cursor is not one for this request; begin again without it")
    })
}

fn seal(app: &App, given: &Given, place: &str) -> String {
    let mut seal = app.guard.signed(&format!("cursor\n{}\n{place}", given.asked()));
    seal.truncate(SEAL);
    seal
}

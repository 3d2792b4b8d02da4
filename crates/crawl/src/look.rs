//! Looking at a page more than once: what two looks a moment apart differ in moves by itself.
//!
//! * Its place: a visit whose page seems to have changed a little asks here before it is believed.
//! * Invariant: the pause of the host is kept between looks, and the director hears of the host's
//!   answer only after the last.
//! * What is not here: what counts as a change (`before`, `archive`).

use crate::before::{Before, Compared};
use crate::content::{Content, content_of, first_bytes};
use crate::director::Stage;
use crate::group::PageDone;
use crate::visit::{VisitError, Work, answered};
use argiope_archive::{TextBlob, decode_text};
use argiope_fetch::{Answer, Body, Conditions};
use argiope_frontier::{Answered, Entry};
use argiope_model::{CanonicalUrl, Time};
use argiope_parse as parse;
use std::borrow::Cow;
use std::io::Read;

/// Longer pages are compared with all that is on them.
const MAX_COMPARED: u64 = 8 << 20;

impl Work<'_> {
    /// Looks at a page once more, after its host's pause, and where that tells nothing a last time: what
    /// looks a moment apart differ in moves by itself, and is no change.
    pub(crate) async fn second_look(
        &self,
        before: &Before,
        page: &mut PageDone,
        first: Time,
        stage: &Stage,
    ) -> Result<Option<Answered>, VisitError> {
        let Some(seen) = page.unsure.take() else { return Ok(None) };
        let host = page.entry.key.host;
        let pause = self.shared.pause_of(host);
        let (mut told, mut end) = (None, first);
        let mut others = Vec::new();
        for last in [false, true] {
            tokio::time::sleep(end.plus(pause).since(self.shared.clock.now())).await;
            let begun = self.shared.clock.now();
            let answer = self.ask(&page.entry, &Conditions::default(), stage).await?;
            end = self.shared.clock.now_rounded_up();
            told = Some(answered(&answer, end));
            page.looks.push((begun, end.since(begun).as_millis() as u64));
            let went_well = answer.head.as_ref().is_some_and(|head| head.status == 200);
            let judge = || -> Result<bool, VisitError> {
                others.extend(self.compared_of(&page.entry, &answer)?);
                let Some(capture) = &mut page.capture else { return Ok(true) };
                let both = (&*seen, &others[..]);
                let verdict = before.judge_again(self.shared, &page.entry, capture, both, last)?;
                capture.verdict = Some(verdict);
                Ok(!verdict.reason.counts())
            };
            let settled = self.shared.blocking(judge)?;
            if settled || !went_well || !self.shared.sites.is_restless(host) {
                break;
            }
        }
        Ok(told)
    }

    /// The text of an answer as it is compared; `None` where it is no page.
    fn compared_of(&self, entry: &Entry, answer: &Answer) -> Result<Option<Compared>, VisitError> {
        let Some(head) = answer.head.as_ref().filter(|head| head.status == 200) else {
            return Ok(None);
        };
        let encoding = head.content_encoding().unwrap_or_default().into_owned();
        let Ok(decoded) = self.shared.web.decode(&answer.body, &encoding) else { return Ok(None) };
        let plain: &Body = &decoded;
        let (declared, ending) = (head.content_type(), entry.url.extension());
        let media = parse::media_type(declared.as_deref(), &first_bytes(plain)?, ending.as_deref());
        let mut content = content_of(&entry.url, &media, plain, None)?;
        content.bare = bare_text(&entry.url, &media, plain)?;
        compared(&mut content)
    }
}

/// The text of what was read, as it is compared.
pub(crate) fn compared(content: &mut Content) -> Result<Option<Compared>, VisitError> {
    if let Some(text) = content.bare.take() {
        return Ok(Some(Compared { text, bare: true }));
    }
    let text = content.text.as_deref().map(decode_text).transpose()?;
    Ok(text.map(|text| Compared { text, bare: false }))
}

/// The text of a page without what its markup names advertisements; `None` where it names none.
pub(crate) fn bare_text(
    url: &CanonicalUrl,
    media: &parse::MediaType,
    body: &Body,
) -> Result<Option<TextBlob>, VisitError> {
    if parse::type_group(&media.essence) != "html" || body.len() > MAX_COMPARED {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    body.reader()?.read_to_end(&mut bytes)?;
    let Cow::Owned(bare) = parse::without_boxes(&bytes) else { return Ok(None) };
    let text = content_of(url, media, &Body::from_vec(bare), None)?.text;
    Ok(text.as_deref().map(decode_text).transpose()?)
}

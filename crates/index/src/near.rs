//! Pages that are nearly the same: told by the marks that are kept of every page.
//!
//! * What this is: [`Folding`], which puts a page found under one before it, and
//!   [`View::near`], which asks the whole index for the likes of one page.
//! * What pages of a site have in common is not compared: it is known from some pages from all over
//!   the site, looked up when the first page of it is to be compared and kept while the view stands.
//! * Its place: `search` folds with it; what *near* means is `argiope_archive::near_among`.
//! * What is not here: the marks, which `page` makes.

use crate::analyse::{Form, Walk};
use crate::error::IndexError;
use crate::search::stored_url;
use crate::view::View;
use argiope_archive::{Fingerprint, Known, Siblings, TitlePrint, near_among};
use argiope_model::DocId;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocSet, Result, TERMINATED, TantivyDocument, Term};

/// Pages of a site that others are compared with.
const SIBLINGS: u64 = 128;
/// Sites whose pages are remembered.
const SITES: usize = 1_000;
/// Words that the likes of a page are looked for by, of the rarer ones that it shares with others.
const WORDS: usize = 256;
/// Words on so many pages tell nothing.
const FREQUENT: u64 = 20_000;
/// Rows read to find them.
const READ: u64 = 500_000;
/// Words that a page must hold to be compared.
const LEAST: u32 = 3;
/// Pages that are compared: those with most of these words.
const COMPARED: usize = 5_000;

/// A page that is nearly the same as another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearPage {
    /// Its number.
    pub doc: DocId,
    /// Its URL.
    pub url: String,
    /// How much of both texts is the same, in hundredths: of all there is, menus included.
    pub same: u32,
}

/// A page to be compared.
struct Page {
    address: DocAddress,
    doc: DocId,
    print: Fingerprint,
    title: TitlePrint,
    /// Its site and some of the pages there, once somebody had to know.
    site: OnceCell<(String, Arc<Siblings>)>,
}

impl Page {
    fn of(view: &View, address: DocAddress) -> Result<Self> {
        let looks = view.looks(address.segment_ord)?;
        let at = address.doc_id;
        Ok(Page {
            address,
            doc: looks.doc(at),
            print: looks.print(at),
            title: looks.title(at),
            site: OnceCell::new(),
        })
    }

    fn site(&self, view: &View) -> Result<&(String, Arc<Siblings>)> {
        if let Some(site) = self.site.get() {
            return Ok(site);
        }
        let site = view.looks(self.address.segment_ord)?.site(self.address.doc_id);
        let siblings = view.siblings(&site)?;
        Ok(self.site.get_or_init(|| (site, siblings)))
    }

    fn known<'a>(&'a self, siblings: &'a Siblings) -> Known<'a> {
        Known { page: self.doc.0, print: &self.print, title: self.title, siblings }
    }

    fn is_near(&self, other: &Page, view: &View) -> Result<bool> {
        if !self.print.may_be_near(&other.print) {
            return Ok(false);
        }
        let (here, there) = (self.site(view)?, other.site(view)?);
        let one_site = here.0 == there.0;
        Ok(near_among(self.known(&here.1), other.known(&there.1), one_site))
    }
}

/// Puts pages under such as are nearly the same.
pub(crate) struct Folding<'v> {
    view: &'v View,
    first: Vec<Page>,
}

impl<'v> Folding<'v> {
    pub fn new(view: &'v View) -> Self {
        Folding { view, first: Vec::new() }
    }

    /// Under which of the pages before it a page stands; `None` where it is the first of its kind.
    pub fn place(&mut self, address: DocAddress) -> Result<Option<usize>> {
        let page = Page::of(self.view, address)?;
        for (n, first) in self.first.iter().enumerate() {
            if first.is_near(&page, self.view)? {
                return Ok(Some(n));
            }
        }
        self.first.push(page);
        Ok(None)
    }
}

impl View {
    /// Pages that are nearly the same as a page with this text, the most alike first: those that
    /// hold its rarest words are compared with it.
    pub fn near(&self, doc: DocId, text: &str) -> std::result::Result<Vec<NearPage>, IndexError> {
        let Some(address) = self.find(doc)? else { return Ok(Vec::new()) };
        let look = || -> Result<Vec<NearPage>> {
            let page = Page::of(self, address)?;
            let mut out = Vec::new();
            for other in self.with_rare_words(text)? {
                let other = Page::of(self, other)?;
                if other.doc == doc || !page.is_near(&other, self)? {
                    continue;
                }
                let stored: TantivyDocument = self.searcher.doc(other.address)?;
                out.push(NearPage {
                    doc: other.doc,
                    url: stored_url(&stored, self.fields.url),
                    same: (page.print.resemblance(&other.print) * 100.0).round() as u32,
                });
            }
            out.sort_by(|a, b| b.same.cmp(&a.same).then_with(|| a.doc.cmp(&b.doc)));
            Ok(out)
        };
        look().map_err(self.failed("look for pages nearly the same"))
    }

    /// Pages that hold most of the rarest words of a text.
    fn with_rare_words(&self, text: &str) -> Result<Vec<DocAddress>> {
        let mut words: HashSet<String> = HashSet::new();
        Walk::default().tokens(text, |token| {
            let wordy = matches!(token.form, Form::Word | Form::Pair) && token.text.len() > 2;
            if wordy && !words.contains(token.text) {
                words.insert(token.text.to_owned());
            }
            true
        });
        let mut rare: Vec<(u64, Term)> = Vec::new();
        for word in words {
            let term = Term::from_field_text(self.fields.body, &word);
            let pages = self.searcher.doc_freq(&term)?;
            if (2..=FREQUENT).contains(&pages) {
                rare.push((pages, term));
            }
        }
        rare.sort_unstable();
        // From the rarest to the more frequent evenly: the rarest alone may all be words of the menu
        // of a site with two pages, which is longer than the article.
        let many = rare.len().min(2 * WORDS).max(rare.len() * 3 / 4);
        let step = many.div_ceil(WORDS).max(1);
        let documents = self.searcher.num_docs().max(1) as f32;
        let (mut held, mut read) = (HashMap::<DocAddress, (u32, f32)>::new(), 0);
        for (pages, term) in rare[..many].iter().step_by(step) {
            read += pages;
            if read > READ {
                break;
            }
            let weight = (documents / *pages as f32).ln().max(0.1);
            self.each_with(term, |at, _| {
                let (words, sum) = held.entry(at).or_default();
                (*words, *sum) = (*words + 1, *sum + weight);
                true
            })?;
        }
        let found = held.into_iter().filter(|(_, (words, _))| *words >= LEAST);
        let mut found: Vec<(f32, DocAddress)> = found.map(|(at, (_, sum))| (sum, at)).collect();
        found.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        found.truncate(COMPARED);
        Ok(found.into_iter().map(|(_, address)| address).collect())
    }

    /// Some pages of a site, from all over it.
    fn siblings(&self, site: &str) -> Result<Arc<Siblings>> {
        let known = || self.known.siblings.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(siblings) = known().get(site) {
            return Ok(siblings.clone());
        }
        let term = Term::from_field_text(self.fields.host, site);
        let pages = self.searcher.doc_freq(&term)?;
        let step = (pages / SIBLINGS).max(1);
        let mut out = Siblings::default();
        let mut failed = None;
        self.each_with(&term, |at, n| {
            if n.is_multiple_of(step) {
                match self.looks(at.segment_ord) {
                    Ok(looks) => {
                        let (print, title) = (looks.print(at.doc_id), looks.title(at.doc_id));
                        out.see(looks.doc(at.doc_id).0, &print, title);
                    }
                    Err(e) => failed = Some(e),
                }
            }
            failed.is_none()
        })?;
        if let Some(e) = failed {
            return Err(e);
        }
        let siblings = Arc::new(out);
        let mut known = known();
        if known.len() < SITES {
            known.insert(site.to_owned(), siblings.clone());
        }
        Ok(siblings)
    }

    /// Shows the pages with a word, with how many came before, for as long as more are wanted.
    fn each_with(&self, term: &Term, mut each: impl FnMut(DocAddress, u64) -> bool) -> Result<()> {
        let mut n = 0;
        for (ord, segment) in self.searcher.segment_readers().iter().enumerate() {
            let index = segment.inverted_index(term.field())?;
            let Some(mut found) = index.read_postings(term, IndexRecordOption::Basic)? else {
                continue;
            };
            while found.doc() != TERMINATED {
                let at = DocAddress::new(ord as u32, found.doc());
                if !segment.is_deleted(found.doc()) && !each(at, n) {
                    return Ok(());
                }
                n += 1;
                found.advance();
            }
        }
        Ok(())
    }
}

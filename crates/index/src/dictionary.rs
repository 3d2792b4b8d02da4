//! The dictionary: every word of all bodies, how many documents hold it, how often it stands
//! there, and at which places.
//!
//! Counts are exact: of segments with deleted documents the postings are read, not the numbers
//! that tantivy keeps.

use crate::analyse::{Form, Walk, folded};
use crate::error::IndexError;
use crate::search::{Item, Lookups};
use crate::spelling::Near;
use crate::view::{Columns, View};
use argiope_archive::TextBlob;
use argiope_model::{DocId, WordId};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::FuzzyTermQuery;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::termdict::TermStreamer;
use tantivy::{DocSet, Result, SegmentReader, TERMINATED, Term};
use tantivy_fst::Automaton;

/// Words that somebody may have meant, looked at.
const CANDIDATES: usize = 200;
/// Words of a query that others are looked for in place of.
const SUGGESTED: usize = 3;

/// Words looked at to complete one.
const COMPLETED: usize = 20_000;

/// A word of the dictionary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Its number.
    pub id: WordId,
    /// Its folded form.
    pub word: String,
    /// Documents that hold it in their text.
    pub documents: u64,
    /// How often it stands in them.
    pub occurrences: u64,
}

/// Where a word stands in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posting {
    /// The document.
    pub doc: DocId,
    /// Its URL.
    pub url: String,
    /// The places, from 1.
    pub positions: Vec<u32>,
}

/// Where a word stands most often, and how often in all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// Documents that hold it.
    pub documents: u64,
    /// How often it stands in them.
    pub occurrences: u64,
    /// Those that hold it most often, these first.
    pub pages: Vec<Posting>,
}

impl View {
    /// The number of a word: that of its folded form; 0 for a stop word.
    pub fn word_id(&self, word: &str) -> WordId {
        let word = folded(word.trim());
        if self.stop.holds(&word) { WordId::STOP } else { WordId::of(&word) }
    }

    /// The documents whose text holds a word, and the places where it stands there, in the order
    /// of their numbers. What is several words to the analysis (`中国人`, `a b`) is looked for
    /// side by side. Stop words have no places.
    pub fn postings(&self, word: &str) -> std::result::Result<Vec<Posting>, IndexError> {
        self.postings_after(word, None, usize::MAX)
    }

    /// The same, of the first `limit` documents after one.
    pub fn postings_after(
        &self,
        word: &str,
        after: Option<DocId>,
        limit: usize,
    ) -> std::result::Result<Vec<Posting>, IndexError> {
        let terms = sequence(word);
        let kept: Vec<&(u32, String)> = terms.iter().filter(|(_, w)| !self.stop.holds(w)).collect();
        let read = || -> Result<Vec<Posting>> {
            let mut first = BTreeMap::new();
            if kept.is_empty() {
                return Ok(Vec::new());
            }
            for (ord, segment) in self.searcher.segment_readers().iter().enumerate() {
                let columns = Columns::open(segment)?;
                self.together(segment, &kept, |doc, positions| {
                    let id = columns.doc(doc);
                    if after.is_none_or(|after| id > after) {
                        let address = tantivy::DocAddress::new(ord as u32, doc);
                        first.insert(id, (address, positions));
                    }
                    if first.len() > limit {
                        first.pop_last();
                    }
                    Ok(())
                })?;
            }
            let posting = |(doc, (address, positions))| {
                let stored: tantivy::TantivyDocument = self.searcher.doc(address)?;
                let url = crate::search::stored_url(&stored, self.fields.url);
                Ok(Posting { doc, url, positions })
            };
            first.into_iter().map(posting).collect()
        };
        read().map_err(self.failed("read postings"))
    }

    /// The documents that hold a word most often, and how many there are in all. Of others only their places are
    /// counted.
    pub fn most_places(&self, word: &str, most: usize) -> std::result::Result<Places, IndexError> {
        let terms = sequence(word);
        let kept: Vec<&(u32, String)> = terms.iter().filter(|(_, w)| !self.stop.holds(w)).collect();
        let read = || -> Result<Places> {
            let mut out = Places::default();
            let mut best = BTreeMap::new();
            if kept.is_empty() {
                return Ok(out);
            }
            for (ord, segment) in self.searcher.segment_readers().iter().enumerate() {
                let columns = Columns::open(segment)?;
                self.together(segment, &kept, |doc, positions| {
                    out.documents += 1;
                    out.occurrences += positions.len() as u64;
                    let address = tantivy::DocAddress::new(ord as u32, doc);
                    let worth = (positions.len(), Reverse(columns.doc(doc)));
                    best.insert(worth, (address, positions));
                    if best.len() > most {
                        best.pop_first();
                    }
                    Ok(())
                })?;
            }
            for ((_, Reverse(doc)), (address, positions)) in best.into_iter().rev() {
                let stored: tantivy::TantivyDocument = self.searcher.doc(address)?;
                let url = crate::search::stored_url(&stored, self.fields.url);
                out.pages.push(Posting { doc, url, positions });
            }
            Ok(out)
        };
        read().map_err(self.failed("read postings"))
    }

    /// Documents of a segment that hold words at these distances, with the places of the first.
    fn together(
        &self,
        segment: &SegmentReader,
        words: &[&(u32, String)],
        mut each: impl FnMut(u32, Vec<u32>) -> Result<()>,
    ) -> Result<()> {
        let index = segment.inverted_index(self.fields.body)?;
        let mut lists: Vec<(u32, SegmentPostings)> = Vec::new();
        for (offset, word) in words {
            let term = Term::from_field_text(self.fields.body, word);
            let option = IndexRecordOption::WithFreqsAndPositions;
            let Some(postings) = index.read_postings(&term, option)? else { return Ok(()) };
            lists.push((*offset, postings));
        }
        let (mut places, mut other) = (Vec::new(), Vec::new());
        let mut doc = lists[0].1.doc();
        while doc != TERMINATED {
            let mut next = doc;
            for (_, list) in &mut lists {
                next = if list.doc() < doc { list.seek(doc) } else { list.doc() };
                if next != doc {
                    break;
                }
            }
            if next != doc {
                doc = if next == TERMINATED { TERMINATED } else { lists[0].1.seek(next) };
                continue;
            }
            if !segment.is_deleted(doc) {
                let base = lists[0].0;
                lists[0].1.positions(&mut places);
                for (offset, list) in &mut lists[1..] {
                    list.positions(&mut other);
                    let apart = *offset - base;
                    places.retain(|place| other.binary_search(&(place + apart)).is_ok());
                }
                // The first kept word may not be the first word.
                let found = places.iter().map(|place| place - base.min(*place - 1)).collect();
                if !places.is_empty() {
                    each(doc, found)?;
                }
            }
            doc = lists[0].1.advance();
        }
        Ok(())
    }

    /// Words that begin with `prefix`, after a word, in alphabetical order (that of their
    /// bytes), at most `limit`.
    pub fn words(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> std::result::Result<Vec<Word>, IndexError> {
        let prefix = folded(prefix);
        let mut words = Vec::new();
        let mut last = after.map(str::to_owned);
        // Words whose documents are all gone are still in the lists of tantivy.
        while words.len() < limit {
            let mut found = Vec::new();
            self.each_word(&prefix, last.as_deref(), |word, _| {
                found.push(word.to_owned());
                words.len() + found.len() < limit
            })?;
            if found.is_empty() {
                break;
            }
            last = found.last().cloned();
            let counted = found.iter().map(|word| self.word(word)).collect::<Result<Vec<_>>>();
            let counted = counted.map_err(self.failed("count words"))?;
            words.extend(counted.into_iter().filter(|word| word.documents > 0));
        }
        Ok(words)
    }

    /// The words that most documents hold, of those that begin with `prefix`.
    pub fn top_words(
        &self,
        prefix: &str,
        limit: usize,
    ) -> std::result::Result<Vec<Word>, IndexError> {
        let prefix = folded(prefix);
        // With deleted documents tantivy's numbers are too high; some more are counted.
        let room = limit.saturating_add(limit / 2).saturating_add(16);
        let mut best: BinaryHeap<Reverse<(u64, Reverse<String>)>> = BinaryHeap::new();
        self.each_word(&prefix, None, |word, documents| {
            let worst = best.peek().map_or(0, |Reverse((documents, _))| *documents);
            if best.len() < room || documents > worst {
                best.push(Reverse((documents, Reverse(word.to_owned()))));
                if best.len() > room {
                    best.pop();
                }
            }
            true
        })?;
        let counted = best.into_iter().map(|Reverse((_, Reverse(word)))| self.word(&word));
        let counted = counted.collect::<Result<Vec<_>>>().map_err(self.failed("count words"));
        let mut words = counted?;
        words.retain(|word| word.documents > 0);
        words.sort_unstable_by(|a, b| {
            b.documents.cmp(&a.documents).then_with(|| a.word.cmp(&b.word))
        });
        words.truncate(limit);
        Ok(words)
    }

    /// Words that begin with `prefix`, those first that most documents seem to hold; quick, for somebody types. At
    /// most `COMPLETED` words are looked at, and counted as tantivy counts them.
    pub fn complete(
        &self,
        prefix: &str,
        limit: usize,
    ) -> std::result::Result<Vec<String>, IndexError> {
        let mut best: Vec<(Reverse<u64>, String)> = Vec::new();
        let mut looked = 0;
        self.each_word(&folded(prefix), None, |word, documents| {
            looked += 1;
            let worst = best.last().map_or(0, |(Reverse(documents), _)| *documents);
            if best.len() < limit || documents > worst {
                let place = best.partition_point(|(Reverse(held), _)| *held >= documents);
                best.insert(place, (Reverse(documents), word.to_owned()));
                best.truncate(limit);
            }
            looked < COMPLETED
        })?;
        Ok(best.into_iter().map(|(_, word)| word).collect())
    }

    /// A word of the dictionary, in folded form, counted.
    fn word(&self, word: &str) -> Result<Word> {
        let term = Term::from_field_text(self.fields.body, word);
        let mut out =
            Word { id: WordId::of(word), word: word.to_owned(), documents: 0, occurrences: 0 };
        for segment in self.searcher.segment_readers() {
            let index = segment.inverted_index(self.fields.body)?;
            let Some(mut list) = index.read_postings(&term, IndexRecordOption::WithFreqs)? else {
                continue;
            };
            while list.doc() != TERMINATED {
                if !segment.is_deleted(list.doc()) {
                    out.documents += 1;
                    out.occurrences += u64::from(list.term_freq());
                }
                list.advance();
            }
        }
        Ok(out)
    }

    /// Shows the words of all segments in order, each once, with the documents tantivy counts.
    fn each_word(
        &self,
        prefix: &str,
        after: Option<&str>,
        mut each: impl FnMut(&str, u64) -> bool,
    ) -> std::result::Result<(), IndexError> {
        let failed = self.failed("read the dictionary");
        let mut run = || -> Result<()> {
            let mut indexes = Vec::new();
            for segment in self.searcher.segment_readers() {
                indexes.push(segment.inverted_index(self.fields.body)?);
            }
            let mut streams = Vec::new();
            for index in &indexes {
                let mut range = index.terms().range().ge(prefix);
                if let Some(after) = after {
                    range = range.gt(folded(after));
                }
                let mut stream = range.into_stream()?;
                if stream.advance() {
                    streams.push(stream);
                }
            }
            let mut word: Vec<u8> = Vec::new();
            while let Some(first) = streams.iter().map(|stream| stream.key()).min() {
                word.clear();
                word.extend_from_slice(first);
                if !word.starts_with(prefix.as_bytes()) {
                    // `after` may stand before the prefix, nothing stands behind it.
                    if *word > *prefix.as_bytes() {
                        break;
                    }
                }
                let mut documents = 0;
                streams.retain_mut(|stream| {
                    if stream.key() != word {
                        return true;
                    }
                    documents += u64::from(stream.value().doc_freq);
                    stream.advance()
                });
                let known = std::str::from_utf8(&word).unwrap_or_default();
                if known.starts_with(prefix) && !each(known, documents) {
                    break;
                }
            }
            Ok(())
        };
        run().map_err(failed)
    }

    /// How many documents are in each language, most first.
    pub(crate) fn languages(&self) -> std::result::Result<&[(String, u64)], IndexError> {
        if let Some(known) = self.known.languages.get() {
            return Ok(known);
        }
        let read = self.values(self.fields.language).map_err(self.failed("read the languages"))?;
        Ok(self.known.languages.get_or_init(|| read))
    }

    fn values(&self, field: Field) -> Result<Vec<(String, u64)>> {
        let mut counts: HashMap<String, u64> = HashMap::new();
        for segment in self.searcher.segment_readers() {
            let index = segment.inverted_index(field)?;
            let mut stream = index.terms().stream()?;
            while let Some((value, info)) = stream.next() {
                let value = String::from_utf8_lossy(value).into_owned();
                *counts.entry(value).or_default() += u64::from(info.doc_freq);
            }
        }
        let mut counts: Vec<(String, u64)> = counts.into_iter().collect();
        counts.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Ok(counts)
    }

    /// A query with the words replaced that no page holds, by words that pages hold.
    pub(crate) fn did_you_mean(
        &self,
        query: &str,
        items: &[Item],
        lookups: &Lookups<'_>,
    ) -> std::result::Result<Option<String>, IndexError> {
        let mut out = query.to_owned();
        let mut any = false;
        for item in items.iter().filter(|item| !item.stop).take(SUGGESTED) {
            let plain = item.prefix.is_none() && item.near.is_none() && item.terms.len() == 1;
            if !plain || item.stop || item.name.chars().count() < 3 {
                continue;
            }
            let better = self.better(item, lookups).map_err(self.failed("look for other words"))?;
            let Some(better) = better else { continue };
            // As it was typed, not as it was folded: found by folding what was typed.
            let typed = query.split(|c: char| !c.is_alphanumeric());
            let typed: Vec<&str> = typed.filter(|typed| folded(typed) == item.name).collect();
            for typed in typed {
                out = out.replace(typed, &better);
                any = true;
            }
        }
        Ok(any.then_some(out))
    }

    /// The largest segments, which hold three quarters of all documents: a word that many hold is
    /// in one of them.
    fn large_segments(&self) -> Vec<&SegmentReader> {
        let mut segments: Vec<&SegmentReader> = self.searcher.segment_readers().iter().collect();
        segments.sort_by_key(|segment| Reverse(segment.num_docs()));
        let all = self.searcher.num_docs();
        let mut before = 0;
        segments.retain(|segment| {
            let wanted = before * 4 < all * 3;
            before += u64::from(segment.num_docs());
            wanted
        });
        segments
    }

    /// A word that documents hold, near to one that none does.
    fn better(&self, item: &Item, lookups: &Lookups<'_>) -> Result<Option<String>> {
        let word = &*item.name;
        for form in item.stems.iter().map(|stem| &**stem).chain([word]) {
            for field in [self.fields.body, self.fields.title, self.fields.loose] {
                if lookups.documents(field, form)? > 0 {
                    return Ok(None);
                }
            }
        }
        let exact = Term::from_field_text(self.fields.body, word);
        let length = word.chars().count();
        let large = self.large_segments();
        // The first letter is hardly ever the wrong one, and all others are many words; of a long
        // word more of its beginning is right.
        let same = if length < 7 { 1 } else { 2 };
        for (distance, same, shortest) in [(1, same, 3), (2, 3, 8)] {
            let Some((at, last)) = word.char_indices().nth(same - 1) else { continue };
            let next = char::from_u32(u32::from(last) + 1).filter(|_| length >= shortest);
            let Some(next) = next else { continue };
            let (begin, end) = (&word[..at + last.len_utf8()], format!("{}{next}", &word[..at]));
            let mut found: BTreeMap<String, u64> = BTreeMap::new();
            let mut take = |word: &[u8], documents: u32| {
                if let Ok(word) = std::str::from_utf8(word) {
                    *found.entry(word.to_owned()).or_default() += u64::from(documents);
                }
                found.len() < CANDIDATES
            };
            let near = Near::to(word, usize::from(distance));
            for segment in &large {
                let index = segment.inverted_index(self.fields.body)?;
                if let Some(near) = &near {
                    let range = index.terms().search(near).ge(begin);
                    each_term(range.lt(&end).into_stream()?, &mut take);
                } else {
                    let near = FuzzyTermQuery::new(exact.clone(), distance, true).automaton()?;
                    let range = index.terms().search(&near).ge(begin);
                    each_term(range.lt(&end).into_stream()?, &mut take);
                }
            }
            let best = found
                .into_iter()
                .max_by_key(|(candidate, documents)| (*documents, Reverse(candidate.clone())));
            if let Some((best, _)) = best {
                return Ok(Some(best));
            }
        }
        Ok(None)
    }

    /// The words of a text with their places, as the index takes them in: for showing a
    /// document, and for checking the index against the texts.
    pub fn words_of(&self, text: &TextBlob) -> Vec<(Word, Vec<u32>)> {
        let mut found: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        Walk::default().tokens(&text.text, |token| {
            let stop = token.form == Form::Word && self.stop.holds(token.text);
            if !token.text.is_empty() && !stop {
                match found.get_mut(token.text) {
                    Some(places) => places.push(token.position),
                    None => {
                        found.insert(token.text.to_owned(), vec![token.position]);
                    }
                }
            }
            true
        });
        let word = |(word, places): (String, Vec<u32>)| {
            let occurrences = places.len() as u64;
            (Word { id: WordId::of(&word), word, documents: 1, occurrences }, places)
        };
        found.into_iter().map(word).collect()
    }
}

/// Shows the words of a stream with the documents they are in, until there are enough.
fn each_term<A: Automaton>(
    mut stream: TermStreamer<'_, A>,
    mut each: impl FnMut(&[u8], u32) -> bool,
) where
    A::State: Clone,
{
    while let Some((word, info)) = stream.next() {
        if !each(word, info.doc_freq) {
            break;
        }
    }
}

/// What to look for, for a word as somebody types it: everything that stands where it stands.
fn sequence(word: &str) -> Vec<(u32, String)> {
    let mut parts: Vec<(u32, String)> = Vec::new();
    let mut pairs: Vec<(u32, String)> = Vec::new();
    let mut wholes: Vec<(u32, String)> = Vec::new();
    Walk::default().tokens(word.trim(), |token| {
        let at = (token.position - 1, token.text.to_owned());
        match token.form {
            _ if token.text.is_empty() => {}
            Form::Word | Form::Single => parts.push(at),
            Form::Pair => pairs.push(at),
            Form::Whole => wholes.push(at),
        }
        true
    });
    // A character that is in a pair need not be asked for alone.
    let paired = |at: u32| pairs.iter().any(|(start, _)| *start == at || *start + 1 == at);
    parts.retain(|(at, _)| !paired(*at));
    parts.extend(pairs);
    parts.extend(wholes);
    parts.sort_unstable();
    parts
}

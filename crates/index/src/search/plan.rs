//! From the tree of a query to what tantivy is asked, strictly and with indulgence.
//!
//! * What this is: every word typed goes through the analysis that pages go through and becomes
//!   an [`Item`] with a query of its own; phrases, filters and brackets are put around them.
//! * Two questions come out: the *strict* one means what the language says; the *loose* one,
//!   where only words stand side by side, is content with some of them.
//! * Stop words are not in bodies: they are never required, and count where they are kept.

use super::apart::Apart;
use super::lookups::Lookups;
use super::some::SomeQuery;
use super::weights::{ADDRESS, BODY, FORM, HEADINGS, LINKS, TITLE, WEAK, is_weak};
use super::wide::{Clock, Like, WideQuery};
use super::word::{Part, Role, WordQuery};
use crate::analyse::{Form, Rules, Stems, Walk, folded, quick_hash};
use crate::page::{GAP, address_pieces};
use crate::query::{Node, Parsed, Scope, Sign};
use crate::view::View;
use tantivy::Term;
use tantivy::query::{BooleanQuery, BoostQuery, EmptyQuery, Occur, PhraseQuery, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};

pub(super) type Boxed = Box<dyn Query>;

/// A word or phrase of a query, as it is looked for in pages.
pub(crate) struct Item {
    /// As it was typed, folded.
    pub name: String,
    /// Its words and their distances from its first: what is marked in snippets, and what
    /// nearness is measured with.
    pub terms: Vec<(u32, String)>,
    /// Other forms of it.
    pub stems: Vec<String>,
    /// The whole of its parts, written as one.
    pub whole: Option<String>,
    pub prefix: Option<String>,
    pub near: Option<(String, u8)>,
    /// Where it stands in the query, counted as positions are.
    pub position: u32,
    pub scope: Scope,
    pub stop: bool,
    pub query: Boxed,
}

/// What is asked of tantivy.
pub(crate) struct Plan<'v> {
    pub lookups: Lookups<'v>,
    pub strict: Boxed,
    pub loose: Option<Boxed>,
    pub items: Vec<Item>,
    /// The query as a whole: what a title or heading may be.
    pub whole: Option<Whole>,
    /// Whether the query asks for what is new.
    pub fresh: bool,
    /// Stop words that were not looked for in bodies.
    pub ignored: Vec<String>,
}

/// A query that may be a title: its words, and how many places it takes.
pub(crate) struct Whole {
    pub terms: Vec<(usize, String)>,
    pub places: usize,
}

/// One word typed, analysed.
struct Group {
    kind: GroupKind,
    position: u32,
    stop: bool,
}

enum GroupKind {
    /// The word, as typed and folded, and another way to write it.
    Word { raw: String, text: String, other: Option<String> },
    /// Parts with their distances, and the whole.
    Compound { parts: Vec<(u32, String)>, whole: Option<String> },
    /// Characters of a script without spaces: the first, and all pairs.
    Run { single: String, pairs: Vec<String> },
}

pub(crate) struct Planner<'v> {
    pub(super) view: &'v View,
    lookups: Lookups<'v>,
    rules: Vec<Rules>,
    stems: Stems,
    walk: Walk,
    items: Vec<Item>,
    position: u32,
    pub(super) fresh: bool,
    /// Answers `link:`.
    pub(super) linking: &'v dyn Fn(&str) -> Result<Vec<argiope_model::DocId>, crate::IndexError>,
    pub(super) failure: Option<crate::IndexError>,
    clock: Clock,
    /// Whether what other pages call a page counts.
    links: bool,
}

impl<'v> Planner<'v> {
    pub fn new(
        view: &'v View,
        languages: &[String],
        clock: Clock,
        links: bool,
        linking: &'v dyn Fn(&str) -> Result<Vec<argiope_model::DocId>, crate::IndexError>,
    ) -> Self {
        Planner {
            view,
            lookups: Lookups::new(view),
            rules: languages.iter().filter_map(|language| Rules::of(language)).collect(),
            stems: Stems::remembering(64),
            walk: Walk::default(),
            items: Vec::new(),
            position: 0,
            fresh: false,
            linking,
            failure: None,
            clock,
            links,
        }
    }

    pub fn plan(mut self, parsed: &Parsed) -> Result<Plan<'v>, crate::IndexError> {
        let node = &parsed.node;
        let whole = parsed.name.as_deref().and_then(|name| self.whole(name));
        let top = match node {
            Node::All(parts) => parts.clone(),
            other => vec![(Sign::Plain, other.clone())],
        };
        let (mut must, mut words, mut not) = (Vec::new(), Vec::new(), Vec::new());
        let mut filters = 0;
        for (sign, node) in &top {
            let before = self.items.len();
            match (sign, node) {
                (Sign::Not, node) => {
                    let query = self.node(node);
                    self.items.truncate(before);
                    not.push(query);
                }
                (Sign::Plain, Node::Words { text, scope: Scope::Anywhere }) => {
                    words.extend(self.words(text, Scope::Anywhere));
                }
                (_, node) => {
                    let query = self.node(node);
                    filters += usize::from(matches!(node, Node::Filter(_)));
                    must.push(query);
                }
            }
        }
        if let Some(e) = self.failure {
            return Err(e);
        }
        let meant = words.iter().filter(|(_, _, stop)| !stop).count();
        let strict = {
            let mut clauses: Vec<(Occur, Boxed)> = Vec::new();
            clauses.extend(must.iter().map(|q| (Occur::Must, q.box_clone())));
            for (query, _, stop) in &words {
                let required = !stop || (meant == 0 && must.is_empty());
                let occur = if required { Occur::Must } else { Occur::Should };
                clauses.push((occur, query.box_clone()));
            }
            clauses.extend(not.iter().map(|q| (Occur::MustNot, q.box_clone())));
            if let [(Occur::Must, one)] = &mut clauses[..]
                && let Some(word) = one.downcast_ref::<WordQuery>()
            {
                *one = Box::new(SomeQuery { words: vec![(word.clone(), 1.0)] });
            }
            boolean(clauses)
        };
        // With a word or phrase that is required, the other words may all be missing.
        let optional = must.len() > filters;
        let loosens = (!words.is_empty() && words.len() + usize::from(optional) > 1)
            || words.iter().any(|(_, loose, _)| loose.is_some());
        let loose = loosens.then(|| {
            let some = words.iter().map(|(strict, loose, _)| {
                (Occur::Should, loose.as_ref().unwrap_or(strict).box_clone())
            });
            let mut clauses: Vec<(Occur, Boxed)> = match (optional, some_of(&words)) {
                (true, _) => some.collect(),
                (false, Some(words)) => vec![(Occur::Must, words)],
                (false, None) => vec![(Occur::Must, boolean(some.collect()))],
            };
            clauses.extend(must.iter().map(|q| (Occur::Must, q.box_clone())));
            clauses.extend(not.iter().map(|q| (Occur::MustNot, q.box_clone())));
            boolean(clauses)
        });
        let ignored = self.items.iter().filter(|item| item.stop).map(|item| item.name.clone());
        Ok(Plan {
            lookups: self.lookups,
            strict,
            loose,
            whole,
            fresh: self.fresh,
            ignored: ignored.collect(),
            items: self.items,
        })
    }

    /// What was typed, read as a title would be.
    fn whole(&mut self, name: &str) -> Option<Whole> {
        let mut terms: Vec<(usize, String)> = Vec::new();
        let mut places = 0;
        self.walk.tokens(name, |token| {
            places = places.max(token.position as usize);
            if !token.text.is_empty() && matches!(token.form, Form::Word | Form::Single) {
                terms.push((token.position as usize - 1, token.text.to_owned()));
            }
            true
        });
        (!terms.is_empty()).then_some(Whole { terms, places })
    }

    fn node(&mut self, node: &Node) -> Boxed {
        match node {
            Node::Words { text, scope: Scope::Address } => self.in_address(text),
            Node::Phrase { text, slop: 0, scope: Scope::Address } => self.in_address(text),
            Node::Words { text, scope } => {
                let words = self.words(text, *scope);
                let meant = words.iter().any(|(_, _, stop)| !stop);
                let clause = |(query, _, stop): Asked| {
                    (if stop && meant { Occur::Should } else { Occur::Must }, query)
                };
                boolean(words.into_iter().map(clause).collect())
            }
            Node::Phrase { text, slop, scope } => self.phrase(text, *slop, *scope),
            Node::Prefix { text, scope } => self.prefix(text, *scope),
            Node::Near { text, distance, scope } => self.near(text, *distance, *scope),
            Node::Filter(filter) => self.filter(filter),
            Node::Any(parts) => {
                boolean(parts.iter().map(|part| (Occur::Should, self.node(part))).collect())
            }
            Node::All(parts) => {
                let mut clauses = Vec::new();
                for (sign, part) in parts {
                    let before = self.items.len();
                    let query = self.node(part);
                    let stop = self.items.len() > before
                        && self.items[before..].iter().all(|item| item.stop);
                    let occur = match sign {
                        Sign::Not => {
                            self.items.truncate(before);
                            Occur::MustNot
                        }
                        Sign::Plain if stop => Occur::Should,
                        _ => Occur::Must,
                    };
                    clauses.push((occur, query));
                }
                boolean(clauses)
            }
        }
    }

    /// The queries of the words in what was typed without a space: strict, loose where that is
    /// something else, and whether it is a stop word.
    fn words(&mut self, text: &str, scope: Scope) -> Vec<Asked> {
        let mut out = Vec::new();
        for group in self.groups(text) {
            let (query, mut loose, item) = self.group(group, scope);
            if is_weak(&item.name) {
                loose = Some(Box::new(BoostQuery::new(query.box_clone(), WEAK)));
            }
            out.push((query, loose, item.stop));
            self.items.push(item);
        }
        out
    }

    fn groups(&mut self, text: &str) -> Vec<Group> {
        struct Owned {
            text: String,
            raw: String,
            position: u32,
            start: usize,
            end: usize,
            form: Form,
        }
        let mut tokens: Vec<Owned> = Vec::new();
        self.walk.tokens(text, |t| {
            if !t.text.is_empty() {
                let (text, raw) = (t.text.to_owned(), t.raw.to_owned());
                let (position, start, end) = (t.position, t.start, t.end);
                tokens.push(Owned { text, raw, position, start, end, form: t.form });
            }
            true
        });
        let base: Vec<&Owned> =
            tokens.iter().filter(|t| matches!(t.form, Form::Word | Form::Single)).collect();
        let variant = |form, position| {
            tokens.iter().find(|t: &&Owned| t.form == form && t.position == position)
        };
        let mut out = Vec::new();
        let mut at = 0;
        while let Some(first) = base.get(at) {
            let position = first.position;
            if first.form == Form::Single {
                let mut pairs = Vec::new();
                while let Some(pair) = variant(Form::Pair, position + pairs.len() as u32) {
                    pairs.push(pair.text.clone());
                }
                at += 1 + pairs.len();
                let kind = GroupKind::Run { single: first.text.clone(), pairs };
                out.push(Group { kind, position, stop: false });
                continue;
            }
            let whole = variant(Form::Whole, position);
            let inside = |t: &&&Owned| whole.is_some_and(|w| t.start >= w.start && t.end <= w.end);
            let parts: Vec<(u32, String)> = base[at..]
                .iter()
                .take_while(inside)
                .map(|t| (t.position - position, t.text.clone()))
                .collect();
            let whole = whole.map(|whole| whole.text.clone());
            if parts.len() > 1 {
                at += parts.len();
                let kind = GroupKind::Compound { parts, whole };
                out.push(Group { kind, position, stop: false });
                continue;
            }
            at += 1;
            let stop = self.view.stop.holds(&first.text);
            let (raw, text) = (first.raw.clone(), first.text.clone());
            out.push(Group { kind: GroupKind::Word { raw, text, other: whole }, position, stop });
        }
        let places = base.last().map_or(0, |last| last.position);
        let offset = self.position;
        out.iter_mut().for_each(|group| group.position += offset);
        self.position += places;
        out
    }

    fn group(&mut self, group: Group, scope: Scope) -> (Boxed, Option<Boxed>, Item) {
        let (position, stop) = (group.position, group.stop);
        let mut item = Item {
            name: String::new(),
            terms: Vec::new(),
            stems: Vec::new(),
            whole: None,
            prefix: None,
            near: None,
            position,
            scope,
            stop,
            query: Box::new(EmptyQuery),
        };
        let mut loose: Option<Boxed> = None;
        let query: Boxed = match group.kind {
            GroupKind::Word { raw, text, other } => {
                if scope == Scope::Anywhere && !stop {
                    item.stems = self.stems_of(&raw, &text);
                }
                let mut parts = self.parts(&text, scope, stop, &item.stems);
                if let Some(other) = &other {
                    parts.extend(self.parts(other, scope, stop, &[]));
                }
                item.terms = vec![(0, text.clone())];
                item.name = text;
                item.whole = other;
                query_of(self.word_of(parts))
            }
            GroupKind::Compound { parts, whole } => {
                let name: Vec<&str> = parts.iter().map(|(_, part)| &**part).collect();
                item.name = name.join("-");
                let mut ways: Vec<(Occur, Boxed)> = Vec::new();
                if let Some(whole) = &whole {
                    ways.push((Occur::Should, query_of(self.word(whole, scope, false, &[]))));
                }
                ways.push((Occur::Should, self.beside(&parts, 0, scope)));
                let mut some: Vec<(Occur, Boxed)> = Vec::new();
                for (_, part) in &parts {
                    let stop = self.view.stop.holds(part);
                    let stems = if stop { Vec::new() } else { self.stems_of(part, part) };
                    some.push((Occur::Should, query_of(self.word(part, scope, stop, &stems))));
                    item.stems.extend(stems);
                }
                let ways = boolean(ways);
                some.push((Occur::Should, Box::new(BoostQuery::new(ways.box_clone(), 0.3))));
                loose = Some(boolean(some));
                item.terms = parts;
                item.whole = whole;
                ways
            }
            GroupKind::Run { single, pairs } => match pairs.len() {
                0 => {
                    item.terms = vec![(0, single.clone())];
                    item.name = single.clone();
                    query_of(self.word(&single, scope, false, &[]))
                }
                1 => {
                    item.terms = vec![(0, pairs[0].clone())];
                    item.name.clone_from(&pairs[0]);
                    query_of(self.word(&pairs[0], scope, false, &[]))
                }
                _ => {
                    let terms = spread(&pairs);
                    item.name = pairs.iter().filter_map(|pair| pair.chars().next()).collect();
                    item.name.extend(pairs.last().and_then(|pair| pair.chars().next_back()));
                    let some = pairs
                        .iter()
                        .map(|pair| (Occur::Should, query_of(self.word(pair, scope, false, &[]))));
                    loose = Some(boolean(some.collect()));
                    let query = self.beside(&terms, 0, scope);
                    item.terms = terms;
                    query
                }
            },
        };
        item.query = query.box_clone();
        (query, loose, item)
    }

    fn stems_of(&mut self, raw: &str, text: &str) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        for rules in &self.rules {
            let hash = quick_hash(text);
            let stem = self.stems.of(*rules, raw, text, hash).unwrap_or(text).to_owned();
            if !out.contains(&stem) {
                out.push(stem);
            }
        }
        out
    }

    /// A word in the fields it may stand in, with what it counts there.
    fn word(&mut self, word: &str, scope: Scope, stop: bool, stems: &[String]) -> WordQuery {
        let parts = self.parts(word, scope, stop, stems);
        self.word_of(parts)
    }

    fn word_of(&mut self, parts: Vec<Part>) -> WordQuery {
        let made = WordQuery::new(self.view, parts);
        self.kept(made).unwrap_or_default()
    }

    /// What was looked up; what failed is told at the end.
    fn kept<T>(&mut self, result: tantivy::Result<T>) -> Option<T> {
        result.map_err(|e| self.failure = Some(self.view.failed("look up words")(e))).ok()
    }

    fn parts(&mut self, word: &str, scope: Scope, stop: bool, stems: &[String]) -> Vec<Part> {
        let fields = &self.view.fields;
        let (title, headings, body) = (fields.title, fields.headings, fields.body);
        let (address, links, loose) = (fields.address, fields.links, fields.loose);
        let called = self.links;
        let mut out = Vec::new();
        let mut part = |field: Field, norm: Field, word: &str, (weight, b), role: Role| {
            let infos = self.lookups.of(field, word);
            if let Some(infos) = self.kept(infos).flatten() {
                let steps = field == loose;
                out.push(Part { field, infos, weight, norm, b, role, steps });
            }
        };
        match scope {
            Scope::Title => part(title, title, word, TITLE, Role::Beside),
            Scope::Address => part(address, address, word, ADDRESS, Role::Beside),
            Scope::Anywhere => {
                part(title, title, word, TITLE, Role::Beside);
                part(headings, headings, word, HEADINGS, Role::Beside);
                part(address, address, word, ADDRESS, Role::Beside);
                if called {
                    part(links, links, word, LINKS, Role::Beside);
                }
            }
        }
        if scope == Scope::Anywhere && !stop {
            // A word that is its own stem is one of the forms; any other is counted among them
            // by its stem.
            let role = if stems.iter().any(|stem| stem == word) { Role::Form } else { Role::Exact };
            part(body, body, word, BODY, role);
        }
        let form = (FORM, BODY.1);
        if !stems.is_empty() && stems.iter().all(|stem| stem != word) {
            // A piece of an identifier is there as it is.
            part(loose, body, word, form, Role::Form);
        }
        for stem in stems {
            part(loose, body, stem, form, Role::Form);
            if stem != word {
                part(body, body, stem, form, Role::Form);
                part(title, title, stem, (TITLE.0 * FORM, TITLE.1), Role::Beside);
            }
        }
        out
    }

    /// Words at these distances, in one of the fields.
    fn beside(&mut self, terms: &[(u32, String)], slop: u32, scope: Scope) -> Boxed {
        let fields = &self.view.fields;
        let body = fields.body;
        let all = [
            (fields.body, BODY.0),
            (fields.title, TITLE.0),
            (fields.headings, HEADINGS.0),
            (fields.address, ADDRESS.0),
            (fields.links, LINKS.0),
        ];
        let wanted: &[(Field, f32)] = match scope {
            Scope::Anywhere if self.links => &all,
            Scope::Anywhere => &all[..4],
            Scope::Title => &all[1..2],
            Scope::Address => &all[3..4],
        };
        let mut ways: Vec<(Occur, Boxed)> = Vec::new();
        for (field, weight) in wanted {
            let mut kept: Vec<(usize, Term)> = Vec::with_capacity(terms.len());
            let mut missing = false;
            for (offset, word) in terms {
                if *field == body && self.view.stop.holds(word) {
                    continue;
                }
                let infos = self.lookups.of(*field, word);
                missing = self.kept(infos).flatten().is_none();
                if missing {
                    break;
                }
                kept.push((*offset as usize, Term::from_field_text(*field, word)));
            }
            if missing {
                continue;
            }
            let query: Boxed = match kept.len() {
                0 => continue,
                // What is left of a phrase is not the phrase.
                1 if terms.len() > 1 => continue,
                1 => Box::new(TermQuery::new(kept[0].1.clone(), IndexRecordOption::WithFreqs)),
                _ => Box::new(PhraseQuery::new_with_offset_and_slop(kept, slop)),
            };
            ways.push((Occur::Should, Box::new(BoostQuery::new(query, *weight))));
        }
        boolean(ways)
    }

    fn phrase(&mut self, text: &str, slop: u32, scope: Scope) -> Boxed {
        let groups = self.groups(text);
        if groups.len() == 1 && slop == 0 {
            // One word in quotation marks: that word, and no other form of it.
            let rules = std::mem::take(&mut self.rules);
            let (query, _, item) =
                self.group(groups.into_iter().next().expect("there is one"), scope);
            self.rules = rules;
            let query: Boxed = match item.terms.len() {
                0 | 1 => query,
                _ => self.beside(&item.terms, 0, scope),
            };
            self.items.push(item);
            return query;
        }
        let first = groups.first().map_or(0, |group| group.position);
        let mut terms: Vec<(u32, String)> = Vec::new();
        let mut name = Vec::new();
        for group in groups {
            let offset = group.position - first;
            match group.kind {
                GroupKind::Word { text, .. } => terms.push((offset, text)),
                GroupKind::Compound { parts, .. } => {
                    terms.extend(parts.into_iter().map(|(o, part)| (offset + o, part)));
                }
                GroupKind::Run { single, pairs } if pairs.is_empty() => {
                    terms.push((offset, single));
                }
                GroupKind::Run { pairs, .. } => {
                    terms.extend(spread(&pairs).into_iter().map(|(o, pair)| (offset + o, pair)));
                }
            }
        }
        name.extend(terms.iter().map(|(_, word)| word.clone()));
        let meant = terms.iter().filter(|(_, word)| !self.view.stop.holds(word)).count();
        let query = self.beside(&terms, slop, scope);
        let query = if meant == 1 && terms.len() > 1 && scope == Scope::Anywhere {
            // With stop words left out of bodies, the word is what can be told there.
            let word = terms.iter().find(|(_, word)| !self.view.stop.holds(word));
            let body = word.map(|(_, word)| Term::from_field_text(self.view.fields.body, word));
            let body = body.map(|term| TermQuery::new(term, IndexRecordOption::WithFreqs));
            let body = body.map(|query| (Occur::Should, Box::new(query) as Boxed));
            boolean(body.into_iter().chain([(Occur::Should, query)]).collect())
        } else {
            query
        };
        self.items.push(Item {
            name: format!("\"{}\"", name.join(" ")),
            terms: terms.into_iter().filter(|(_, w)| !self.view.stop.holds(w)).collect(),
            stems: Vec::new(),
            whole: None,
            prefix: None,
            near: None,
            position: first,
            scope,
            stop: false,
            query: query.box_clone(),
        });
        query
    }

    /// Pieces of a URL as they stand in one: split where the index splits it, and as far apart.
    fn in_address(&mut self, text: &str) -> Boxed {
        let readable = text.split_once("://").map_or(text, |(_, rest)| rest);
        let mut terms: Vec<(u32, String)> = Vec::new();
        let mut end: Option<u32> = None;
        for piece in address_pieces(readable) {
            let base = end.map_or(0, |end| end + GAP);
            self.walk.tokens(piece, |token| {
                let at = base + token.position;
                if !token.text.is_empty() {
                    end = Some(end.unwrap_or(0).max(at));
                    if matches!(token.form, Form::Word | Form::Single) {
                        terms.push((at, token.text.to_owned()));
                    }
                }
                true
            });
        }
        let first = terms.first().map_or(0, |(at, _)| *at);
        terms.iter_mut().for_each(|(at, _)| *at -= first);
        let query = match &terms[..] {
            [] => Box::new(EmptyQuery),
            [(_, word)] => query_of(self.word(word, Scope::Address, false, &[])),
            _ => self.beside(&terms, 0, Scope::Address),
        };
        self.position += 1;
        self.items.push(Item {
            name: text.to_owned(),
            terms,
            stems: Vec::new(),
            whole: None,
            prefix: None,
            near: None,
            position: self.position,
            scope: Scope::Address,
            stop: false,
            query: query.box_clone(),
        });
        query
    }

    fn scoped(&self, scope: Scope) -> Vec<Field> {
        let fields = &self.view.fields;
        match scope {
            Scope::Anywhere => {
                let mut all = vec![fields.body, fields.title, fields.headings, fields.address];
                all.extend(self.links.then_some(fields.links));
                all
            }
            Scope::Title => vec![fields.title],
            Scope::Address => vec![fields.address],
        }
    }

    /// Words that are like one, in each of the fields.
    fn wide(&self, text: &str, like: Like, scope: Scope) -> Vec<(Occur, Boxed)> {
        let query = |field| {
            let (text, clock) = (text.to_owned(), self.clock.clone());
            (Occur::Should, Box::new(WideQuery { field, text, like, clock }) as Boxed)
        };
        self.scoped(scope).into_iter().map(query).collect()
    }

    fn prefix(&mut self, text: &str, scope: Scope) -> Boxed {
        let text = folded(text);
        let mut ways = self.wide(&text, Like::Prefix, scope);
        ways.push((Occur::Should, query_of(self.word(&text, scope, false, &[]))));
        let query = boolean(ways);
        self.other(text.clone() + "*", Some(text), None, scope, &query);
        query
    }

    fn near(&mut self, text: &str, distance: u8, scope: Scope) -> Boxed {
        let text = folded(text);
        let mut ways = self.wide(&text, Like::Near(distance), scope);
        ways.push((Occur::Should, query_of(self.word(&text, scope, false, &[]))));
        let query = boolean(ways);
        self.other(format!("{text}~{distance}"), None, Some((text, distance)), scope, &query);
        query
    }

    fn other(
        &mut self,
        name: String,
        prefix: Option<String>,
        near: Option<(String, u8)>,
        scope: Scope,
        query: &Boxed,
    ) {
        self.position += 1;
        self.items.push(Item {
            name,
            terms: Vec::new(),
            stems: Vec::new(),
            whole: None,
            prefix,
            near,
            position: self.position,
            scope,
            stop: false,
            query: query.box_clone(),
        });
    }
}

/// Every second pair is enough to tell a run of characters, and the last.
fn spread(pairs: &[String]) -> Vec<(u32, String)> {
    let last = pairs.len() - 1;
    let kept = (0..pairs.len()).filter(|n| n % 2 == 0 || *n == last);
    kept.map(|n| (n as u32, pairs[n].clone())).collect()
}

/// A word, or nothing where no document holds it.
fn query_of(word: WordQuery) -> Boxed {
    if word.is_empty() { Box::new(EmptyQuery) } else { Box::new(word) }
}

/// Words as they stand in a query: strict, loose where that is something else, whether stop words.
type Asked = (Boxed, Option<Boxed>, bool);

/// Some of several words, where they are nothing but words.
fn some_of(words: &[Asked]) -> Option<Boxed> {
    let mut out = Vec::with_capacity(words.len());
    for (strict, loose, _) in words.iter().filter(|(strict, ..)| !is_empty(strict)) {
        let share = match loose {
            None => 1.0,
            // What questions are made of; anything else is put together from more.
            Some(loose) if loose.is::<BoostQuery>() => WEAK,
            Some(_) => return None,
        };
        out.push((strict.downcast_ref::<WordQuery>()?.clone(), share));
    }
    Some(if out.is_empty() { Box::new(EmptyQuery) } else { Box::new(SomeQuery { words: out }) })
}

/// Whether a query is known to find nothing.
fn is_empty(query: &Boxed) -> bool {
    query.is::<EmptyQuery>()
}

/// Clauses as one query; what cannot find anything is left out, or leaves nothing.
pub(super) fn boolean(mut clauses: Vec<(Occur, Boxed)>) -> Boxed {
    if clauses.iter().any(|(occur, query)| *occur == Occur::Must && is_empty(query)) {
        return Box::new(EmptyQuery);
    }
    clauses.retain(|(_, query)| !is_empty(query));
    for (_, query) in clauses.iter_mut().filter(|(occur, _)| *occur == Occur::MustNot) {
        *query = Box::new(Apart(query.box_clone()));
    }
    if clauses.iter().all(|(occur, _)| *occur == Occur::MustNot) {
        return Box::new(EmptyQuery);
    }
    if clauses.len() == 1 && clauses[0].0 != Occur::MustNot {
        return clauses.pop().expect("there is one").1;
    }
    if clauses.is_empty() { Box::new(EmptyQuery) } else { Box::new(BooleanQuery::new(clauses)) }
}

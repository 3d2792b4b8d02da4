//! Damage done on purpose is found, each kind by its own words.

use crate::support::{Opened, Place, order, served, settings};
use argiope_archive::{text_segment_name, warc_segment_name};
use argiope_crawl::{Verified, verify};
use argiope_model::Location;
use argiope_testweb::WebSpec;
use std::fs;
use std::path::PathBuf;

/// A crawled directory, and how to damage it.
struct Patient {
    opened: Opened,
    warc: PathBuf,
    text: PathBuf,
    records: Vec<Location>,
    texts: Vec<Location>,
    _place: Place,
}

impl Patient {
    async fn new() -> Self {
        let web =
            WebSpec { sites: 1, pages_per_site: 60, mean_page_bytes: 2000, ..WebSpec::demo() };
        let served = served(web).await;
        let place = Place::new();
        place.crawl(settings(), order(&served.bases())).await;
        let opened = place.open();
        let captures: Vec<_> =
            opened.all().iter().flat_map(|(k, _)| opened.store.captures(*k).unwrap()).collect();
        let mut records: Vec<Location> = captures.iter().filter_map(|c| c.record).collect();
        let mut texts: Vec<Location> = captures.iter().filter_map(|c| c.text).collect();
        records.sort_by_key(|at| at.offset);
        texts.sort_by_key(|at| at.offset);
        assert!(captures.iter().any(|c| c.revisit), "revisits are part of it");
        let warc = opened.dir.warc().join(warc_segment_name(1));
        let text = opened.dir.text().join(text_segment_name(1));
        Patient { opened, warc, text, records, texts, _place: place }
    }

    fn verify(&self) -> Verified {
        verify(&self.opened.dir, &*self.opened.store, &Default::default(), |_| {})
            .expect("a report")
    }

    /// Damages a file, looks, and heals it again.
    fn after(&self, file: &PathBuf, damage: impl FnOnce(&mut Vec<u8>)) -> Verified {
        let whole = fs::read(file).unwrap();
        let mut bytes = whole.clone();
        damage(&mut bytes);
        fs::write(file, bytes).unwrap();
        let verified = self.verify();
        fs::write(file, whole).unwrap();
        verified
    }
}

fn says(verified: &Verified, words: &str) -> bool {
    verified.problems.iter().any(|p| p.problem.contains(words))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_kind_of_damage_is_found_and_a_whole_archive_is_clean() {
    let patient = Patient::new().await;
    let clean = patient.verify();
    assert_eq!(clean.problem_count, 0, "{:?}", clean.problems);
    assert!(clean.records as usize > patient.records.len() && clean.texts > 50);

    // One bit, anywhere in a record: its magic, its middle, its checksum.
    let at = patient.records[20];
    for place in [0, 1, at.length / 2, at.length - 6] {
        let flipped = patient.after(&patient.warc, |b| b[(at.offset + place) as usize] ^= 4);
        assert!(flipped.problem_count > 0, "byte {place} of {}", at.length);
    }
    // The same in every text that is stored.
    for at in &patient.texts[..10] {
        for place in [0, at.length / 2, at.length - 1] {
            let flipped = patient.after(&patient.text, |b| b[(at.offset + place) as usize] ^= 4);
            assert!(says(&flipped, "text cannot be read"), "byte {place} of {}", at.length);
        }
    }
    let short = patient.after(&patient.warc, |b| b.truncate(b.len() / 2));
    assert!(says(&short, "committed bytes are there") && says(&short, "leads to no record"));
    let short = patient.after(&patient.text, |b| b.truncate(b.len() / 2));
    assert!(says(&short, "text cannot be read"));

    // Two neighbours change places.
    let [first, second] = [patient.records[10], patient.records[11]];
    let swapped = patient.after(&patient.warc, |bytes| {
        let (start, middle) = (first.offset as usize, second.offset as usize);
        let end = middle + second.length as usize;
        bytes[start..end].rotate_left(middle - start);
    });
    assert!(swapped.problem_count >= 2, "{:?}", swapped.problems);

    // A record twice, and a record too few.
    let at = patient.records[5];
    let range = at.offset as usize..(at.offset + at.length) as usize;
    let gone = patient.after(&patient.warc, |bytes| drop(bytes.drain(range.clone())));
    assert!(says(&gone, "leads to no record"));
    let zeros = patient.after(&patient.warc, |bytes| bytes[range].fill(0));
    assert!(says(&zeros, "leads to no record"));

    let clean = patient.verify();
    assert_eq!(clean.problem_count, 0, "healed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn missing_files_are_found_and_torn_tails_are_no_damage() {
    let patient = Patient::new().await;
    let torn = patient.after(&patient.warc, |bytes| bytes.extend(b"half a record"));
    assert_eq!(torn.problem_count, 0, "the next crawl cuts it: {:?}", torn.problems);
    for file in [&patient.warc, &patient.text] {
        let away = file.with_extension("away");
        fs::rename(file, &away).unwrap();
        let verified = patient.verify();
        fs::rename(&away, file).unwrap();
        assert!(verified.problem_count > 50, "{file:?}");
    }
}

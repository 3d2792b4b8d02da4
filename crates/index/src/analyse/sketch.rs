//! A sketch of a text: pages with nearly the same words have nearly the same sketch.
//!
//! Six bytes are minima of hashes of three words each, taken from six sixths of all hashes; two
//! bytes are a hash of the title, because pages of one site may share nearly all their words and
//! still be different pages. Two sketches are alike when the titles are and at most one of the
//! six differs.

/// The sketch of a text while it is read.
#[derive(Default)]
pub(crate) struct Sketch {
    minima: [u64; 6],
    last: [u64; 2],
    words: u64,
}

impl Sketch {
    /// Takes the next word by its hash.
    #[inline]
    pub fn word(&mut self, hash: u64) {
        let [before, last] = self.last;
        self.last = [last, hash];
        self.words += 1;
        if self.words < 3 {
            return;
        }
        let three = before.rotate_left(23) ^ last.rotate_left(11) ^ hash;
        // Kept inverted, so that the minimum of nothing is zero.
        let mixed = three.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let value = (mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        let bucket = ((u128::from(mixed) * 6) >> 64) as usize;
        self.minima[bucket] = self.minima[bucket].max(value);
    }

    /// The sketch; 0 when there is too little text to be like another.
    pub fn finish(self, title: u64) -> u64 {
        if self.words < 16 {
            return 0;
        }
        let mut bytes = [0; 8];
        for (byte, minimum) in bytes.iter_mut().zip(self.minima) {
            *byte = (minimum.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8;
        }
        bytes[6..].copy_from_slice(&(title as u16).to_le_bytes());
        u64::from_le_bytes(bytes).max(1)
    }
}

/// Whether two sketches are of nearly the same page.
pub(crate) fn alike(a: u64, b: u64) -> bool {
    if a == 0 || b == 0 {
        return false;
    }
    let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
    a[6..] == b[6..] && a[..6].iter().zip(&b[..6]).filter(|(a, b)| a != b).count() <= 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use xxhash_rust::xxh3::xxh3_64;

    fn sketch(words: impl Iterator<Item = u64>, title: u64) -> u64 {
        let mut sketch = Sketch::default();
        words.for_each(|word| sketch.word(xxh3_64(&word.to_le_bytes())));
        sketch.finish(title)
    }

    #[test]
    fn a_page_with_a_word_changed_is_alike_and_another_page_is_not() {
        let alike_of = |changed: u64| {
            let other = sketch((0..1000).map(|n| if n == changed { 9999 } else { n }), 7);
            alike(sketch(0..1000, 7), other)
        };
        let many = (0..1000).filter(|n| alike_of(*n)).count();
        assert!(many > 990, "{many} of 1000");
        assert!(!alike(sketch(0..1000, 7), sketch(1000..2000, 7)));
        assert!(!alike(sketch(0..1000, 7), sketch(0..1000, 8)), "another title");
        assert!(!alike(sketch(0..1000, 7), sketch((0..700).chain(2000..2300), 7)));
        assert!(!alike(sketch(0..3, 7), sketch(0..3, 7)), "too short to tell");
    }
}

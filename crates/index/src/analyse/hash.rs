//! A quick hash of short words, for tables. Equal on every machine; not for keys
//! that anybody else sees (those are `WordId`).

const K: u64 = 0x9E37_79B9_7F4A_7C15;

/// The hash of a word.
#[inline]
pub(crate) fn quick_hash(word: &str) -> u64 {
    let bytes = word.as_bytes();
    let mut hash = (bytes.len() as u64).wrapping_mul(K);
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let mut eight = [0; 8];
        eight.copy_from_slice(chunk);
        hash = mix(hash ^ u64::from_le_bytes(eight));
    }
    let rest = chunks.remainder();
    if !rest.is_empty() {
        let mut tail = 0u64;
        for &byte in rest {
            tail = tail << 8 | u64::from(byte);
        }
        hash = mix(hash ^ tail);
    }
    hash ^ (hash >> 29).wrapping_mul(K)
}

#[inline]
fn mix(value: u64) -> u64 {
    let wide = u128::from(value ^ K) * u128::from(K);
    (wide as u64) ^ (wide >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::quick_hash;
    use std::collections::HashSet;

    #[test]
    fn words_that_differ_differ_in_all_bits() {
        let words: Vec<String> = (0..100_000).map(|n| format!("w{n:x}ord")).collect();
        for shift in [0, 24, 48] {
            let hashes: HashSet<u64> =
                words.iter().map(|w| quick_hash(w) >> shift & 0xffff).collect();
            assert!(hashes.len() > 45_000, "bits from {shift} on: {}", hashes.len());
        }
        let hashes: HashSet<u64> = words.iter().map(|w| quick_hash(w)).collect();
        assert_eq!(hashes.len(), words.len());
        assert_eq!(quick_hash("spider"), quick_hash("spider"));
        assert_ne!(quick_hash("ab"), quick_hash("ba"));
    }
}

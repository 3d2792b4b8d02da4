//! Numbers of seven bits a byte, least first.

/// Appends a number.
pub(crate) fn put(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

/// Reads a number at `at` and moves on; `None` where the bytes end first.
#[inline]
pub(crate) fn get(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let first = *bytes.get(*at)?;
    *at += 1;
    if first < 0x80 {
        return Some(u64::from(first));
    }
    let mut n = u64::from(first & 0x7f);
    for shift in (7..64).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        n |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(n);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_and_what_is_cut_is_none() {
        for n in [0, 1, 127, 128, 300, 1 << 32, (1 << 52) - 1, u64::MAX] {
            let mut out = Vec::new();
            put(&mut out, n);
            let mut at = 0;
            assert_eq!((get(&out, &mut at), at), (Some(n), out.len()));
            assert_eq!(get(&out[..out.len() - 1], &mut 0), None);
        }
        assert_eq!(get(&[0x80; 20], &mut 0), None);
    }
}

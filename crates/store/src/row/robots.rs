//! Robots files as rows: the version, what was answered, the file. The file is packed where
//! that is worth it.

use super::{VERSION, damaged, versioned};
use crate::StoreError;
use argiope_frontier::RobotsFile;
use argiope_model::{FetchOutcome, Time};
use serde::{Deserialize, Serialize};

const WHAT: &str = "robots files";

/// Shorter files are kept as they are.
const WORTH_PACKING: usize = 256;
/// More than this is not a robots file but damage.
const LONGEST: u32 = 64 << 20;

#[derive(Serialize, Deserialize)]
struct Head {
    asked: Time,
    until: Time,
    outcome: FetchOutcome,
    /// Its length, where the file that follows is packed.
    unpacked: Option<u32>,
}

pub(crate) fn encode_robots(file: &RobotsFile) -> Vec<u8> {
    let length = u32::try_from(file.body.len()).ok().filter(|n| *n <= LONGEST);
    let unpacked = length.filter(|_| file.body.len() > WORTH_PACKING);
    let (asked, until, outcome) = (file.asked, file.until, file.outcome.clone());
    let head = Head { asked, until, outcome, unpacked };
    let mut out = postcard::to_extend(&head, vec![VERSION]).expect("writing to memory cannot fail");
    if unpacked.is_some() {
        out.extend(zstd::bulk::compress(&file.body, 3).expect("compressing in memory cannot fail"));
    } else {
        out.extend_from_slice(&file.body);
    }
    out
}

pub(crate) fn decode_robots(bytes: &[u8]) -> Result<RobotsFile, StoreError> {
    let (_, row) = versioned(WHAT, bytes)?;
    let (head, rest) = postcard::take_from_bytes::<Head>(row).map_err(|e| damaged(WHAT, e))?;
    let body = match head.unpacked {
        Some(length) if length > LONGEST => return Err(damaged(WHAT, "too long")),
        Some(length) => {
            let body = zstd::bulk::decompress(rest, length as usize);
            body.map_err(|e| damaged(WHAT, e))?
        }
        None => rest.to_vec(),
    };
    Ok(RobotsFile { asked: head.asked, until: head.until, outcome: head.outcome, body })
}

#[cfg(test)]
mod tests {
    use super::*;
    use argiope_model::OutcomeKind;

    #[test]
    fn files_of_any_length_survive_and_damage_is_told() {
        for length in [0, 1, WORTH_PACKING, WORTH_PACKING + 1, 500_000] {
            let body: Vec<u8> = b"Disallow: /x\n".iter().copied().cycle().take(length).collect();
            let outcome = FetchOutcome::new(OutcomeKind::Fetched, 200);
            let file = RobotsFile { asked: Time(1), until: Time(2), outcome, body };
            let row = encode_robots(&file);
            assert_eq!(decode_robots(&row).unwrap(), file, "of {length} bytes");
            assert!(row.len() < 2 * WORTH_PACKING, "{length} bytes are packed");
            if length > WORTH_PACKING {
                assert!(decode_robots(&row[..row.len() - 1]).is_err());
            }
        }
        assert!(decode_robots(&[]).is_err());
        assert!(decode_robots(&[VERSION, 1]).is_err());
        assert!(decode_robots(&[VERSION + 1]).unwrap_err().to_string().contains("newer"));
    }
}

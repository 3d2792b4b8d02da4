//! Slots of addresses that serve several hosts: two workers do not ask one machine at once.
//!
//! An address is asked at most once in a gap. Who wants to ask takes the next slot, in one
//! statement, by the clock of the database; it waits until then by its own.

use super::PostgresStore;
use super::link::call;
use crate::StoreError;
use argiope_model::PARTITIONS;
use std::net::IpAddr;
use std::time::Duration;

const RESERVE: &str = "INSERT INTO addresses (part, address, next)
    SELECT a.part, a.address, clock_timestamp() + a.gap * interval '1 millisecond'
    FROM unnest($1::smallint[], $2::text[], $3::bigint[]) AS a(part, address, gap)
    ON CONFLICT (part, address) DO UPDATE SET next = greatest(addresses.next, clock_timestamp())
        + (excluded.next - clock_timestamp())
    RETURNING address, (extract(epoch FROM next - clock_timestamp()) * 1000)::bigint";
const CLEAR: &str = "DELETE FROM addresses
    WHERE next < clock_timestamp() - $1::bigint * interval '1 millisecond'";

/// The partition that an address lies in.
fn part_of(address: &str) -> i16 {
    let sum = address.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    ((sum >> 32) % u64::from(PARTITIONS)) as i16
}

impl PostgresStore {
    /// Takes the next slot of each of these addresses, all different, and keeps it for so long; says
    /// how long to wait for it, counted from when this was asked.
    pub fn reserve(&self, addresses: &[(IpAddr, Duration)]) -> Result<Vec<Duration>, StoreError> {
        // In one order for all, so that nobody waits for who waits for him.
        let mut names: Vec<(i16, String, Duration)> = addresses
            .iter()
            .map(|(ip, gap)| {
                let name = ip.to_string();
                (part_of(&name), name, *gap)
            })
            .collect();
        names.sort();
        let parts: Vec<i16> = names.iter().map(|(part, ..)| *part).collect();
        let gaps: Vec<i64> = names.iter().map(|(.., gap)| gap.as_millis() as i64).collect();
        let texts: Vec<String> = names.iter().map(|(_, name, _)| name.clone()).collect();
        let call = call!(RESERVE, parts, texts, gaps);
        let answers = self.leases.run("take a slot of an address", vec![call])?;
        let rows = answers.first().map_or(&[][..], |rows| rows.as_slice());
        let end_of = |name: &str| {
            let row = rows.iter().find(|row| row.get::<_, &str>(0) == name);
            row.map_or(0, |row| row.get::<_, i64>(1))
        };
        let wait = |(ip, gap): &(IpAddr, Duration)| {
            // The slot begins a gap before the next.
            let wait = end_of(&ip.to_string()) - gap.as_millis() as i64;
            Duration::from_millis(wait.max(0) as u64)
        };
        Ok(addresses.iter().map(wait).collect())
    }

    /// Forgets addresses that nobody has asked for so long.
    pub fn clear_addresses(&self, unused: Duration) -> Result<(), StoreError> {
        let call = call!(CLEAR, unused.as_millis() as i64);
        self.leases.run("forget addresses", vec![call]).map(|_| ())
    }
}

//! What was told and what was forgotten: what a memory must hold, may hold and must not hold.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, ensure};
use serde_json::{Value, json};

/// Observations of a batch.
pub const ITEMS: u32 = 8;

/// What is forgotten of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forgotten {
    /// All of it, by its time.
    Span,
    /// What its owner is named in: the even items.
    Owner,
}

impl Forgotten {
    fn hits(self, item: u32) -> bool {
        self == Self::Span || item.is_multiple_of(2)
    }

    /// The body of `cmd/forget`.
    pub fn body(self, batch: u32) -> Value {
        match self {
            Self::Span => json!({"since": at(batch, 0), "until": at(batch, 1)}),
            Self::Owner => json!({"entity": owner(batch)}),
        }
    }
}

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestFate {
    /// Nobody knows.
    Open,
    /// It was acknowledged.
    Done,
}

#[derive(Debug)]
struct Batch {
    fate: RequestFate,
    forgotten: Option<(Forgotten, RequestFate)>,
}

/// All batches by their number.
#[derive(Debug, Default)]
pub struct Ledger {
    batches: BTreeMap<u32, Batch>,
}

/// Time of a batch: every thirty seconds, with a longer break after every tenth, so that episodes begin and end.
fn at(batch: u32, second: u32) -> String {
    let seconds = 1_793_491_200 + i64::from(batch) * 30 + i64::from(batch / 10) * 600 + i64::from(second);
    jiff::Timestamp::from_second(seconds).expect("within a year").to_string()
}

fn owner(batch: u32) -> String {
    format!("Owner{batch}")
}

/// The sender's id of an item.
fn id(batch: u32, item: u32) -> String {
    format!("k{batch}-{item}")
}

/// The observations of a batch.
pub fn body(batch: u32) -> Value {
    let item = |item: u32| {
        let label = format!("kq{batch}x{item}y");
        let (text, entity) = match item % 2 {
            0 => {
                (format!("{} keeps {item} cans of paint on shelf {batch}, label {label}.", owner(batch)), owner(batch))
            }
            _ => (format!("Shelf {batch} holds {item} brushes, label {label}."), format!("Shelf {batch}")),
        };
        json!({"id": id(batch, item), "source": "crash", "kind": "state", "text": text, "entity": entity, "at": at(batch, 0)})
    };
    (0..ITEMS).map(item).collect()
}

/// The filter of `cmd/list` for the batches from `first` on.
pub fn filter(first: u32) -> Value {
    json!({"since": at(first, 0)})
}

impl Ledger {
    /// The number of the next batch.
    pub fn next(&self) -> u32 {
        self.batches.len() as u32
    }

    /// A batch was sent.
    pub fn sent(&mut self, batch: u32) {
        self.batches.insert(batch, Batch { fate: RequestFate::Open, forgotten: None });
    }

    fn batch(&mut self, batch: u32) -> &mut Batch {
        self.batches.get_mut(&batch).expect("only what was sent is spoken of")
    }

    /// The reply to a batch came.
    ///
    /// # Errors
    /// If something of it was refused that nobody wanted to be forgotten.
    pub fn replied(&mut self, number: u32, reply: &Value) -> Result<()> {
        let durable = reply["accepted"].as_u64().unwrap_or(0) + reply["duplicates"].as_u64().unwrap_or(0);
        let batch = self.batch(number);
        // What is delivered again after it was forgotten is refused.
        let refused =
            if batch.forgotten.is_some() { reply["rejected"].as_array().map_or(0, Vec::len) as u64 } else { 0 };
        ensure!(durable + refused == u64::from(ITEMS), "batch {number} was refused: {reply}");
        batch.fate = RequestFate::Done;
        Ok(())
    }

    /// Batches from `first` on that were accepted and of which nothing was forgotten.
    pub fn forgettable(&self, first: u32) -> Vec<u32> {
        let of = self.batches.range(first..);
        of.filter(|(_, batch)| batch.fate == RequestFate::Done && batch.forgotten.is_none())
            .map(|(number, _)| *number)
            .collect()
    }

    /// Something of a batch is to be forgotten.
    pub fn forget(&mut self, batch: u32, what: Forgotten) {
        self.batch(batch).forgotten = Some((what, RequestFate::Open));
    }

    /// It was acknowledged that it is forgotten.
    pub fn forgot(&mut self, batch: u32) {
        if let Some((_, fate)) = &mut self.batch(batch).forgotten {
            *fate = RequestFate::Done;
        }
    }

    /// The first batch from `first` on of which something is not acknowledged yet.
    pub fn open_from(&self, first: u32) -> u32 {
        let mut of = self.batches.range(first..);
        let open = |batch: &Batch| {
            batch.fate == RequestFate::Open
                || batch.forgotten.is_some_and(|(_, forgotten)| forgotten == RequestFate::Open)
        };
        of.find(|(_, batch)| open(batch)).map_or(self.next(), |(number, _)| *number)
    }

    /// Compares batches from `first` on with what is remembered.
    ///
    /// # Errors
    /// If something acknowledged is lost, or something forgotten is back.
    pub fn verify(&self, first: u32, found: &BTreeSet<String>) -> Result<()> {
        for (&number, batch) in self.batches.range(first..) {
            for item in 0..ITEMS {
                let there = found.contains(&id(number, item));
                let forgotten = batch.forgotten.filter(|(what, _)| what.hits(item)).map(|(_, fate)| fate);
                ensure!(
                    there || batch.fate == RequestFate::Open || forgotten.is_some(),
                    "{} was acknowledged and is lost",
                    id(number, item)
                );
                ensure!(
                    !there || forgotten != Some(RequestFate::Done),
                    "{} was forgotten and is back",
                    id(number, item)
                );
            }
        }
        Ok(())
    }

    /// All that must be there when every request has been carried out.
    pub fn at_the_end(&self) -> BTreeSet<String> {
        let left = |batch: &Batch, item| batch.forgotten.is_none_or(|(what, _)| !what.hits(item));
        let items = |(number, batch): (&u32, &Batch)| -> Vec<String> {
            (0..ITEMS).filter(|item| left(batch, *item)).map(|item| id(*number, item)).collect()
        };
        self.batches.iter().flat_map(items).collect()
    }

    /// Finds the label of something forgotten in the bytes of a file.
    pub fn forgotten_label(&self, bytes: &[u8]) -> Option<String> {
        let digits = |bytes: &[u8]| -> Option<(u32, usize)> {
            let length = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count().min(9);
            Some((std::str::from_utf8(&bytes[..length]).ok()?.parse().ok()?, length))
        };
        bytes.windows(2).enumerate().filter(|(_, two)| two == b"kq").find_map(|(place, _)| {
            let rest = &bytes[place + 2..];
            let (number, length) = digits(rest)?;
            let rest = rest[length..].strip_prefix(b"x")?;
            let (item, length) = digits(rest)?;
            rest[length..].strip_prefix(b"y")?;
            let (what, _) = self.batches.get(&number)?.forgotten?;
            what.hits(item).then(|| format!("kq{number}x{item}y"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was told of batch 0 and batch 1, both acknowledged; of the second its owner's items were forgotten.
    fn two_batches() -> (Ledger, BTreeSet<String>) {
        let mut ledger = Ledger::default();
        for batch in 0..2 {
            ledger.sent(batch);
            ledger.replied(batch, &json!({"accepted": ITEMS})).unwrap();
        }
        ledger.forget(1, Forgotten::Owner);
        let left = ledger.at_the_end();
        (ledger, left)
    }

    #[test]
    fn a_lost_observation_and_one_that_is_back_are_noticed() {
        let (mut ledger, left) = two_batches();
        assert_eq!(left.len(), 12);
        ledger.verify(0, &left).unwrap();
        let without = |id: &str| left.iter().filter(|other| *other != id).cloned().collect();
        assert!(ledger.verify(0, &without("k0-3")).is_err(), "it was acknowledged");
        assert!(ledger.verify(1, &without("k0-3")).is_ok(), "it is not looked at");

        let with = left.iter().cloned().chain(["k1-2".to_owned()]).collect();
        ledger.verify(0, &with).unwrap();
        assert_eq!(ledger.open_from(0), 1);
        ledger.forgot(1);
        assert!(ledger.verify(0, &with).is_err(), "that it is forgotten was acknowledged");
        assert_eq!(ledger.open_from(0), 2);
        assert!(
            ledger.replied(0, &json!({"accepted": 7, "rejected": [{}]})).is_err(),
            "nobody wanted it to be forgotten"
        );
    }

    #[test]
    fn the_label_of_something_forgotten_is_found_among_bytes() {
        let (ledger, _) = two_batches();
        assert_eq!(ledger.forgotten_label(b"\0label kq1x3y, kq0x2y, kq1x, kq"), None);
        assert_eq!(ledger.forgotten_label(b"kq0x2y\xffkq1x4y."), Some("kq1x4y".to_owned()));
    }
}

//! BIDE: is a prefix closed, and can anything below it be?
//!
//! A pattern is not closed exactly if one item can be put in at some place without losing a sequence: at the end (an item
//! that follows in all), or before its i-th item (an item that all have in the i-th *maximum period*, between the end of
//! the first instance of what comes before and the last place where the i-th item can be). If an item lies in all i-th
//! *semi-maximum periods* (up to the last such place within the first instance), no extension of the prefix is closed.

pub(super) struct Extensions {
    /// Per item: in how many slices it was met, counted from the first one without a miss.
    met: Vec<u32>,
    touched: Vec<u32>,
}

impl Extensions {
    pub fn new(items: usize) -> Self {
        Self { met: vec![0; items], touched: Vec::new() }
    }

    /// Whether no item can be put in without losing a sequence. `ends`: the end of the first instance in each sequence.
    pub fn is_closed(&mut self, prefix: &[u32], sequences: &[&[u32]], ends: &[(u32, u32)]) -> bool {
        let follows = sequences.iter().zip(ends).map(|(sequence, (_, end))| &sequence[*end as usize..]);
        if self.shared(follows) {
            return false;
        }
        !self.any_period(prefix, sequences, |prefix, sequence, latest| {
            latest_places(prefix, sequence, sequence.len(), latest);
        })
    }

    /// Whether nothing that begins with the prefix is closed.
    pub fn prunes(&mut self, prefix: &[u32], sequences: &[&[u32]]) -> bool {
        self.any_period(prefix, sequences, |prefix, sequence, latest| {
            let mut end = 0;
            for item in prefix {
                end += sequence[end..].iter().position(|met| met == item).map_or(0, |at| at + 1);
            }
            latest_places(prefix, sequence, end, latest);
        })
    }

    /// Whether for some i an item lies in the i-th period of every sequence; `places` gives where each item of the prefix
    /// ends the period before it.
    fn any_period(
        &mut self,
        prefix: &[u32],
        sequences: &[&[u32]],
        places: impl Fn(&[u32], &[u32], &mut Vec<usize>),
    ) -> bool {
        let length = prefix.len();
        let mut periods: Vec<(usize, usize)> = Vec::with_capacity(length * sequences.len());
        let mut latest = Vec::with_capacity(length);
        for sequence in sequences {
            places(prefix, sequence, &mut latest);
            let mut start = 0;
            for (at, item) in prefix.iter().enumerate() {
                periods.push((start, latest[at].max(start)));
                start += sequence[start..].iter().position(|met| met == item).map_or(0, |at| at + 1);
            }
        }
        (0..length).any(|at| {
            let slices = sequences.iter().enumerate().map(|(number, sequence)| {
                let (start, end) = periods[number * length + at];
                &sequence[start..end]
            });
            self.shared(slices)
        })
    }

    /// Whether some item lies in every slice.
    fn shared<'a>(&mut self, slices: impl Iterator<Item = &'a [u32]>) -> bool {
        let mut shared = false;
        for (number, slice) in slices.enumerate() {
            let number = number as u32;
            shared = false;
            for item in slice {
                let met = &mut self.met[*item as usize];
                if *met == number {
                    if number == 0 {
                        self.touched.push(*item);
                    }
                    *met = number + 1;
                }
                shared |= *met == number + 1;
            }
            if !shared {
                break;
            }
        }
        for item in self.touched.drain(..) {
            self.met[item as usize] = 0;
        }
        shared
    }
}

/// The last place of each item of `prefix` such that the rest of it still fits before `end`.
fn latest_places(prefix: &[u32], sequence: &[u32], end: usize, latest: &mut Vec<usize>) {
    latest.clear();
    latest.resize(prefix.len(), 0);
    let mut end = end;
    for (at, item) in prefix.iter().enumerate().rev() {
        end = sequence[..end].iter().rposition(|met| met == item).unwrap_or(0);
        latest[at] = end;
    }
}

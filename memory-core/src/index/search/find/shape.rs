//! Words in their order: runs, and runs near each other.

use std::ops::Range;

/// A pattern over terms that have numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shape {
    /// Terms next to each other.
    Run(Vec<usize>),
    /// Two runs without a common place, at most so many places apart.
    Near(Vec<usize>, Vec<usize>, usize),
}

impl Shape {
    /// The numbers in it.
    pub fn terms(&self) -> impl Iterator<Item = usize> {
        let (first, second): (&[usize], &[usize]) = match self {
            Self::Run(run) => (run, &[]),
            Self::Near(first, second, _) => (first, second),
        };
        first.iter().chain(second).copied()
    }

    /// The term, if the pattern is a single one.
    pub fn single(&self) -> Option<usize> {
        match self {
            Self::Run(run) if run.len() == 1 => run.first().copied(),
            _ => None,
        }
    }

    /// Whether terms hold the pattern.
    pub fn is_in(&self, held: &[Option<usize>]) -> bool {
        match self {
            Self::Run(run) => starts(run, held).next().is_some(),
            Self::Near(first, second, within) => near(first, second, *within, held).next().is_some(),
        }
    }

    /// Returns the positions at which terms match the pattern.
    pub fn places(&self, held: &[Option<usize>]) -> Vec<Range<usize>> {
        match self {
            Self::Run(run) => starts(run, held).map(|start| start..start + run.len()).collect(),
            Self::Near(first, second, within) => {
                near(first, second, *within, held).flat_map(|(first, second)| [first, second]).collect()
            }
        }
    }
}

fn starts<'a>(run: &'a [usize], held: &'a [Option<usize>]) -> impl Iterator<Item = usize> {
    let fits = move |held: &[Option<usize>]| held.iter().zip(run).all(|(held, wanted)| *held == Some(*wanted));
    held.windows(run.len()).enumerate().filter(move |(_, window)| fits(window)).map(|(start, _)| start)
}

/// Every place of the first run that has the second one near, with the nearest of those behind it or before it.
fn near<'a>(
    first: &'a [usize],
    second: &'a [usize],
    within: usize,
    held: &'a [Option<usize>],
) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
    let seconds: Vec<usize> = starts(second, held).collect();
    starts(first, held).filter_map(move |start| {
        let end = start + first.len();
        let behind = seconds.get(seconds.partition_point(|other| *other < end)).copied();
        let before =
            seconds.partition_point(|other| other + second.len() <= start).checked_sub(1).map(|at| seconds[at]);
        let behind = behind.filter(|other| other + 1 - end <= within);
        let before = before.filter(|other| start + 1 - (other + second.len()) <= within);
        behind.or(before).map(|other| (start..end, other..other + second.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(terms: &str) -> Vec<Option<usize>> {
        terms.bytes().map(|term| term.is_ascii_lowercase().then(|| usize::from(term - b'a'))).collect()
    }

    #[test]
    fn a_run_is_found_wherever_it_stands() {
        assert_eq!(Shape::Run(vec![0, 1]).places(&held("ab.aab")), [0..2, 4..6]);
        assert!(!Shape::Run(vec![0, 1]).is_in(&held("a.b")) && !Shape::Run(vec![0, 0]).is_in(&held("a")));
    }

    #[test]
    fn near_counts_places_in_either_order_and_the_same_word_twice() {
        let near = |within| Shape::Near(vec![0], vec![1], within);
        assert!(near(1).is_in(&held("ab")) && near(1).is_in(&held("ba")));
        assert!(!near(2).is_in(&held("a..b")) && near(3).is_in(&held("a..b")) && near(3).is_in(&held("b..a")));
        let twice = Shape::Near(vec![0], vec![0], 2);
        assert!(!twice.is_in(&held("a")) && twice.is_in(&held("a.a")) && !twice.is_in(&held("a..a")));
        assert_eq!(Shape::Near(vec![0, 1], vec![2], 2).places(&held("ab.c...ab")), [0..2, 3..4]);
    }

    #[test]
    fn many_repetitions_take_no_square_of_time() {
        let many = vec![Some(0); 300_000];
        assert_eq!(Shape::Near(vec![0, 0], vec![0, 0], 1).places(&many).len(), 2 * 299_999);
    }
}

//! Which steps of two procedures are the same (NS-Mem 4.2.3): optimal bipartite matching by the cosine of their texts.

use super::{Procedure, Step, StepId};

/// The assignment of rows to columns of the least total cost (Kuhn 1955 in the O(n³) form of Jonker and Volgenant): for
/// each row its column, `None` for rows too many. `cost` is rectangular, rows of equal length, and finite.
pub fn assign(cost: &[Vec<f64>]) -> Vec<Option<usize>> {
    let (rows, columns) = (cost.len(), cost.first().map_or(0, Vec::len));
    if rows > columns {
        let turned: Vec<Vec<f64>> = (0..columns).map(|column| cost.iter().map(|row| row[column]).collect()).collect();
        let mut assigned = vec![None; rows];
        for (column, row) in assign(&turned).into_iter().enumerate() {
            if let Some(row) = row {
                assigned[row] = Some(column);
            }
        }
        return assigned;
    }
    // Potentials of rows and columns, and per column the row it belongs to; index 0 stands for "none".
    let (mut row_potential, mut column_potential) = (vec![0.0; rows + 1], vec![0.0; columns + 1]);
    let mut owner = vec![0_usize; columns + 1];
    for row in 1..=rows {
        owner[0] = row;
        let mut at = 0;
        let mut shortest = vec![f64::INFINITY; columns + 1];
        let mut came_from = vec![0_usize; columns + 1];
        let mut done = vec![false; columns + 1];
        while owner[at] != 0 {
            done[at] = true;
            let here = owner[at];
            let (mut step, mut next) = (f64::INFINITY, 0);
            for column in 1..=columns {
                if done[column] {
                    continue;
                }
                let reduced = cost[here - 1][column - 1] - row_potential[here] - column_potential[column];
                if reduced < shortest[column] {
                    (shortest[column], came_from[column]) = (reduced, at);
                }
                if shortest[column] < step {
                    (step, next) = (shortest[column], column);
                }
            }
            for column in 0..=columns {
                if done[column] {
                    row_potential[owner[column]] += step;
                    column_potential[column] -= step;
                } else {
                    shortest[column] -= step;
                }
            }
            at = next;
        }
        while at != 0 {
            owner[at] = owner[came_from[at]];
            at = came_from[at];
        }
    }
    let mut assigned = vec![None; rows];
    for column in 1..=columns {
        if owner[column] != 0 {
            assigned[owner[column] - 1] = Some(column - 1);
        }
    }
    assigned
}

/// How the steps of two procedures correspond.
#[derive(Debug, Clone, PartialEq)]
pub struct Alignment {
    /// Pairs of steps that are the same, by the step of the first procedure.
    pub pairs: Vec<(StepId, StepId)>,
    /// The share of the smaller procedure's steps that have a partner, each weighed by how often it is done.
    pub overlap: f64,
}

impl Alignment {
    /// Minimum overlap at which two procedures may be fused.
    pub const MIN_OVERLAP: f64 = 0.5;

    /// Aligns the steps of two procedures. Steps with a wording in common are the same; the others are matched as a whole,
    /// so that the sum of cosines is largest, and pairs below `threshold` are given up. The order of the steps does not
    /// matter: a change of order is a variant, not another procedure.
    pub fn between(one: &Procedure, other: &Procedure, threshold: f32) -> Self {
        let used = |procedure: &Procedure| -> Vec<StepId> {
            let steps = procedure.steps().iter().enumerate().filter(|(_, step)| step.count > 0);
            steps.map(|(number, _)| StepId(number as u32)).collect()
        };
        let (mut left, mut right) = (used(one), used(other));
        let count = |procedure: &Procedure, steps: &[StepId]| -> f64 {
            steps.iter().filter_map(|id| procedure.step(*id)).map(|step| f64::from(step.count)).sum()
        };
        let totals = (count(one, &left), count(other, &right));
        let mut pairs: Vec<(StepId, StepId)> = Vec::new();
        left.retain(|id| {
            let wordings = one.step(*id).map(|step| step.wordings.as_slice()).unwrap_or_default();
            let partner = wordings.iter().find_map(|text| other.find_step(text)).filter(|step| right.contains(step));
            if let Some(partner) = partner {
                right.retain(|step| *step != partner);
                pairs.push((*id, partner));
            }
            partner.is_none()
        });
        let cosine = |a: StepId, b: StepId| similarity(one, one.step(a), other, other.step(b));
        let cost: Vec<Vec<f64>> = left
            .iter()
            // What is below the threshold costs the same as no partner, so that it never takes a better pair's place.
            .map(|a| {
                right
                    .iter()
                    .map(|b| cosine(*a, *b).filter(|c| *c >= threshold).map_or(0.0, |c| -f64::from(c)))
                    .collect()
            })
            .collect();
        for (row, column) in assign(&cost).into_iter().enumerate() {
            if let Some(column) = column.filter(|column| cost[row][*column] < 0.0) {
                pairs.push((left[row], right[column]));
            }
        }
        pairs.sort_unstable();
        let (a, b): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
        let share = |paired: f64, total: f64| if total > 0.0 { paired / total } else { 0.0 };
        let shares = (share(count(one, &a), totals.0), share(count(other, &b), totals.1));
        let overlap = if left.len() + a.len() <= right.len() + b.len() { shares.0 } else { shares.1 };
        Self { pairs, overlap }
    }

    /// Whether the two are variants of one procedure.
    pub fn is_good(&self) -> bool {
        self.overlap >= Self::MIN_OVERLAP
    }
}

/// The cosine of two steps; `None` where one has no embedding, and for two names from one program's vocabulary.
fn similarity(one: &Procedure, a: Option<&Step>, other: &Procedure, b: Option<&Step>) -> Option<f32> {
    let (a, b) = (a?, b?);
    let vocabularies = (one.vocabularies(a), other.vocabularies(b));
    if vocabularies.0.intersection(&vocabularies.1).next().is_some() || super::verify::undoes(a.key(), b.key()) {
        return None;
    }
    a.embedding.as_ref()?.cosine(b.embedding.as_ref()?)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use proptest::prelude::*;

    use super::assign;

    fn total(cost: &[Vec<f64>], assigned: &[Option<usize>]) -> f64 {
        assigned.iter().zip(cost).filter_map(|(column, row)| column.map(|column| row[column])).sum()
    }

    /// The least total over all ways to give every row or every column a partner.
    fn naive(cost: &[Vec<f64>], row: usize, used: &mut Vec<bool>, left: usize) -> f64 {
        if row == cost.len() || left == 0 {
            return 0.0;
        }
        let mut best = if cost.len() - row > left { naive(cost, row + 1, used, left) } else { f64::INFINITY };
        for column in 0..used.len() {
            if !used[column] {
                used[column] = true;
                best = best.min(cost[row][column] + naive(cost, row + 1, used, left - 1));
                used[column] = false;
            }
        }
        best
    }

    proptest! {
        #[test]
        fn the_assignment_is_the_cheapest_there_is(
            rows in 1_usize..6, columns in 1_usize..6, values in prop::collection::vec(-4_i8..5, 25),
        ) {
            let cost: Vec<Vec<f64>> =
                (0..rows).map(|row| (0..columns).map(|column| f64::from(values[row * 5 + column])).collect()).collect();
            let assigned = assign(&cost);
            prop_assert_eq!(assigned.iter().flatten().count(), rows.min(columns));
            let distinct: std::collections::BTreeSet<_> = assigned.iter().flatten().collect();
            prop_assert_eq!(distinct.len(), rows.min(columns));
            prop_assert!((total(&cost, &assigned) - naive(&cost, 0, &mut vec![false; columns], rows.min(columns))).abs() < 1e-9);
        }
    }

    #[test]
    fn nothing_is_assigned_to_nothing() {
        assert!(assign(&[]).is_empty());
        assert_eq!(assign(&[vec![], vec![]]), [None, None]);
    }

    #[test]
    fn the_total_is_scipys_on_the_reference_matrices() {
        #[derive(serde::Deserialize)]
        struct Case {
            cost: Vec<Vec<f64>>,
            total: f64,
        }
        let file = std::env::var_os("ENGRAM_SHARED")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared"), PathBuf::from)
            .join("data/ref/hungarian/lsa_300.json");
        let Ok(bytes) = std::fs::read(&file) else {
            println!("skipped: no reference assignments in {}", file.display());
            return;
        };
        let cases: Vec<Case> = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(cases.len(), 300);
        for (number, case) in cases.iter().enumerate() {
            let found = total(&case.cost, &assign(&case.cost));
            assert!((found - case.total).abs() < 1e-9, "matrix {number}: {found} instead of {}", case.total);
        }
    }
}

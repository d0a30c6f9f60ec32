//! Prints the measurements as text.

use std::time::Duration;

use super::{Folds, LearningFigures, LearningTimes, Passed};

impl LearningFigures {
    /// Formats the results for people.
    pub fn table(&self) -> String {
        let (quality, cost) = (&self.quality, &self.cost);
        let (actions, sessions, procedures) = quality.learnt;
        let mut lines = vec![
            format!("{actions} actions, {sessions} sessions, {procedures} procedures"),
            format!(
                "  rows                         {:.2} MB, the largest {:.1} kB",
                megabytes(quality.row_bytes),
                1e3 * megabytes(quality.largest_row)
            ),
            format!("  one action                   {}", words(quality.action)),
            format!(
                "  next step of {:<16}top-1 {:.4}, top-5 {:.4}; {}",
                quality.asked,
                quality.next.0,
                quality.next.1,
                words(quality.next_times)
            ),
            format!(
                "  goals of {:<20}{:.4} by meaning alone",
                format!("{} sessions", quality.meant.0),
                quality.meant.1
            ),
            format!(
                "  ways without a step          {} returned, soundness {:.3}, coverage {:.3}; {}",
                quality.ways,
                quality.soundness,
                quality.coverage,
                words(quality.way_times)
            ),
            format!(
                "  {} sessions without goals   {} groups, adjusted Rand index {:.3}; verified: precision {:.3}, recall {:.3}; {}",
                quality.grouped.0,
                quality.grouped.1,
                quality.rand_index,
                quality.verified.0,
                quality.verified.1,
                words(quality.goalless)
            ),
            self.folds.table(),
            format!("  closed patterns              {} in {:.2} ms", self.mining.0, ms(self.mining.1)),
            format!(
                "{} facts and {} procedures of {} sessions",
                cost.plan.facts,
                cost.plan.procedures,
                cost.plan.procedures * cost.plan.sessions
            ),
            format!(
                "  resident                     {}",
                cost.resident.map_or("unknown here".to_owned(), |bytes| format!("{:.0} MB", megabytes(bytes as usize)))
            ),
            format!("  one more action              {}", words(cost.action)),
            format!("  the same, rows made          {}", words(cost.lesson)),
        ];
        for (how, (pairs, goals, steps)) in ["always", "mostly"].iter().zip(self.together) {
            lines.push(format!("steps {how} done together    {pairs} pairs of {steps} steps, in {goals} goals"));
        }
        for verified in &self.verified {
            lines.push(format!("verification of {} tasks by {} sessions", verified.tasks, verified.sessions));
            lines.push(passed("goals that nobody told", &verified.untold));
            lines.push(passed("goals that somebody told", &verified.told));
        }
        for graph in &cost.graphs {
            lines.push(format!("{} steps, {}: {} nodes", graph.steps, graph.name, graph.nodes));
            lines.extend(graph.queries.iter().map(|(query, times)| format!("  {query:<29}{}", words(*times))));
        }
        lines.join("\n")
    }
}

impl Folds {
    /// Formats the results for people.
    pub fn table(&self) -> String {
        let sets = |sets: &[(u32, usize, f64)]| {
            let (mean, least) = Self::rand_index(sets);
            format!("adjusted Rand index {mean:.3} in {} sets, the least {least:.3}", sets.len())
        };
        let (first, five) = self.next();
        [
            format!("  of any other tasks           {}", sets(&self.any)),
            format!("  of tasks that share steps    {}", sets(&self.sharing)),
            format!("  next step, {} folds           top-1 {first:.4}, top-5 {five:.4}", self.next.len()),
        ]
        .join("\n")
    }
}

/// Formats the results of verification.
fn passed(of: &str, passed: &Passed) -> String {
    let (precision, recall) = passed.precision_and_recall();
    let kinds: Vec<String> = passed.kinds.iter().map(|(kind, (of, all))| format!("{kind:?} {of}/{all}")).collect();
    format!("  {of:<29}precision {precision:.3}, recall {recall:.3}; {}", kinds.join(", "))
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

fn words(times: LearningTimes) -> String {
    let LearningTimes { mean, p50, p95, worst } = times;
    format!("mean {:.3} ms, p50 {:.3}, p95 {:.3}, worst {:.2}", ms(mean), ms(p50), ms(p95), ms(worst))
}

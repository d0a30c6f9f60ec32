//! The policy: chooses the interval and tool with the greatest expected gain per cost.

use super::belief::IntervalBelief;
use super::calibration;
use super::interval::Interval;
use super::options::ReasoningOptions;
use super::tiers::ResultMemory;
use super::tools::Tool;

/// Minimum gain of a look: the chance, per unit of cost, of seeing something that matters.
const MIN_GAIN: f32 = 0.002;
/// Cost of a picture of each tool, in pictures of the localiser: at full resolution with its tiles, and with sound.
const SNAPPER_COST: f32 = 8.0;
const EXPLORER_COST: f32 = 4.0;
/// Cost of a picture that is sent to a vision model.
const ANALYSER_COST: f32 = 10.0;
/// Cost of transcribing one second of speech, in pictures of the localiser.
const LISTENING_COST: f32 = 2.0;
/// Number of pictures that are one unit of cost.
const COST_UNIT: f32 = 60.0;

/// A possible look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RankedLook {
    pub interval: usize,
    pub tool: Tool,
    pub gain: f32,
}

/// Returns the looks that are worth their cost, the greatest expected gain first: probability that the interval holds
/// the answer × what the tool can add × 1 / cost.
pub(super) fn rank_looks(
    intervals: &[Interval],
    belief: &IntervalBelief,
    results: &ResultMemory,
    options: &ReasoningOptions,
) -> Vec<RankedLook> {
    let mut looks: Vec<RankedLook> = Vec::new();
    for (number, interval) in intervals.iter().enumerate() {
        for tool in Tool::ALL {
            if results.has(number, tool) || options.ablation.without_tools.contains(&tool) {
                continue;
            }
            let adds = belief.remaining_gain(number, tool) * calibration::tool_recall(tool);
            let gain = interval.probability * adds / look_cost(tool, interval, options);
            if gain >= MIN_GAIN {
                looks.push(RankedLook { interval: number, tool, gain });
            }
        }
    }
    // The sort is stable: equal gains keep their order.
    looks.sort_by(|a, b| b.gain.total_cmp(&a.gain));
    looks
}

/// Returns the cost in pictures of the localiser.
#[expect(clippy::cast_precision_loss, reason = "at most 150 pictures")]
fn look_cost(tool: Tool, interval: &Interval, options: &ReasoningOptions) -> f32 {
    let pictures = options.pictures(tool, interval.length()) as f32;
    let all = match tool {
        Tool::IntervalLocaliser => pictures,
        Tool::SceneSnapper => pictures * SNAPPER_COST,
        Tool::ClipExplorer => pictures * EXPLORER_COST,
        Tool::ClipAnalyser => pictures * ANALYSER_COST,
        Tool::Transcriber => interval.length().as_secs_f32() * LISTENING_COST,
    };
    (all / COST_UNIT).max(0.25)
}

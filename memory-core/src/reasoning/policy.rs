//! What to look at next: the interval and tool with the most expected gain for their cost.

use super::belief::Belief;
use super::calibration;
use super::interval::Interval;
use super::tiers::ResultMemory;
use super::tools::Tool;

/// A look that can add less than this is not worth it: the least chance, per unit of cost, of seeing something that matters.
const LEAST_GAIN: f32 = 0.002;
/// What a picture costs, in pictures of the localiser: full resolution with its tiles, and pictures with sound.
const SNAPPER: f32 = 8.0;
const EXPLORER: f32 = 4.0;
/// What a picture costs that goes to a vision model.
const ANALYSER: f32 = 10.0;
/// What a second of speech costs to write down, in pictures of the localiser.
const LISTENING: f32 = 2.0;
/// Pictures that count as one unit of cost.
const UNIT: f32 = 60.0;

/// A look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Choice {
    pub interval: usize,
    pub tool: Tool,
    pub gain: f32,
}

/// The look with the most expected gain: the probability that the interval holds the answer × what the tool can add to it × 1 / cost.
/// `None` if no look is worth it.
pub(super) fn choose(intervals: &[Interval], belief: &Belief, results: &ResultMemory) -> Option<Choice> {
    let mut best: Option<Choice> = None;
    for (number, interval) in intervals.iter().enumerate() {
        for tool in Tool::ALL {
            if results.has(number, tool) {
                continue;
            }
            let adds = belief.open(number, tool) * calibration::recall(tool);
            let gain = interval.probability * adds / cost(tool, interval);
            if gain >= LEAST_GAIN && best.is_none_or(|best| gain > best.gain) {
                best = Some(Choice { interval: number, tool, gain });
            }
        }
    }
    best
}

/// In units of pictures that the localiser takes.
#[expect(clippy::cast_precision_loss, reason = "at most 150 pictures")]
fn cost(tool: Tool, interval: &Interval) -> f32 {
    let pictures = tool.pictures(interval.length()) as f32;
    let all = match tool {
        Tool::IntervalLocaliser => pictures,
        Tool::SceneSnapper => pictures * SNAPPER,
        Tool::ClipExplorer => pictures * EXPLORER,
        Tool::ClipAnalyser => pictures * ANALYSER,
        Tool::Transcriber => interval.length().as_secs_f32() * LISTENING,
    };
    (all / UNIT).max(0.25)
}

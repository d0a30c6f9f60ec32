//! Parts of recall that a measurement leaves out.

/// What an answer does without, to measure what that part gains. Only measurements set it: `docs/benchmarks.md`, "Ablations".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ablation {
    /// No summaries: every question is answered from single events (HippoMM without fast retrieval).
    pub without_gists: bool,
    /// No search for single events: summaries, facts and procedures answer (HippoMM without detailed recall).
    pub without_details: bool,
    /// No comparing of candidates: the likeliest one is the answer, and options are weighed without the layers' own answers
    /// (HippoMM without adaptive reasoning).
    pub without_reconciling: bool,
}

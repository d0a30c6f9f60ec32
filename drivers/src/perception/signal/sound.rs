use std::collections::VecDeque;
use std::time::Duration;

use memory_core::segment::{Segment, level_db};

use super::{Condition, ConditionSpan};

/// Levels in dB of full scale below which there is no signal, and from which there is one again. A microphone in a quiet
/// room makes more noise than that, and so does a lossy codec of a track that has sound.
const NO_SIGNAL: f64 = -80.0;
const SIGNAL: f64 = -75.0;
/// Samples in a window that is measured: 50 ms.
const WINDOW: usize = 800;
const RATE: u64 = 16_000;
/// Jump of the time stamps above which sound counts as interrupted. Lost sound is not silence.
const MAX_JUMP: Duration = Duration::from_millis(60);

/// Finds sound without a signal in segments that are still open.
#[derive(Debug, Default)]
pub(in crate::perception) struct SoundSignal {
    open: Vec<f32>,
    /// Time of the first sample since the last interruption, and the number of samples since.
    anchor: Option<(Duration, u64)>,
    silent: bool,
    /// Start and end, in order of time; the last may go on.
    silences: VecDeque<(Duration, Duration)>,
}

impl SoundSignal {
    /// Takes the block of mono sound at 16 kHz that begins at `at`.
    pub(in crate::perception) fn push(&mut self, at: Duration, samples: &[f32]) {
        let reached = self.anchor.map(|(anchor, measured)| anchor + length(measured + self.open.len() as u64));
        if reached.is_none_or(|reached| reached.abs_diff(at) > MAX_JUMP) {
            self.anchor = Some((at, 0));
            self.open.clear();
            self.silent = false;
        }
        let mut rest = samples;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(WINDOW - self.open.len()));
            self.open.extend_from_slice(now);
            rest = later;
            if self.open.len() == WINDOW {
                self.measure();
            }
        }
    }

    fn measure(&mut self) {
        let Some((anchor, measured)) = &mut self.anchor else { return };
        let start = *anchor + length(*measured);
        *measured += WINDOW as u64;
        let end = *anchor + length(*measured);
        let level = level_db(&self.open);
        self.open.clear();
        self.silent = level < if self.silent { SIGNAL } else { NO_SIGNAL };
        if !self.silent {
            return;
        }
        match self.silences.back_mut() {
            Some((_, until)) if *until == start => *until = end,
            _ => self.silences.push_back((start, end)),
        }
    }

    /// Returns the parts of `segment` without a signal; silences that no later segment needs are dropped.
    pub(in crate::perception) fn take(&mut self, segment: &Segment) -> Vec<ConditionSpan> {
        let condition = Condition::Silent;
        let lasting = |(start, end): &(Duration, Duration)| *end - *start >= condition.shortest();
        let stretches = self
            .silences
            .iter()
            .filter(|silence| lasting(silence))
            .filter_map(|&(start, end)| ConditionSpan { condition, start, end }.within(segment.start, segment.end))
            .collect();
        let last = self.silences.back().copied();
        self.silences.retain(|silence| silence.1 > segment.end || Some(*silence) == last);
        stretches
    }
}

fn length(samples: u64) -> Duration {
    Duration::from_nanos(samples.saturating_mul(1_000_000_000) / RATE)
}

#[cfg(test)]
mod tests {
    use memory_core::Boundary;

    use super::*;

    /// Plays `parts` of (milliseconds, amplitude) in blocks of `block` samples, and tells what segments of `segment`
    /// milliseconds say, in milliseconds.
    fn told(parts: &[(u64, f32)], block: usize, segment: u64) -> Vec<Vec<(u128, u128)>> {
        let sound: Vec<f32> = parts
            .iter()
            .flat_map(|&(millis, amplitude)| (0..millis * 16).map(move |i| amplitude * (i as f32 * 0.3).sin()))
            .collect();
        let mut signal = SoundSignal::default();
        let (mut start, mut told) = (Duration::ZERO, Vec::new());
        let whole = length(sound.len() as u64);
        let mut close = |signal: &mut SoundSignal, end: Duration| {
            let stretches = signal.take(&Segment { start, end, boundary: Boundary::Length });
            told.push(stretches.iter().map(|s| (s.start.as_millis(), s.end.as_millis())).collect());
            start = end;
            end + Duration::from_millis(segment)
        };
        let mut next = Duration::from_millis(segment);
        for (i, samples) in sound.chunks(block).enumerate() {
            let at = length((i * block) as u64);
            while at >= next {
                next = close(&mut signal, next);
            }
            signal.push(at, samples);
        }
        close(&mut signal, whole);
        told
    }

    #[test]
    fn a_quiet_room_is_not_without_a_signal() {
        assert_eq!(told(&[(2000, 0.3), (3000, 0.001), (2000, 0.3)], 1024, 10_000), [vec![]]);
    }

    #[test]
    fn a_gap_is_told_with_its_ends_however_the_blocks_fall() {
        for block in [160, 1024, 1600, 5000] {
            let told = told(&[(3000, 0.3), (2000, 0.0), (3000, 0.01)], block, 10_000);
            assert_eq!(told, [vec![(3000, 5000)]], "{block}");
        }
    }

    #[test]
    fn short_gaps_are_not_told_and_a_clock_that_ticks_is_heard() {
        assert_eq!(told(&[(2000, 0.3), (1400, 0.0), (2000, 0.3)], 1024, 10_000), [vec![]]);
        assert_eq!(told(&[(950, 0.0), (50, 0.3)].repeat(9), 1024, 10_000), [vec![]]);
        let hum = [(1000, 0.3), (2000, 0.0), (50, 0.0002), (2000, 0.0), (1000, 0.3)];
        assert_eq!(told(&hum, 1024, 10_000), [vec![(1000, 5050)]], "-77 dB do not end a silence");
    }

    #[test]
    fn long_silence_is_one_event_a_segment_and_a_sliver_of_it_none() {
        let told = told(&[(4700, 0.3), (15_500, 0.0), (5000, 0.3)], 1600, 5000);
        assert_eq!(
            told,
            [vec![], vec![(5000, 10_000)], vec![(10_000, 15_000)], vec![(15_000, 20_000)], vec![], vec![]]
        );
    }

    #[test]
    fn lost_sound_is_not_silence() {
        let mut signal = SoundSignal::default();
        signal.push(Duration::ZERO, &[0.0; 9600]);
        signal.push(Duration::from_millis(700), &[0.0; 9600]);
        let segment = Segment { start: Duration::ZERO, end: Duration::from_secs(5), boundary: Boundary::End };
        assert_eq!(signal.take(&segment), []);
    }
}

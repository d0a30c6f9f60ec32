use std::time::Duration;

use memory_core::segment::Luma;

use super::Condition;

/// Nothing in a black picture is brighter than this, of 255; a lit point of 2 % of the picture may be.
const BLACK_HIGHLIGHT: f64 = 16.0;
/// The mean of a black picture.
const BLACK_MEAN: f64 = 8.0;
/// Nothing in a picture that is dark whatever was before is brighter than this; left behind only above the second.
const DARK_HIGHLIGHT: (f64, f64) = (50.0, 60.0);
/// Share of the usual mean below which the light went out, and above which it is back.
const DARK_MEAN: (f64, f64) = (0.35, 0.5);
/// The same of the usual highlights. They tell a lamp that went out from bright things before a dark ground.
const DARK_HIGHLIGHTS: (f64, f64) = (0.4, 0.55);
/// Mean above which a picture is never dark, however bright it was before.
const MIN_BRIGHT_MEAN: f64 = 60.0;
/// Time constant of the usual brightness, in seconds.
const MEMORY_S: f64 = 30.0;
/// Time constant in the dark, in seconds. It is longer, because the light that returns is the usual one.
const DARK_MEMORY_S: f64 = 300.0;
/// Maximum time, in seconds, for which one picture counts.
const MAX_STEP_S: f64 = 2.0;

/// Brightness of one picture.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Light {
    mean: f64,
    /// 98 of 100 pixels are not brighter.
    highlight: f64,
}

impl Light {
    fn measure(luma: &Luma) -> Option<Self> {
        let mut histogram = [0_u32; 256];
        for &pixel in luma.pixels() {
            histogram[usize::from(pixel)] += 1;
        }
        let count = luma.pixels().len();
        if count == 0 {
            return None;
        }
        let sum: f64 = histogram.iter().enumerate().map(|(shade, &pixels)| shade as f64 * f64::from(pixels)).sum();
        let mut above = count as f64 * 0.02;
        let highlight = histogram.iter().rposition(|&pixels| {
            above -= f64::from(pixels);
            above < 0.0
        });
        Some(Self { mean: sum / count as f64, highlight: highlight.unwrap_or(0) as f64 })
    }
}

/// Tells black and dark pictures from lit ones, by what was usual before.
#[derive(Debug, Default)]
pub(super) struct LightMeter {
    usual: Option<Light>,
    /// Seconds of pictures that `usual` is made of, up to [`MEMORY_S`].
    seconds: f64,
    last: Option<Duration>,
    dark: bool,
}

impl LightMeter {
    pub(super) fn push(&mut self, at: Duration, luma: &Luma) -> Option<Condition> {
        let light = Light::measure(luma)?;
        let elapsed = self.last.map_or(0.1, |last| at.saturating_sub(last).as_secs_f64()).min(MAX_STEP_S);
        self.last = Some(at);
        if light.highlight <= BLACK_HIGHLIGHT && light.mean <= BLACK_MEAN {
            // It says nothing about what is usual: a signal that is lost is not a scene.
            return Some(Condition::Black);
        }
        let usual = self.usual.unwrap_or(light);
        let choose = |(enter, leave): (f64, f64)| if self.dark { leave } else { enter };
        self.dark = light.highlight < choose(DARK_HIGHLIGHT)
            || (light.mean < MIN_BRIGHT_MEAN
                && light.mean < choose(DARK_MEAN) * usual.mean
                && light.highlight < choose(DARK_HIGHLIGHTS) * usual.highlight);
        self.seconds = (self.seconds + elapsed).min(MEMORY_S);
        let share = elapsed / if self.dark { DARK_MEMORY_S } else { self.seconds };
        let toward = |from: f64, to: f64| from + share.min(1.0) * (to - from);
        self.usual =
            Some(Light { mean: toward(usual.mean, light.mean), highlight: toward(usual.highlight, light.highlight) });
        self.dark.then_some(Condition::Dark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lit_point_does_not_make_a_highlight() {
        let mut pixels = vec![10; 1000];
        pixels[..20].fill(250);
        let luma = |pixels: &[u8]| Light::measure(&Luma::new(100, 10, pixels.to_vec()).unwrap()).unwrap();
        assert_eq!(luma(&pixels).highlight, 10.0);
        pixels[20] = 250;
        assert_eq!(luma(&pixels), Light { mean: 15.04, highlight: 250.0 });
        assert_eq!(Light::measure(&Luma::default()), None);
    }
}

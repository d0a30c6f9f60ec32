//! Colour words from pixels.
//!
//! People ask for the red car and for the man in black. Hue, saturation and value map each pixel to one of the eleven basic
//! colour terms (Berlin & Kay 1969); the colour of a region is that of most of its pixels.

use crate::encoders::Picture;

/// The basic colour terms.
const COLOUR_TERMS: [&str; 11] =
    ["black", "white", "grey", "red", "orange", "yellow", "green", "blue", "purple", "pink", "brown"];
/// Minimum share of a region that a second colour covers, ...
const MIN_SECOND_SHARE: f32 = 0.25;
/// ... and the first one.
const MIN_FIRST_SHARE: f32 = 0.3;
/// Minimum share of a whole picture that each colour of a scene covers.
const MIN_SCENE_SHARE: f32 = 0.17;
/// Greys darker than this, and lighter than the second, of 255, have names of their own.
const GREY_DARK: u8 = 90;
const GREY_LIGHT: u8 = 165;
/// Number of pixels sampled across and down a region.
const SAMPLE_GRID: u32 = 24;

/// How many pixels of a region have which colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Palette {
    counts: [u32; 11],
    /// Of the grey ones: the sum of their values.
    grey: u32,
}

impl Palette {
    /// The colours of the part of a picture between left, top, right and bottom, each 0 to 1.
    pub fn measure(picture: &Picture<'_>, [left, top, right, bottom]: [f32; 4]) -> Self {
        let mut palette = Self::default();
        if picture.width == 0 || picture.height == 0 || right <= left || bottom <= top {
            return palette;
        }
        let at = |from: f32, to: f32, n: u32, side: u32| {
            let place = from + (to - from) * (n as f32 + 0.5) / SAMPLE_GRID as f32;
            ((place.clamp(0.0, 1.0) * side as f32) as u32).min(side - 1)
        };
        for row in 0..SAMPLE_GRID {
            let y = at(top, bottom, row, picture.height);
            for column in 0..SAMPLE_GRID {
                let pixel = picture.pixel(at(left, right, column, picture.width), y);
                let colour = colour(pixel);
                palette.counts[colour] += 1;
                if COLOUR_TERMS[colour] == "grey" {
                    palette.grey += u32::from(pixel.into_iter().max().unwrap_or(0));
                }
            }
        }
        palette
    }

    /// Adds what was seen of the same thing in another picture.
    pub fn add(&mut self, other: &Self) {
        for (sum, count) in self.counts.iter_mut().zip(other.counts) {
            *sum += count;
        }
        self.grey += other.grey;
    }

    /// Its one or two colours, most frequent first; none where no colour prevails.
    pub fn words(&self) -> Vec<&'static str> {
        self.ranked(&[MIN_FIRST_SHARE, MIN_SECOND_SHARE])
    }

    /// The colours of a whole picture: up to three, each of a good part of it.
    pub fn of_a_scene(&self) -> Vec<&'static str> {
        self.ranked(&[MIN_SCENE_SHARE; 3])
    }

    /// The most frequent colours, the first of at least the first share, and so on.
    fn ranked(&self, shares: &[f32]) -> Vec<&'static str> {
        let total: u32 = self.counts.iter().sum();
        let mut order: Vec<usize> = (0..COLOUR_TERMS.len()).collect();
        order.sort_by_key(|colour| (std::cmp::Reverse(self.counts[*colour]), *colour));
        let share = |colour: usize| self.counts[colour] as f32 / total.max(1) as f32;
        order
            .into_iter()
            .enumerate()
            .take(shares.len())
            .filter(|(rank, colour)| share(*colour) >= shares[*rank])
            .map(|(_, colour)| self.word(colour))
            .collect()
    }

    fn word(&self, colour: usize) -> &'static str {
        match COLOUR_TERMS[colour] {
            "grey" => match self.grey / self.counts[colour].max(1) {
                dark if dark < u32::from(GREY_DARK) => "dark grey",
                light if light > u32::from(GREY_LIGHT) => "light grey",
                _ => "grey",
            },
            word => word,
        }
    }
}

/// The number of a pixel's colour among [`COLOUR_TERMS`].
fn colour(pixel: [u8; 3]) -> usize {
    let word = name(pixel);
    COLOUR_TERMS.iter().position(|other| *other == word).unwrap_or(0)
}

fn name(pixel: [u8; 3]) -> &'static str {
    let [red, green, blue] = pixel.map(|value| f32::from(value) / 255.0);
    let (value, low) = (red.max(green).max(blue), red.min(green).min(blue));
    let chroma = value - low;
    let saturation = if value > 0.0 { chroma / value } else { 0.0 };
    // Cameras tint what is dark and what is bright: both need more chroma to count as coloured.
    if value < 0.2 || (value < 0.3 && chroma < 0.12) {
        return "black";
    }
    if saturation < 0.16 || chroma < 0.08 {
        return if value > 0.78 { "white" } else { "grey" };
    }
    let sector = if value <= red {
        (green - blue) / chroma
    } else if value <= green {
        2.0 + (blue - red) / chroma
    } else {
        4.0 + (red - green) / chroma
    };
    let hue = (sector * 60.0).rem_euclid(360.0);
    match hue {
        // A pale red is pink, a pale or dark orange is brown: beige walls, wood, skin.
        hue if !(12.0..345.0).contains(&hue) => {
            if value > 0.75 && saturation < 0.42 {
                "pink"
            } else {
                "red"
            }
        }
        hue if hue < 45.0 => {
            if saturation < 0.25 {
                if value > 0.85 { "white" } else { "grey" }
            } else if value > 0.7 && saturation > 0.65 {
                "orange"
            } else {
                "brown"
            }
        }
        hue if hue < 68.0 => {
            if saturation < 0.3 {
                if value > 0.8 { "white" } else { "grey" }
            } else if value < 0.5 {
                "brown"
            } else {
                "yellow"
            }
        }
        hue if hue < 165.0 => "green",
        hue if hue < 255.0 => "blue",
        hue if hue < 295.0 => "purple",
        _ if saturation < 0.35 && value < 0.6 => "grey",
        _ => "pink",
    }
}

/// "black", "black and white", "red, green and white".
pub(super) fn listed(words: &[&str]) -> String {
    match words {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => words.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_call_red_is_red() {
        for (pixel, word) in [
            ([0, 0, 0], "black"),
            ([35, 30, 28], "black"),
            ([250, 250, 245], "white"),
            ([128, 128, 130], "grey"),
            ([200, 20, 30], "red"),
            ([120, 15, 20], "red"),
            ([250, 140, 20], "orange"),
            ([250, 220, 40], "yellow"),
            ([40, 160, 60], "green"),
            ([30, 60, 200], "blue"),
            ([135, 190, 235], "blue"),
            ([110, 40, 160], "purple"),
            ([250, 150, 170], "pink"),
            ([120, 75, 40], "brown"),
            ([190, 150, 110], "brown"),
        ] {
            assert_eq!(name(pixel), word, "{pixel:?}");
        }
    }

    /// Half of one colour, half of another, side by side.
    fn halves(left: [u8; 3], right: [u8; 3]) -> Vec<u8> {
        (0..20 * 10).flat_map(|at| if at % 20 < 10 { left } else { right }).collect()
    }

    #[test]
    fn a_region_has_the_colours_that_prevail_in_it() {
        let rgb = halves([200, 20, 30], [30, 60, 200]);
        let picture = Picture { width: 20, height: 10, rgb: &rgb };
        assert_eq!(Palette::measure(&picture, [0.0, 0.0, 0.5, 1.0]).words(), ["red"]);
        assert_eq!(Palette::measure(&picture, [0.0, 0.0, 1.0, 1.0]).words(), ["red", "blue"]);
        assert_eq!(Palette::measure(&picture, [0.2, 0.0, 0.2, 1.0]).words(), [""; 0], "no region");
        let mut sum = Palette::measure(&picture, [0.0, 0.0, 0.5, 1.0]);
        sum.add(&Palette::measure(&picture, [0.5, 0.0, 1.0, 1.0]));
        assert_eq!(listed(&sum.words()), "red and blue");
    }

    #[test]
    fn greys_are_dark_or_light() {
        for (value, word) in [(85, "dark grey"), (128, "grey"), (180, "light grey")] {
            let rgb = halves([value; 3], [value; 3]);
            assert_eq!(
                Palette::measure(&Picture { width: 20, height: 10, rgb: &rgb }, [0.0, 0.0, 1.0, 1.0]).words(),
                [word]
            );
        }
    }
}

//! Scales of measurement: their names, their units, and the direction of their adjectives.

use super::{PartOfSpeech, is_a_as};

/// A scale, such as temperature.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Scale {
    /// The names of the scale in a question: nouns, instruments and a verb.
    pub names: &'static [&'static str],
    /// Words for things that are measured on this scale and on no other.
    pub measured: &'static [&'static str],
    more: &'static [&'static str],
    less: &'static [&'static str],
    units: &'static [&'static str],
    unit_class: Option<&'static str>,
}

/// All scales. An adjective belongs to the first scale that lists it.
static SCALES: &[Scale] = &[
    Scale {
        names: &["temperature", "thermometer", "fever"],
        measured: &[],
        more: &["warm", "hot", "mild"],
        less: &["cold", "cool", "chilly"],
        units: &["degree", "°", "c", "°c", "f", "°f", "celsius", "fahrenheit", "kelvin"],
        unit_class: None,
    },
    Scale {
        names: &["weight", "weigh", "scales"],
        measured: &[],
        more: &["heavy"],
        less: &["light"],
        units: &["g", "kg", "t"],
        unit_class: Some("mass_unit"),
    },
    Scale {
        names: &["depth", "height"],
        measured: &[],
        more: &["deep", "tall"],
        less: &["shallow"],
        units: &["mm", "cm", "m"],
        unit_class: Some("linear_unit"),
    },
    Scale {
        names: &["humidity", "moisture", "hygrometer"],
        measured: &[],
        more: &["humid", "damp", "moist", "wet"],
        less: &["dry"],
        // A percentage may be a share of anything.
        units: &[],
        unit_class: None,
    },
    Scale {
        names: &["fullness"],
        measured: &["battery", "charge", "fuel"],
        more: &["full"],
        less: &["empty"],
        units: &["%", "l", "ml", "pct"],
        unit_class: Some("volume_unit"),
    },
    Scale {
        names: &["speed", "velocity"],
        measured: &[],
        more: &["fast", "quick"],
        less: &["slow"],
        units: &["km/h", "kmh", "mph", "knot"],
        unit_class: None,
    },
    Scale {
        names: &["noise", "loudness"],
        measured: &[],
        more: &["loud", "noisy"],
        less: &["quiet"],
        units: &["db", "decibel"],
        unit_class: None,
    },
    Scale {
        names: &["brightness"],
        measured: &[],
        more: &["bright"],
        less: &["dark", "dim"],
        units: &["lux", "lx", "lumen"],
        unit_class: None,
    },
    Scale {
        names: &["pressure", "barometer"],
        measured: &[],
        more: &[],
        less: &[],
        units: &["bar", "mbar", "millibar", "hpa", "psi"],
        unit_class: Some("pressure_unit"),
    },
];

/// Adjectives for a high value on any scale.
const MORE: &[&str] = &["high", "great", "large", "big", "strong"];
/// Adjectives for a low value on any scale.
const LESS: &[&str] = &["low", "small", "weak"];

/// The grade of an adjective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grade {
    Positive,
    Comparative,
    Superlative,
}

/// The meaning of an adjective on a scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Degree {
    /// Whether the adjective means a high value.
    pub more: bool,
    pub grade: Grade,
    /// The scale, if the adjective belongs to only one.
    pub scale: Option<&'static Scale>,
}

impl Scale {
    /// Returns whether a unit, in its canonical form, belongs to this scale.
    pub fn has_unit(&self, unit: &str) -> bool {
        self.units.contains(&unit)
            || self.unit_class.is_some_and(|class| is_a_as(unit, class, PartOfSpeech::Noun).is_some())
    }

    /// Returns whether a word names the scale or something that is measured on it.
    pub fn is_named_by(&self, word: &str) -> bool {
        self.names.contains(&word) || self.measured.contains(&word)
    }
}

/// Returns the scale that a noun, an instrument or a verb names.
pub(crate) fn scale_named(word: &str) -> Option<&'static Scale> {
    SCALES.iter().find(|scale| scale.names.contains(&word))
}

/// Returns the scale that a word names, or on which the thing that it names is measured.
pub(crate) fn scale_measuring(word: &str) -> Option<&'static Scale> {
    SCALES.iter().find(|scale| scale.is_named_by(word))
}

/// Units that neither a scale nor the lexicon has.
const UNLISTED_UNITS: &[&str] = &["kcal", "kj", "kwh", "ml"];

/// Returns whether a word is a unit of a scale or of any measurement.
pub(crate) fn is_unit(word: &str) -> bool {
    UNLISTED_UNITS.contains(&word)
        || SCALES.iter().any(|scale| scale.has_unit(word))
        || is_a_as(word, "unit_of_measurement", PartOfSpeech::Noun).is_some()
}

/// Returns the meaning of a word on a scale: "colder", "highest", "deep".
pub(crate) fn degree_of(word: &str) -> Option<Degree> {
    let irregular = |more, grade| Some(Degree { more, grade, scale: None });
    match word {
        "more" => return irregular(true, Grade::Comparative),
        "most" => return irregular(true, Grade::Superlative),
        "less" | "fewer" => return irregular(false, Grade::Comparative),
        "least" | "fewest" => return irregular(false, Grade::Superlative),
        _ => {}
    }
    let of_scales = SCALES.iter().flat_map(|scale| {
        let more = scale.more.iter().map(move |adjective| (*adjective, true, Some(scale)));
        more.chain(scale.less.iter().map(move |adjective| (*adjective, false, Some(scale))))
    });
    let general = MORE.iter().map(|adjective| (*adjective, true, None));
    let general = general.chain(LESS.iter().map(|adjective| (*adjective, false, None)));
    of_scales.chain(general).find_map(|(adjective, more, scale)| {
        let grade = grade_of(word, adjective)?;
        Some(Degree { more, grade, scale })
    })
}

/// Returns the grade of a form of an adjective: "hotter" is the comparative of "hot".
fn grade_of(word: &str, adjective: &str) -> Option<Grade> {
    if word == adjective {
        return Some(Grade::Positive);
    }
    let (stem, last) = adjective.split_at(adjective.len() - 1);
    let ending = match last {
        "e" => word.strip_prefix(stem)?,
        "y" => word.strip_prefix(stem)?.strip_prefix('i')?,
        // "Hotter" doubles the consonant, "colder" does not.
        _ => {
            let rest = word.strip_prefix(adjective)?;
            rest.strip_prefix(last).unwrap_or(rest)
        }
    };
    match ending {
        "er" => Some(Grade::Comparative),
        "est" => Some(Grade::Superlative),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_of_an_adjective_points_along_its_scale() {
        let found =
            |word: &str| degree_of(word).map(|found| (found.more, found.grade, found.scale.map(|s| s.names[0])));
        assert_eq!(found("hotter"), Some((true, Grade::Comparative, Some("temperature"))));
        assert_eq!(found("chilliest"), Some((false, Grade::Superlative, Some("temperature"))));
        assert_eq!(found("emptier"), Some((false, Grade::Comparative, Some("fullness"))));
        assert_eq!(found("lowest"), Some((false, Grade::Superlative, None)));
        assert_eq!(found("deep"), Some((true, Grade::Positive, Some("depth"))));
        assert_eq!(found("letter"), None);
        assert_eq!(found("fuller"), Some((true, Grade::Comparative, Some("fullness"))));
    }

    #[test]
    fn a_unit_belongs_to_its_scale() {
        let depth = degree_of("deep").and_then(|found| found.scale).unwrap();
        assert!(depth.has_unit("cm") && depth.has_unit("centimetre") && !depth.has_unit("%"));
    }
}

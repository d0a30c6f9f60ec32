//! Semantic categories of senses: the lexicographer files of WordNet.

use super::part_of_speech::PartOfSpeech;

/// A lexicographer file of WordNet. The numbers are WordNet's own (lexnames(5WN)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub(crate) enum Category {
    AnyAdjective = 0,
    RelationalAdjective,
    AnyAdverb,
    /// The few most general nouns: "entity", "thing".
    Top,
    Act,
    Animal,
    Artifact,
    Attribute,
    Body,
    Cognition,
    Communication,
    Event,
    Feeling,
    Food,
    Group,
    Location,
    Motive,
    NaturalObject,
    Person,
    Phenomenon,
    Plant,
    Possession,
    Process,
    Quantity,
    Relation,
    Shape,
    State,
    Substance,
    Time,
    /// Verbs of grooming, dressing and bodily care.
    BodyVerb,
    ChangeVerb,
    CognitionVerb,
    CommunicationVerb,
    CompetitionVerb,
    ConsumptionVerb,
    /// Touching, hitting, tying, digging.
    ContactVerb,
    CreationVerb,
    EmotionVerb,
    MotionVerb,
    PerceptionVerb,
    PossessionVerb,
    SocialVerb,
    /// Being, having, spatial relations.
    StativeVerb,
    WeatherVerb,
    ParticipialAdjective,
}

impl Category {
    pub(super) const COUNT: u8 = 45;

    const ALL: [Self; Self::COUNT as usize] = [
        Self::AnyAdjective,
        Self::RelationalAdjective,
        Self::AnyAdverb,
        Self::Top,
        Self::Act,
        Self::Animal,
        Self::Artifact,
        Self::Attribute,
        Self::Body,
        Self::Cognition,
        Self::Communication,
        Self::Event,
        Self::Feeling,
        Self::Food,
        Self::Group,
        Self::Location,
        Self::Motive,
        Self::NaturalObject,
        Self::Person,
        Self::Phenomenon,
        Self::Plant,
        Self::Possession,
        Self::Process,
        Self::Quantity,
        Self::Relation,
        Self::Shape,
        Self::State,
        Self::Substance,
        Self::Time,
        Self::BodyVerb,
        Self::ChangeVerb,
        Self::CognitionVerb,
        Self::CommunicationVerb,
        Self::CompetitionVerb,
        Self::ConsumptionVerb,
        Self::ContactVerb,
        Self::CreationVerb,
        Self::EmotionVerb,
        Self::MotionVerb,
        Self::PerceptionVerb,
        Self::PossessionVerb,
        Self::SocialVerb,
        Self::StativeVerb,
        Self::WeatherVerb,
        Self::ParticipialAdjective,
    ];

    /// Returns the category of a file, which must be below [`Self::COUNT`]. The table's reader checks that.
    pub(super) fn from_file(file: u8) -> Self {
        Self::ALL[usize::from(file)]
    }

    /// Returns the part of speech of every word of this category.
    pub(crate) fn part_of_speech(self) -> PartOfSpeech {
        match self {
            Self::AnyAdjective | Self::RelationalAdjective | Self::ParticipialAdjective => PartOfSpeech::Adjective,
            Self::AnyAdverb => PartOfSpeech::Adverb,
            other if other < Self::BodyVerb => PartOfSpeech::Noun,
            _ => PartOfSpeech::Verb,
        }
    }
}

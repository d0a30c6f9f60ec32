use std::fmt;

use memory_core::Modality;
use serde::{Deserialize, Serialize};

/// Role of an encoder. The memory asks for roles; the catalogue says which model fills each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Role {
    /// φ: texts to vectors.
    #[serde(rename = "text embedding")]
    TextEmbedding,
    /// Which text answers a question, and which of its words.
    #[serde(rename = "answer extraction")]
    AnswerExtraction,
    /// Things in view.
    #[serde(rename = "objects")]
    Objects,
    /// Detection of speech.
    #[serde(rename = "voice activity")]
    VoiceActivity,
    /// Recognition of speech.
    #[serde(rename = "speech recognition")]
    SpeechRecognition,
    /// Embeddings that tell voices apart.
    #[serde(rename = "voice embedding")]
    VoiceEmbedding,
    /// Detection of sounds besides speech.
    #[serde(rename = "sound events")]
    SoundEvents,
    /// Detection of faces.
    #[serde(rename = "faces")]
    Faces,
    /// Whose face it is.
    #[serde(rename = "face embedding")]
    FaceEmbedding,
    /// What a whole picture shows.
    #[serde(rename = "scene classes")]
    SceneClasses,
    /// Which pictures are alike.
    #[serde(rename = "image embedding")]
    ImageEmbedding,
    /// Pictures and texts to vectors of one space.
    #[serde(rename = "joint image and text")]
    JointImageText,
    /// Where writing is in view.
    #[serde(rename = "text detection")]
    TextDetection,
    /// What is written there.
    #[serde(rename = "text recognition")]
    TextRecognition,
    /// What is going on, in a sentence.
    #[serde(rename = "captions")]
    Captions,
}

impl Role {
    /// Every role, in the order in which they are told.
    pub const ALL: [Self; 15] = [
        Self::TextEmbedding,
        Self::AnswerExtraction,
        Self::Objects,
        Self::VoiceActivity,
        Self::SpeechRecognition,
        Self::VoiceEmbedding,
        Self::SoundEvents,
        Self::Faces,
        Self::FaceEmbedding,
        Self::SceneClasses,
        Self::ImageEmbedding,
        Self::JointImageText,
        Self::TextDetection,
        Self::TextRecognition,
        Self::Captions,
    ];

    /// The name in the catalogue, in `health` and in `degraded`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TextEmbedding => "text embedding",
            Self::AnswerExtraction => "answer extraction",
            Self::Objects => "objects",
            Self::VoiceActivity => "voice activity",
            Self::SpeechRecognition => "speech recognition",
            Self::VoiceEmbedding => "voice embedding",
            Self::SoundEvents => "sound events",
            Self::Faces => "faces",
            Self::FaceEmbedding => "face embedding",
            Self::SceneClasses => "scene classes",
            Self::ImageEmbedding => "image embedding",
            Self::JointImageText => "joint image and text",
            Self::TextDetection => "text detection",
            Self::TextRecognition => "text recognition",
            Self::Captions => "captions",
        }
    }

    /// The sense it serves; `None` for all.
    pub const fn modality(self) -> Option<Modality> {
        match self {
            Self::TextEmbedding | Self::AnswerExtraction => None,
            Self::Objects
            | Self::Faces
            | Self::FaceEmbedding
            | Self::SceneClasses
            | Self::ImageEmbedding
            | Self::JointImageText
            | Self::TextDetection
            | Self::TextRecognition
            | Self::Captions => Some(Modality::Visual),
            Self::VoiceActivity | Self::SpeechRecognition | Self::VoiceEmbedding | Self::SoundEvents => {
                Some(Modality::Audio)
            }
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_written_in_the_catalogue_as_it_is_named_in_health() {
        for role in Role::ALL {
            assert_eq!(serde_json::to_value(role).unwrap(), role.name());
        }
    }
}

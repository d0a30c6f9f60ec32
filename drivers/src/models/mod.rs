//! The models: the catalogue, and the files on this machine.
//!
//! The [`Catalogue`] (`config/models.toml`, compiled in) names a model per [`Role`] with everything that is needed to use
//! it; [`InstalledModels`] finds its files on this machine and checks them; [`ModelStore`] downloads them. A role without a model, or
//! whose files are missing or do not match their sha256, is absent, with a reason.

mod catalogue;
mod entry;
mod installed;
mod profile;
mod role;
mod source;
mod store;

pub use catalogue::{Catalogue, CatalogueError, LibraryBuild, OnnxRuntimeEntry};
pub use entry::{ElementType, Fit, GroupMember, ModelEntry, ModelFile, Part, Pooling, ShapeRange, TensorSpec};
pub use installed::{Availability, InstalledModel, InstalledModels, RuntimeLibrary, file_digest};
pub use profile::Profile;
pub use role::Role;
pub use source::{AddressSource, DebianSource, MirrorSource, OriginalSource, PackageSource, Source};
pub use store::{Arrived, LOCK_FILE, ModelStore, Pinned, PullError, read_lock, write_lock};

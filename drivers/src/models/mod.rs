//! The models: the catalogue, and the files on this machine.
//!
//! The [`Catalogue`] (`config/models.toml`, compiled in) names a model per [`Role`] with everything that is needed to use
//! it; [`InstalledModels`] finds its files on this machine and checks them; [`ModelStore`] downloads them. A role without a model, or
//! whose files are missing or do not match their sha256, is absent, with a reason.

mod catalogue;
mod installed;
mod role;
mod store;

pub use catalogue::{
    AddressSource, Catalogue, CatalogueError, DebianSource, ElementType, GroupMember, LibraryBuild, MirrorSource,
    ModelEntry, ModelFile, OnnxRuntimeEntry, OriginalSource, PackageSource, Part, ShapeRange, Source, TensorSpec,
};
pub use installed::{Availability, InstalledModel, InstalledModels, RuntimeLibrary, file_digest};
pub use role::Role;
pub use store::{LOCK_FILE, ModelStore, Pinned, PullError, read_lock, write_lock};

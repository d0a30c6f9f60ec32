//! Which file fills which role.
//!
//! The [`Catalogue`] (`config/models.toml`, compiled in) names a model per [`Role`] with everything that is needed to use
//! it; [`InstalledModels`] looks for its files on this machine and checks them; [`ModelStore`] brings them there. A role that has no model, or whose files
//! are not there or not the pinned ones, is absent with a reason: nothing pretends.

mod catalogue;
mod installed;
mod role;
mod store;

pub use catalogue::{
    AddressSource, Catalogue, CatalogueError, DebianSource, ElementType, GroupMember, Library, MirrorSource,
    ModelEntry, ModelFile, OnnxRuntimeEntry, OriginalSource, PackageSource, Part, ShapeRange, Source, TensorSpec,
};
pub use installed::{Availability, InstalledModel, InstalledModels, RuntimeLibrary, file_digest};
pub use role::Role;
pub use store::{LOCK_FILE, ModelStore, Pinned, PullError, read_lock, write_lock};

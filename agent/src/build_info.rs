//! Which program this is.

use std::sync::LazyLock;

/// Version of the package.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit it was built from, as `git describe` names it; given by the build that makes packages (`ENGRAM_BUILD`).
pub const COMMIT: Option<&str> = option_env!("ENGRAM_BUILD");

/// Version, commit, processor and system, in one line: `0.1.0 (b328383, aarch64-linux)`.
pub fn long_version() -> &'static str {
    static LINE: LazyLock<String> = LazyLock::new(|| {
        let machine = format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS);
        match COMMIT {
            Some(commit) => format!("{VERSION} ({commit}, {machine})"),
            None => format!("{VERSION} ({machine})"),
        }
    });
    &LINE
}

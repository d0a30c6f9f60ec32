//! The names of the MQTT commands: the configuration allows and denies them, `mqtt` carries them out.

/// A command that can be published to `cmd/NAME`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandName {
    Backup,
    Check,
    Compact,
    Export,
    Forget,
    ForgetPreview,
    Get,
    Instance,
    List,
    NameEntity,
    NamePlace,
    Pause,
    Picture,
    Procedure,
    Recording,
    Reload,
    Restore,
    Resume,
    Search,
    Snapshot,
}

impl CommandName {
    pub const ALL: [Self; 20] = [
        Self::Backup,
        Self::Check,
        Self::Compact,
        Self::Export,
        Self::Forget,
        Self::ForgetPreview,
        Self::Get,
        Self::Instance,
        Self::List,
        Self::NameEntity,
        Self::NamePlace,
        Self::Pause,
        Self::Picture,
        Self::Procedure,
        Self::Recording,
        Self::Reload,
        Self::Restore,
        Self::Resume,
        Self::Search,
        Self::Snapshot,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Backup => "backup",
            Self::Check => "check",
            Self::Compact => "compact",
            Self::Export => "export",
            Self::Forget => "forget",
            Self::ForgetPreview => "forget_preview",
            Self::Get => "get",
            Self::Instance => "instance",
            Self::List => "list",
            Self::NameEntity => "name_entity",
            Self::NamePlace => "name_place",
            Self::Pause => "pause",
            Self::Picture => "picture",
            Self::Procedure => "procedure",
            Self::Recording => "recording",
            Self::Reload => "reload",
            Self::Restore => "restore",
            Self::Resume => "resume",
            Self::Search => "search",
            Self::Snapshot => "snapshot",
        }
    }

    /// Whether the command first replies that it has begun.
    pub const fn is_long(self) -> bool {
        matches!(self, Self::Backup | Self::Check | Self::Compact | Self::Export | Self::Restore | Self::Snapshot)
    }

    /// Whether the command holds much in memory for a while: pages of events, pictures, an index beside the one in use.
    pub const fn takes_memory(self) -> bool {
        matches!(
            self,
            Self::Check
                | Self::Compact
                | Self::Export
                | Self::Get
                | Self::List
                | Self::Picture
                | Self::Search
                | Self::Snapshot
        )
    }

    /// Whether the command destroys, renames, pauses, fills the disk or shows what a camera saw, and so needs authentication.
    pub(crate) const fn is_guarded(self) -> bool {
        matches!(
            self,
            Self::Backup
                | Self::Export
                | Self::Forget
                | Self::NameEntity
                | Self::Pause
                | Self::Picture
                | Self::Recording
                | Self::Restore
                | Self::Resume
        )
    }
}

/// The names of all commands.
pub fn command_names() -> impl Iterator<Item = &'static str> {
    CommandName::ALL.into_iter().map(CommandName::as_str)
}

//! `engram man`: engram(1), for the package. One page holds every command, as people look for them in one place.

use std::io::{Result, Write};

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::cli::Cli;

/// The page, as roff.
///
/// # Errors
/// None that a write to memory does not have.
pub fn page() -> Result<String> {
    let mut page = Vec::new();
    // Built, it knows its global flags; the commands below are taken from one that is not, so that none repeats them.
    let mut program = Cli::command();
    program.build();
    Man::new(program).render(&mut page)?;
    commands(&Cli::command(), "engram", &mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

fn commands(parent: &Command, path: &str, page: &mut Vec<u8>) -> Result<()> {
    for command in parent.get_subcommands().filter(|command| !command.is_hide_set()) {
        let path = format!("{path} {}", command.get_name());
        writeln!(page, ".SH \"{}\"", path.to_uppercase())?;
        let mut section = Vec::new();
        let part = Man::new(command.clone().disable_help_flag(true).disable_version_flag(true));
        part.render_description_section(&mut section)?;
        part.render_options_section(&mut section)?;
        // Within a command these are parts of its own section.
        page.extend_from_slice(
            String::from_utf8_lossy(&section).replace(".SH DESCRIPTION", "").replace(".SH OPTIONS", ".PP").as_bytes(),
        );
        commands(command, &path, page)?;
    }
    Ok(())
}

//! `engram run`.

use toml::Value;

use crate::cli::{GlobalArgs, RunArgs, source_of_flag};
use crate::config::{FlagValue, LayerSources};
use crate::daemon::{self, RunOptions};
use crate::exit::{Exit, Failure, OrExit};
use crate::senses::source_spec;

/// Runs the daemon.
///
/// # Errors
/// See the exit codes.
pub fn run(args: &RunArgs, global: &GlobalArgs) -> Result<Exit, Failure> {
    let mut layers = global.layers();
    add_sources(&mut layers, args)?;
    let (loaded, log) = super::prepare_layers(&layers, false)?;
    if args.exit_at_end {
        let mut sources = loaded.config.sources.iter().filter(|(_, source)| source.enabled);
        let ends = |name: &str, source| source_spec(name, source).is_ok_and(|spec| !spec.is_live());
        if !sources.any(|(name, source)| ends(name, source) && !source.repeat) {
            let message = "--exit-at-end needs a file that ends; name one with --source file:PATH";
            return Err(Failure::new(Exit::Usage, message));
        }
    }
    let options = RunOptions { exit_at_end: args.exit_at_end, strict: args.strict };
    daemon::run(&loaded, layers, options, log)
}

/// `--source` takes the place of the configured sources; each gets a name that reads well in evidence.
fn add_sources(layers: &mut LayerSources, args: &RunArgs) -> Result<(), Failure> {
    if args.sources.is_empty() {
        if args.speed.is_some() || args.playback.start_at.is_some() || args.playback.subtitles.is_some() {
            let message = "--speed, --start-at and --subtitles belong to --source; \
                           set them in [sources.NAME] for a configured source";
            return Err(Failure::new(Exit::Usage, message));
        }
        return Ok(());
    }
    let mut table = toml::Table::new();
    for uri in &args.sources {
        let source = source_of_flag(uri, args.speed, &args.playback);
        let base = source_name(uri);
        let name = (1..)
            .map(|number| if number == 1 { base.clone() } else { format!("{base}-{number}") })
            .find(|name| !table.contains_key(name))
            .expect("there are more numbers than sources");
        table.insert(name, Value::try_from(source).or_exit(Exit::Internal)?);
    }
    layers.flags.push(("sources".into(), FlagValue::Replace(Value::Table(table)), "--source".into()));
    Ok(())
}

/// A name for a source that has none: the file's, else the kind of source.
pub(super) fn source_name(uri: &str) -> String {
    let (kind, rest) = uri.split_once(':').unwrap_or((uri, ""));
    let name = match kind {
        "file" => std::path::Path::new(rest).file_stem().map(|stem| stem.to_string_lossy().into_owned()),
        _ => None,
    };
    let name: String = name
        .unwrap_or_else(|| kind.to_owned())
        .chars()
        .map(|letter| if "+#/.".contains(letter) || letter.is_control() { '-' } else { letter })
        .take(48)
        .collect();
    let name = name.trim_start_matches('$').trim().to_owned();
    if name.is_empty() { "source".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};
    use crate::config::load;

    fn load_with(words: &[&str]) -> Result<crate::config::Config, String> {
        let cli = Cli::try_parse_from([&["engram", "run"], words].concat()).unwrap();
        let Command::Run(args) = cli.command else { panic!("not run") };
        let mut layers = LayerSources {
            environment: vec![("ENGRAM__SOURCES__OLD__URI".into(), "test".into())],
            ..LayerSources::default()
        };
        add_sources(&mut layers, &args).map_err(|failure| failure.error.to_string())?;
        load(&layers).map(|loaded| loaded.config).map_err(|error| error.to_string())
    }

    #[test]
    fn sources_of_the_command_line_take_the_place_of_the_configured_ones() {
        let config = load_with(&["--source", "file:/a/b.mkv", "--source", "file:c/b.mp4", "--speed", "max"]).unwrap();
        let names: Vec<&str> = config.sources.keys().map(String::as_str).collect();
        assert_eq!(names, ["b", "b-2"]);
        assert_eq!(config.sources["b"].speed, crate::config::Speed::Max);
        assert_eq!(load_with(&[]).unwrap().sources.len(), 1);
    }

    #[test]
    fn playback_flags_without_a_source_are_refused() {
        assert!(load_with(&["--speed", "max"]).unwrap_err().contains("--source"));
    }

    #[test]
    fn names_of_sources_can_be_topic_levels_and_config_keys() {
        for uri in ["file:/x/a#b+c.d.mkv", "rtsp://u:p@h/s", "pipeline:videotestsrc ! x", "test", "file:", "$x"] {
            let name = source_name(uri);
            assert!(crate::topics::check_name(&name).is_ok(), "{uri}: {name:?}");
        }
        assert_eq!(source_name("file:/x/kitchen.mkv"), "kitchen");
        assert_eq!(source_name("v4l2:/dev/video0"), "v4l2");
    }
}

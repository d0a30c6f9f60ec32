use std::path::PathBuf;

use super::*;

const ANNOTATED: &str = include_str!("../../../config/engram.toml");

fn node(text: &str) -> Node {
    layers::parse(text, Path::new("engram.toml")).unwrap()
}

fn problems(text: &str) -> Vec<String> {
    schema::check(&node(text), &schema()).iter().map(ToString::to_string).collect()
}

fn in_directory(files: &[(&str, &str)]) -> (tempfile::TempDir, LayerSources) {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let sources = LayerSources { directory: Some(directory.path().to_path_buf()), ..LayerSources::default() };
    (directory, sources)
}

#[test]
fn no_file_at_all_means_the_defaults() {
    let (_directory, sources) = in_directory(&[]);
    let loaded = load(&sources).unwrap();
    assert_eq!(loaded.config, Config::default());
    assert!(loaded.files.is_empty());
}

#[test]
fn a_typo_is_refused_with_its_line_and_what_was_meant() {
    assert_eq!(
        problems("robot = \"r2\"\n\n[mqtt]\nhots = \"broker\"\n"),
        ["engram.toml:4: `mqtt.hots` is not a key that engram knows; did you mean `host`?"]
    );
    assert_eq!(
        problems("[metric]\nenabled = true\n"),
        ["engram.toml:1: `metric` is not a key that engram knows; did you mean `metrics`?"]
    );
}

#[test]
fn a_key_in_the_wrong_section_is_told_where_it_belongs() {
    let [problem] = problems("[log]\ncache_mib = 5\n").try_into().unwrap();
    assert!(problem.contains("`memory.cache_mib` exists"), "{problem}");
}

#[test]
fn a_wrong_type_names_key_line_and_what_is_expected() {
    assert_eq!(
        problems("[mqtt]\nport = \"1883\"\n"),
        ["engram.toml:2: `mqtt.port` must be a whole number from 1 to 65535, and is the text \"1883\""]
    );
    assert_eq!(
        problems("[sources.door]\nuri = \"test\"\nspeed = \"maxx\"\n"),
        ["engram.toml:3: `sources.door.speed` must be one of \"real\", \"max\", and is the text \"maxx\"; \
             did you mean `max`?"]
    );
    assert_eq!(problems("memory = 3\n").len(), 1);
    assert_eq!(problems("[robot]\nname = \"x\"\n").len(), 1);
}

#[test]
fn every_problem_is_reported_at_once() {
    assert_eq!(problems("colour = 1\n[mqtt]\nport = 70000\n[log]\nlevel = 3\n").len(), 3);
}

#[test]
fn broken_toml_names_the_line() {
    let problem = layers::parse("robot = \"a\"\n[mqtt\n", Path::new("engram.toml")).unwrap_err();
    assert!(problem.to_string().starts_with("engram.toml:2: is not valid TOML"), "{problem}");
}

#[test]
fn later_layers_win_key_by_key_and_origins_are_kept() {
    let (_directory, mut sources) = in_directory(&[
        ("engram.toml", "robot = \"one\"\n[mqtt]\nhost = \"a\"\nport = 1\n"),
        ("conf.d/20-b.toml", "[mqtt]\nport = 3\n"),
        ("conf.d/10-a.toml", "[mqtt]\nhost = \"b\"\nport = 2\n"),
        ("conf.d/30-c.toml.bak", "[mqtt]\nport = 9\n"),
    ]);
    sources.environment = vec![("ENGRAM__MQTT__HOST".into(), "c".into()), ("ENGRAM__ROBOT".into(), "7".into())];
    sources.flags = vec![("robot".into(), FlagValue::Loose("eight".into()), "--robot".into())];
    let loaded = load(&sources).unwrap();
    assert_eq!(loaded.config.robot.as_deref(), Some("eight"));
    assert_eq!((loaded.config.mqtt.host.as_str(), loaded.config.mqtt.port), ("c", Some(3)));
    assert_eq!(loaded.origin("robot"), Origin::Flag("--robot".into()));
    assert_eq!(loaded.origin("mqtt.host"), Origin::Environment("ENGRAM__MQTT__HOST".into()));
    assert!(matches!(loaded.origin("mqtt.port"), Origin::File { path, line: 2 } if path.ends_with("20-b.toml")));
    assert_eq!(loaded.origin("log.level"), Origin::Default);
}

#[test]
fn a_variable_that_names_no_key_is_refused() {
    let sources = LayerSources {
        environment: vec![("ENGRAM__MQTT__PROT".into(), "1".into()), ("ENGRAM__MQTT__PORT".into(), "x".into())],
        ..LayerSources::default()
    };
    let error = load(&sources).unwrap_err().to_string();
    assert!(error.contains("environment ENGRAM__MQTT__PROT: `mqtt.prot` is not a key"), "{error}");
    assert!(error.contains("did you mean `port`?"), "{error}");
    assert!(error.contains("environment ENGRAM__MQTT__PORT: `mqtt.port` must be a whole number"), "{error}");
}

#[test]
fn text_keys_take_unquoted_values_and_lists_take_commas() {
    let (_directory, mut sources) = in_directory(&[]);
    sources.environment = vec![
        ("ENGRAM__ROBOT".into(), "42".into()),
        ("ENGRAM__MODELS__DISABLED".into(), "objects, voice activity".into()),
        ("ENGRAM__METRICS__ENABLED".into(), "false".into()),
        ("ENGRAM__SOURCES__DOOR__URI".into(), "test".into()),
    ];
    let config = load(&sources).unwrap().config;
    assert_eq!(config.robot.as_deref(), Some("42"));
    assert_eq!(config.models.disabled, ["objects", "voice activity"]);
    assert!(!config.metrics.enabled);
    assert_eq!(config.sources["door"].uri, "test");
}

#[test]
fn a_credential_of_systemd_is_the_password_unless_one_is_configured() {
    let credentials = tempfile::tempdir().unwrap();
    std::fs::write(credentials.path().join("mqtt-password"), "secret").unwrap();
    let password_file = |text: &str| {
        let (_directory, mut sources) = in_directory(&[("engram.toml", text)]);
        sources.credentials = Some(credentials.path().to_path_buf());
        load(&sources).unwrap().config.mqtt.password_file
    };
    assert_eq!(password_file("[mqtt]\nusername = \"a\""), Some(credentials.path().join("mqtt-password")));
    assert_eq!(password_file("[mqtt]\nusername = \"a\"\npassword_file = \"/b\""), Some("/b".into()));
    assert_eq!(password_file(""), None);
}

#[test]
fn the_demo_configuration_is_sound() {
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/../config/demo.toml");
    let sources = LayerSources { file: Some(PathBuf::from(demo)), ..LayerSources::default() };
    assert!(!load(&sources).unwrap().config.sources.is_empty());
}

#[test]
fn a_missing_config_file_is_an_error() {
    let sources = LayerSources { file: Some(PathBuf::from("/nonexistent/engram.toml")), ..LayerSources::default() };
    let error = load(&sources).unwrap_err().to_string();
    assert!(error.contains("/nonexistent/engram.toml") && error.contains("cannot be read"), "{error}");
}

#[test]
fn values_that_no_type_can_check_are_checked() {
    let (_directory, mut sources) = in_directory(&[(
        "engram.toml",
        "robot = \"a/b\"\n[memory]\ntime_zone = \"Mars/Base\"\n[metrics]\nlisten = \"127.0.0.1:9464\"\n\
         [sources.cam]\nstart_at = \"today\"\n",
    )]);
    let error = load(&sources).unwrap_err().to_string();
    for part in ["engram.toml:1: `robot`", "memory.time_zone", "sources.cam` has no `uri`", "sources.cam.start_at"] {
        assert!(error.contains(part), "{part} in {error}");
    }
    sources.directory = None;
    sources.flags = vec![("metrics.listen".into(), FlagValue::Loose("nowhere".into()), "--set".into())];
    let error = load(&sources).unwrap_err().to_string();
    assert!(error.contains("`metrics.listen`") && error.contains("socket address"), "{error}");
}

#[test]
fn a_client_certificate_without_an_authority_is_refused() {
    let tls = "[mqtt.tls]\nenabled = true\ncert_file = \"client.pem\"\nkey_file = \"client.key\"\n";
    let (_directory, sources) = in_directory(&[("engram.toml", tls)]);
    let error = load(&sources).unwrap_err().to_string();
    assert!(error.contains("`mqtt.tls.ca_file` is missing"), "{error}");

    let (_directory, sources) = in_directory(&[("engram.toml", &format!("{tls}ca_file = \"ca.pem\"\n"))]);
    assert_eq!(load(&sources).map(|loaded| loaded.config.mqtt.tls.enabled).ok(), Some(true));
}

#[test]
fn a_model_as_controller_needs_an_endpoint_that_serves_it() {
    let controller = "[reasoning]\ncontroller = \"model\"\n";
    let chat = "[llm.chat]\nurl = \"http://127.0.0.1:8080/v1\"\nmodel = \"tiny\"\n";
    let loaded = |text: String| {
        let (_directory, sources) = in_directory(&[("engram.toml", &text)]);
        load(&sources).map(|loaded| loaded.config.reasoning.controller).map_err(|error| error.to_string())
    };
    assert_eq!(loaded(String::new()), Ok(ControllerKind::Policy));
    assert_eq!(loaded(format!("{controller}{chat}")), Ok(ControllerKind::Model));
    for lacking in [controller.to_owned(), format!("{controller}{chat}purposes = [\"answers\"]\n")] {
        let error = loaded(lacking).unwrap_err();
        assert!(error.contains("engram.toml:2: `reasoning.controller` is `model`, but no language model"), "{error}");
    }
    assert!(loaded(controller.replace("model", "dice")).unwrap_err().contains("reasoning.controller"));
}

#[test]
fn the_effective_configuration_reads_back_as_itself() {
    let (_directory, mut sources) = in_directory(&[(
        "engram.toml",
        "[sources.\"front door\"]\nuri = \"rtsp://a:b@c/d\"\n[memory]\ncache_mib = 7\n",
    )]);
    let loaded = load(&sources).unwrap();
    let text = annotated_toml(&loaded);
    assert!(text.contains("rtsp://a:<hidden>@c/d") && !text.contains("a:b@c"), "{text}");
    assert!(text.contains("engram.toml:4"), "{text}");
    assert!(text.contains("# max_mib is not set"), "{text}");
    let (_again, directory) = in_directory(&[("engram.toml", &text)]);
    sources.directory = directory.directory;
    let mut expected = loaded.config;
    expected.sources.get_mut("front door").unwrap().uri = "rtsp://a:<hidden>@c/d".into();
    assert_eq!(load(&sources).unwrap().config, expected);
}

/// The annotated file with every commented key made active.
fn uncommented() -> String {
    let is_setting = |line: &str| {
        line.strip_prefix('#').is_some_and(|rest| {
            rest.starts_with('[')
                || rest.split_once(" = ").is_some_and(|(key, _)| !key.contains(' ') && !key.is_empty())
        })
    };
    ANNOTATED.lines().map(|line| if is_setting(line) { &line[1..] } else { line }).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_annotated_file_is_the_defaults() {
    let config: Config = node(ANNOTATED).to_value().try_into().unwrap();
    assert_eq!(config, Config::default());
    assert_eq!(problems(ANNOTATED), Vec::<String>::new());
}

#[test]
fn every_default_is_written_in_the_annotated_file() {
    let written = node(ANNOTATED);
    let mut missing = Vec::new();
    fn visit(prefix: &str, value: &Value, written: &Node, missing: &mut Vec<String>) {
        for (key, inner) in value.as_table().unwrap() {
            let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
            match inner {
                Value::Table(_) => visit(&path, inner, written, missing),
                _ if written.at(&path).is_none() => missing.push(path),
                _ => {}
            }
        }
    }
    visit("", &Value::try_from(Config::default()).unwrap(), &written, &mut missing);
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn every_key_is_explained_in_the_annotated_file() {
    let text = uncommented();
    assert_eq!(problems(&text), Vec::<String>::new());
    let all = node(&text);
    let config: Config = all.to_value().try_into().unwrap();
    // The examples name alternatives, such as a password and its file, that are not used together.
    let faults: Vec<String> = validate(&config, &all).into_iter().map(|problem| problem.key).collect();
    let alternatives = [
        "mqtt.password",
        "mqtt.tls.enabled",
        "recording.server.token",
        "llm.replay",
        "llm.chat.token",
        "llm.vision.token",
        "mcp.token",
    ];
    assert_eq!(faults, alternatives);
    let missing: Vec<String> = schema::paths(&schema())
        .into_iter()
        .filter(|path| {
            all.at(&path
                .replace("sources.NAME", "sources.camera")
                .replace("allow.NAME", "allow.forget")
                .replace("backends.NAME", "backends.objects"))
                .is_none()
        })
        .collect();
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn a_default_that_another_key_made_wrong_is_told_with_the_line_of_that_key() {
    let (directory, sources) = in_directory(&[(
        "engram.toml",
        "[segments]\nmin_s = 30.0\n[mqtt]\npassword = \"secret\"\n[thermal]\nwarm_c = 90.0\n[mcp]\nlisten = \"127.0.0.1:9466\"\n",
    )]);
    let said = load(&sources).unwrap_err().to_string();
    let at = |line: usize| format!("{}:{line}: ", directory.path().join("engram.toml").display());
    for (line, words) in [
        (2, "`segments.max_s` must be at least twice `segments.min_s`; `segments.min_s` is set here"),
        (4, "`mqtt.username` is missing, and there is a password; `mqtt.password` is set here"),
        (6, "`thermal.hot_c` must not be below `thermal.warm_c`; `thermal.warm_c` is set here"),
        (
            8,
            "`mcp.token_file` is missing: the memory is served only to whoever knows a token; `mcp.listen` is set here",
        ),
    ] {
        assert!(said.contains(&[at(line).as_str(), words].concat()), "{said}");
    }
}

#[test]
fn fuzz_configuration() {
    let schema = schema();
    let valid = [
        ANNOTATED,
        "robot = \"r2\"\ndata_dir = \"/var/lib/engram\"\n[mqtt]\nhost = \"broker\"\nport = 8883\n[mqtt.tls]\nca_file = \"ca.pem\"\n",
        "[memory]\ntime_zone = \"Europe/Berlin\"\nmax_mib = 512\n[sources.door]\nuri = \"rtsp://user:word@camera/1\"\nstart_at = \"2026-11-20T08:00:00Z\"\n",
        "[backup]\nkeep = 7\nkeep_free_mib = 1024\n[mcp]\nlisten = \"127.0.0.1:9999\"\n[mqtt.allow]\nforget = true\n",
    ];
    let valid = valid.map(str::as_bytes);
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("engram.toml");
    fuzzing::fuzz("configuration", 400, |random| {
        // The long one, rarely: it takes the longest.
        let bytes = if random.below(8) == 0 { random.mutated(&valid) } else { random.mutated(&valid[1..]) };
        let text = String::from_utf8_lossy(&bytes);
        if let Ok(node) = layers::parse(&text, &file) {
            drop(schema::check(&node, &schema));
        }
        std::fs::write(&file, &bytes).unwrap();
        let name = String::from_utf8_lossy(&random.mutated(&[b"ENGRAM__MQTT__PORT"])).into_owned();
        let value = String::from_utf8_lossy(&random.mutated(&[b"1883", b"a, b, c", b"[1, 2]"])).into_owned();
        let environment = if random.below(2) == 0 { vec![(name, value)] } else { Vec::new() };
        let sources = LayerSources { file: Some(file.clone()), environment, ..LayerSources::default() };
        match load(&sources) {
            Ok(loaded) => drop(loaded.config),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    });
}

#[test]
fn the_annotated_file_names_every_role_and_every_purpose() {
    let section = |from: &str, to: &str| {
        let start = ANNOTATED.find(from).unwrap();
        &ANNOTATED[start..start + ANNOTATED[start..].find(to).unwrap()]
    };
    let roles = section("# Roles that stay empty", "\ndisabled =");
    for role in drivers::models::Role::ALL {
        assert!(roles.contains(&format!("\"{}\"", role.name())), "`models.disabled` does not name {}", role.name());
    }
    let chat = section("[llm.chat]", "[llm.vision]");
    let vision = section("[llm.vision]", "[mcp]");
    for purpose in [Purpose::Answers, Purpose::Facts, Purpose::Gists, Purpose::Procedures] {
        assert!(chat.contains(&format!("\"{}\"", purpose.name())), "[llm.chat] does not name {}", purpose.name());
    }
    for purpose in [Purpose::Captions, Purpose::Looking] {
        assert!(vision.contains(&format!("\"{}\"", purpose.name())), "[llm.vision] does not name {}", purpose.name());
    }
}

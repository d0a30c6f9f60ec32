//! The container's recipe against the package that it is made from. Whether it builds is seen where something builds images.

use std::collections::BTreeSet;

use anyhow::{Context, Result};

fn read(path: &str) -> Result<String> {
    let path = engram_tests::repository().join(path);
    std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
}

#[test]
fn the_image_has_what_the_package_depends_on_and_recommends() -> Result<()> {
    let manifest: toml::Table = read("agent/Cargo.toml")?.parse()?;
    let deb = &manifest["package"]["metadata"]["deb"];
    let listed = |key: &str| -> Result<BTreeSet<String>> {
        let text = deb[key].as_str().with_context(|| format!("{key} is a text"))?;
        // Without the versions, which the base image fulfils.
        Ok(text.split(',').filter_map(|one| one.split_whitespace().next()).map(str::to_owned).collect())
    };
    let mut wanted = listed("depends")?;
    wanted.extend(listed("recommends")?);
    wanted.remove("systemd");
    let recipe = read("cross/Containerfile")?;
    let (_, install) = recipe.split_once("--no-install-recommends").context("packages are installed")?;
    let (install, _) = install.split_once("&&").context("and then tidied up")?;
    let installed: BTreeSet<String> =
        install.split_whitespace().filter(|word| *word != "\\").map(str::to_owned).collect();
    let missing: Vec<_> = wanted.difference(&installed).collect();
    assert!(missing.is_empty(), "cross/Containerfile does not install {missing:?}");
    Ok(())
}

#[test]
fn the_image_runs_as_the_unit_does() -> Result<()> {
    let (recipe, unit) = (read("cross/Containerfile")?, read("systemd/engram.service")?);
    let heap = "MALLOC_ARENA_MAX=1";
    assert!(unit.contains(heap) && recipe.contains(heap));
    for line in ["USER engram", "VOLUME /var/lib/engram", "ENTRYPOINT [\"/usr/bin/engram\"]", "CMD [\"run\"]"] {
        assert!(recipe.lines().any(|found| found == line), "no {line}");
    }
    let port = agent_default("metrics.listen")?;
    assert!(recipe.contains(&format!("EXPOSE {port}")) && recipe.contains(&format!("/dev/tcp/127.0.0.1/{port}")));
    Ok(())
}

/// The port in an address of the shipped configuration.
fn agent_default(key: &str) -> Result<String> {
    let config: toml::Table = read("config/engram.toml")?.parse()?;
    let (section, key) = key.split_once('.').context("a dotted key")?;
    let address = config[section][key].as_str().context("an address")?;
    Ok(address.rsplit(':').next().context("a port")?.to_owned())
}

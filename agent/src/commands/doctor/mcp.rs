//! The Model Context Protocol over HTTP: its token, its port, and who reaches it.

use std::net::TcpListener;

use super::{Finding, Report};
use crate::config::Config;
use crate::media::read_token;

pub fn examine(config: &Config, report: &mut Report) {
    let mcp = &config.mcp;
    let Some(listen) = mcp.listen else { return };
    if let Err(message) = read_token("mcp", mcp.token.as_deref(), mcp.token_file.as_deref()) {
        let step = "write a token with `openssl rand -hex 24` into a file that this user can read, and name it in mcp.token_file";
        report.say(Finding::error("MCP token", message, step));
        return;
    }
    match TcpListener::bind(listen) {
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            report.say(Finding::ok("MCP port", format!("{listen} is in use, by a running agent if there is one")));
        }
        Err(error) => {
            let step = "set mcp.listen to an address of this machine and a free port";
            report.say(Finding::error("MCP port", format!("{listen} cannot be used: {error}"), step));
        }
        Ok(_) if !listen.ip().is_loopback() => report.say(Finding::warning(
            "MCP port",
            format!("{listen} is open to the network, without encryption"),
            "put a proxy with TLS in front and set mcp.listen to 127.0.0.1, if others use this network",
        )),
        Ok(_) => report.say(Finding::ok("MCP port", format!("{listen} is free"))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Severity;
    use super::*;
    use crate::config::McpConfig;
    use crate::output::Output;

    fn found(mcp: McpConfig) -> Vec<(String, Severity)> {
        let mut report = Report { findings: Vec::new(), output: Output { json: true } };
        examine(&Config { mcp, ..Config::default() }, &mut report);
        report.findings.into_iter().map(|finding| (finding.check, finding.severity)).collect()
    }

    #[test]
    fn a_missing_token_and_an_open_port_are_found_and_nothing_is_said_where_it_is_off() {
        assert_eq!(found(McpConfig::default()), []);
        let listen = |address: &str| Some(address.parse().unwrap());
        let unreadable = McpConfig {
            listen: listen("127.0.0.1:0"),
            token_file: Some("/nowhere/mcp.token".into()),
            ..McpConfig::default()
        };
        assert_eq!(found(unreadable), [("MCP token".to_owned(), Severity::Error)]);
        let token = Some("0123456789abcdef".to_owned());
        let open = McpConfig { listen: listen("0.0.0.0:0"), token, ..McpConfig::default() };
        assert_eq!(found(open.clone()), [("MCP port".to_owned(), Severity::Warning)]);
        let own = McpConfig { listen: listen("127.0.0.1:0"), ..open };
        assert_eq!(found(own), [("MCP port".to_owned(), Severity::Ok)]);
    }
}

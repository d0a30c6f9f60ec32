//! Addresses of OpenAI-compatible endpoints, as the configuration names them.

use hyper::Uri;

/// Path of completions below the base.
const PATH: &str = "/chat/completions";

/// Address of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointAddress {
    /// Whether the connection is encrypted.
    pub tls: bool,
    /// Name or address, without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Path of the completions.
    pub(crate) path: String,
}

impl EndpointAddress {
    /// Reads the base of an endpoint.
    ///
    /// # Errors
    /// Says what is wrong, to be read after the key.
    pub fn parse(url: &str) -> Result<Self, String> {
        let example = "for instance \"http://127.0.0.1:8080/v1\"";
        let uri: Uri = url.parse().map_err(|_| format!("is not an address, {example}"))?;
        let tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(format!("begins with http:// or https://, {example}")),
        };
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err("has a user or a password; name the secret in `token_file`".to_owned());
        }
        if uri.query().is_some() {
            return Err("has a query; only the base of the addresses belongs here".to_owned());
        }
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        if host.is_empty() {
            return Err(format!("has no host, {example}"));
        }
        let port = uri.port_u16().unwrap_or(if tls { 443 } else { 80 });
        let base = uri.path().trim_end_matches('/');
        let path = format!("{}{PATH}", base.strip_suffix(PATH).unwrap_or(base));
        Ok(Self { tls, host, port, path })
    }

    /// Whether it is this machine.
    pub fn is_here(&self) -> bool {
        let address = self.host.parse::<std::net::IpAddr>();
        self.host == "localhost" || address.is_ok_and(|address| address.is_loopback())
    }

    /// Host and port, as they are shown.
    pub fn authority(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

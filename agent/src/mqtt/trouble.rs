//! What a connection that could not be made means, and what to do about it.

use std::error::Error;
use std::io;

use rustls::CertificateError;

use super::client::EndKind;

/// A broker whose certificate was not accepted, or who speaks no TLS: the kind of the end and the advice.
pub fn encryption(error: &(dyn Error + 'static)) -> (EndKind, &'static str) {
    match tls_error(error) {
        Some(rustls::Error::InvalidCertificate(fault)) => (EndKind::Untrusted, certificate(fault)),
        Some(rustls::Error::AlertReceived(_)) => {
            (EndKind::Untrusted, "the broker refuses: does it want a certificate (mqtt.tls.cert_file and key_file)?")
        }
        Some(rustls::Error::InvalidMessage(_)) => {
            (EndKind::Untrusted, "does the broker speak TLS on this port? If not, see mqtt.tls.enabled and mqtt.port")
        }
        _ => (EndKind::Lost, "check mqtt.tls and the broker's certificate"),
    }
}

fn certificate(fault: &CertificateError) -> &'static str {
    match fault {
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "the broker's certificate is of another host: set mqtt.host to a name that is in it, or give the broker one for \
             this name (mqtt.tls has nothing that skips this check)"
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "the broker's certificate has expired: renew it, and check this machine's clock (mqtt.tls cannot help)"
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "the broker's certificate is not valid yet: check this machine's clock (mqtt.tls cannot help)"
        }
        CertificateError::Revoked => {
            "the broker's certificate was revoked, says mqtt.tls.crl_file: give the broker a new one"
        }
        CertificateError::UnknownIssuer => {
            "nobody that engram trusts vouches for the broker's certificate: name its authority in mqtt.tls.ca_file"
        }
        _ => "check mqtt.tls and the broker's certificate",
    }
}

/// The error of the TLS library in a chain of errors.
fn tls_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<rustls::Error>() {
            return Some(found);
        }
        // What is wrapped in an error of the system is not its source, but itself.
        if let Some(inner) = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            let inner: &(dyn Error + 'static) = inner;
            if let Some(found) = tls_error(inner) {
                return Some(found);
            }
        }
        next = error.source();
    }
    None
}

/// A system's error while connecting to `place`; `None` where it says nothing of the network.
pub fn network(error: &io::Error, place: &str) -> Option<(EndKind, String)> {
    let message = match error.kind() {
        io::ErrorKind::ConnectionRefused => {
            format!("no broker answers at {place}; is it running, and are mqtt.host and mqtt.port right?")
        }
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => {
            format!("{place} cannot be reached from this machine ({error}); is it connected to the broker's network?")
        }
        io::ErrorKind::TimedOut => format!("the broker at {place} does not answer; are mqtt.host and mqtt.port right?"),
        // The standard library has no kind for it.
        _ if error.to_string().contains("lookup address") => {
            let message = format!("the name of the broker in {place} is not resolved ({error}); correct mqtt.host");
            return Some((EndKind::NoSuchHost, message));
        }
        _ => return None,
    };
    Some((EndKind::Lost, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_of_another_host_is_told_from_a_broker_that_is_away() {
        let wrong = |fault| io::Error::new(io::ErrorKind::InvalidData, rustls::Error::InvalidCertificate(fault));
        let (kind, advice) = encryption(&wrong(CertificateError::NotValidForName));
        assert!(kind == EndKind::Untrusted && advice.contains("another host"), "{advice}");
        let (kind, advice) = encryption(&wrong(CertificateError::UnknownIssuer));
        assert!(kind == EndKind::Untrusted && advice.contains("mqtt.tls.ca_file"), "{advice}");
        assert_eq!(encryption(&io::Error::from(io::ErrorKind::UnexpectedEof)).0, EndKind::Lost);
    }

    #[test]
    fn refused_unreachable_and_not_resolved_are_told_apart() {
        let said =
            |error: io::Error| network(&error, "broker.local:1883").map(|(_, message)| message).unwrap_or_default();
        assert!(said(io::ErrorKind::ConnectionRefused.into()).contains("is it running"));
        assert!(said(io::ErrorKind::HostUnreachable.into()).contains("cannot be reached"));
        let lookup = io::Error::other("failed to lookup address information: Name or service not known");
        assert_eq!(network(&lookup, "x").map(|(kind, _)| kind), Some(EndKind::NoSuchHost));
        assert_eq!(network(&io::ErrorKind::BrokenPipe.into(), "x"), None);
    }
}

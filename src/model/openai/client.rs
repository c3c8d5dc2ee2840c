//! The HTTP client of an endpoint: its certificates, its proxy, its patience; and what it means
//! when a request does not get through.

use std::error::Error;
use std::io;
use std::path::Path;
use std::sync::Once;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Certificate, Client};

use super::errors::{Facts, PROXY_HINT};
use super::options::EndpointOptions;
use crate::model::ModelError;

/// A bundle of certificates is at most this long.
const LONGEST_BUNDLE: u64 = 16 * 1024 * 1024;

/// Returns a client for an endpoint. Redirects are never followed: a key must not travel to
/// another host, and a login page is no answer.
pub(super) fn build(options: &EndpointOptions) -> Result<Client, ModelError> {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // It fails only when one was installed before, which serves as well.
        drop(rustls::crypto::ring::default_provider().install_default());
    });
    let mut builder = Client::builder()
        .redirect(Policy::none())
        .connect_timeout(options.connect_timeout)
        .pool_idle_timeout(Duration::from_secs(30))
        .user_agent(concat!("groundskeeper/", env!("CARGO_PKG_VERSION")));
    let mut authorities = Vec::new();
    if let Some(path) = &options.ca_file {
        authorities = read_authorities(path)?;
    }
    builder = if options.base.is_encrypted() {
        builder.tls_certs_merge(authorities)
    } else {
        // A plain line needs no roots, also on a system that has none.
        builder.tls_certs_only(authorities)
    };
    if options.base.is_loopback() {
        // `HTTP_PROXY` would capture the own machine too.
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| ModelError::Endpoint {
        message: format!("the HTTP client cannot be made: {}", innermost(&error)),
        hint: Some("check the system's certificates, or name some with `endpoint.ca_file`".into()),
    })
}

fn read_authorities(path: &Path) -> Result<Vec<Certificate>, ModelError> {
    let bad = |reason: String| ModelError::Endpoint {
        message: format!("the certificates in `{}` cannot be used: {reason}", path.display()),
        hint: Some("`endpoint.ca_file` must name a PEM file with certificates".to_owned()),
    };
    let metadata = std::fs::metadata(path).map_err(|error| bad(error.to_string()))?;
    if !metadata.is_file() || metadata.len() > LONGEST_BUNDLE {
        return Err(bad("it is no file of certificates".to_owned()));
    }
    let text = std::fs::read(path).map_err(|error| bad(error.to_string()))?;
    let found = Certificate::from_pem_bundle(&text).map_err(|error| bad(innermost(&error)))?;
    if found.is_empty() {
        return Err(bad("there is no certificate in it".to_owned()));
    }
    Ok(found)
}

impl Facts {
    /// Returns what it means that a request did not get through.
    pub(super) fn not_through(&self, error: &reqwest::Error) -> ModelError {
        let reason = self.clean(&innermost(error));
        let host = &self.host;
        if let Some(problem) = certificate_problem(error) {
            return ModelError::Endpoint {
                message: format!("the certificate of {host} is not trusted: {problem}"),
                hint: Some(
                    "if the certificate is right, name its authority's PEM file with `endpoint.ca_file`"
                        .to_owned(),
                ),
            };
        }
        if chain(error).any(|cause| {
            let text = cause.to_string().to_lowercase();
            text.contains("proxy") || text.contains("tunnel")
        }) {
            return ModelError::Endpoint {
                message: format!(
                    "{} does not let the request to {host} through: {reason}",
                    self.proxy
                ),
                hint: Some(PROXY_HINT.to_owned()),
            };
        }
        if speaks_plainly(error) {
            return ModelError::Endpoint {
                message: format!("{host} does not speak TLS"),
                hint: Some("write `http://` in `endpoint.base_url`".to_owned()),
            };
        }
        if error.is_builder() || error.is_request() && !error.is_connect() && !is_io(error) {
            return ModelError::Endpoint {
                message: format!("the request to {host} failed: {reason}"),
                hint: None,
            };
        }
        let (message, hint) = if error.is_timeout() {
            (format!("no connection to {host} came about in time"), "check the network")
        } else if error.is_connect() && is_name_error(error) {
            (
                format!("the host of {} is not known: {reason}", self.url),
                "check `endpoint.base_url`",
            )
        } else if error.is_connect() {
            (format!("no connection to {host}: {reason}"), "is the server running?")
        } else {
            (format!("the line to {host} broke: {reason}"), "check the network")
        };
        ModelError::Unavailable { message, hint: Some(hint.to_owned()), retry_after: None }
    }
}

/// Returns the innermost cause, which says most.
pub(super) fn innermost(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = cause.to_string();
        source = cause.source();
    }
    text
}

fn chain(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    let first: &(dyn Error + 'static) = error;
    std::iter::successors(Some(first), |&error| error.source())
}

fn tls_error(error: &reqwest::Error) -> Option<&rustls::Error> {
    chain(error).find_map(|cause| {
        // An `io::Error` is no source of its own content, and may hold another one.
        let mut cause = cause;
        loop {
            if let Some(found) = cause.downcast_ref::<rustls::Error>() {
                return Some(found);
            }
            cause = cause.downcast_ref::<io::Error>()?.get_ref()?;
        }
    })
}

fn certificate_problem(error: &reqwest::Error) -> Option<String> {
    match tls_error(error)? {
        rustls::Error::InvalidCertificate(problem) => Some(problem.to_string()),
        rustls::Error::NoCertificatesPresented => Some("it shows none".to_owned()),
        _ => None,
    }
}

fn speaks_plainly(error: &reqwest::Error) -> bool {
    matches!(tls_error(error), Some(rustls::Error::InvalidMessage(_)))
}

fn is_io(error: &reqwest::Error) -> bool {
    // A connection that ends before the answer is no `io::Error` everywhere.
    chain(error).any(|cause| {
        cause.downcast_ref::<io::Error>().is_some()
            || cause.to_string().contains("connection closed")
            || cause.to_string().contains("incomplete")
    })
}

fn is_name_error(error: &reqwest::Error) -> bool {
    chain(error).any(|cause| {
        let text = cause.to_string();
        text.contains("dns error") || text.contains("lookup address")
    })
}

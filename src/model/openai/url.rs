//! From what a person writes as base URL to the URLs that are asked.
//!
//! A trailing slash, a missing `/v1`, a query (Azure's `api-version`) and a pasted
//! `/chat/completions` all lead to the one right URL; anything that is no `http` URL is refused
//! with a sentence.

use reqwest::Url;

use super::key::MASKED;
use super::presets::base_path;

/// What of a query is no secret.
const SHOWN_QUERIES: [&str; 2] = ["api-version", "api_version"];

/// The base of an endpoint, understood.
#[derive(Clone, PartialEq, Eq)]
pub struct BaseUrl {
    url: Url,
}

/// Why a text is no base URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the base URL `{text}` cannot be used: {reason}")]
pub struct BadUrl {
    /// What was written, without user and password.
    pub text: String,
    /// What is wrong with it.
    pub reason: String,
}

impl BaseUrl {
    /// Reads a base URL as a person writes it.
    pub fn parse(text: &str) -> Result<Self, BadUrl> {
        let text = text.trim();
        let bad = |reason: &str| BadUrl { text: without_user(text), reason: reason.to_owned() };
        if text.is_empty() {
            return Err(bad("it is empty"));
        }
        // `localhost:8080` parses as a scheme named localhost.
        let with_scheme =
            if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let mut url = Url::parse(&with_scheme).map_err(|error| bad(&error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(bad("it must begin with `http://` or `https://`"));
        }
        if url.host_str().is_none_or(str::is_empty) {
            return Err(bad("it names no host"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(bad("a user or password has no place in it; keys come from `api_key`"));
        }
        url.set_fragment(None);
        let mut path = url.path().trim_end_matches('/').to_owned();
        for ending in ["/chat/completions", "/completions", "/models"] {
            if let Some(base) = path.strip_suffix(ending) {
                path = base.trim_end_matches('/').to_owned();
                break;
            }
        }
        // Only a bare host lacks its version; a path is taken at its word.
        if path.is_empty() {
            path = base_path(url.host_str().unwrap_or_default()).to_owned();
        }
        url.set_path(&path);
        Ok(Self { url })
    }

    /// Returns the URL of a path below the base, the query kept.
    pub fn join(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        let base = self.url.path().trim_end_matches('/');
        url.set_path(&format!("{base}/{}", path.trim_start_matches('/')));
        url
    }

    /// Returns the URL of a path on the same host, outside the base.
    pub fn on_host(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        url.set_path(path);
        url.set_query(None);
        url
    }

    /// Returns the host, with the port where one is written.
    pub fn host(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        self.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// Returns the host's name alone.
    pub fn host_name(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// Returns the port, also the scheme's usual one.
    pub fn port(&self) -> Option<u16> {
        self.url.port_or_known_default()
    }

    /// Returns whether the line is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Returns whether the server runs on this machine.
    pub fn is_loopback(&self) -> bool {
        let name = self.host_name().trim_matches(['[', ']']);
        name == "localhost"
            || name.ends_with(".localhost")
            || name
                .parse::<std::net::IpAddr>()
                .is_ok_and(|address| address.is_loopback() || address.is_unspecified())
    }

    /// Returns whether the server is on this machine or in a private network.
    pub fn is_local(&self) -> bool {
        let private = |address: std::net::IpAddr| match address {
            std::net::IpAddr::V4(address) => address.is_private() || address.is_link_local(),
            std::net::IpAddr::V6(address) => address.is_unique_local(),
        };
        let name = self.host_name().trim_matches(['[', ']']);
        self.is_loopback()
            || name.rsplit('.').next() == Some("local")
            || name.parse().is_ok_and(private)
    }
}

impl std::fmt::Debug for BaseUrl {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "BaseUrl({self})")
    }
}

impl std::fmt::Display for BaseUrl {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&shown(&self.url))
    }
}

/// Returns an URL as it may be shown: some gateways take a key in the query.
pub(super) fn shown(url: &Url) -> String {
    let Some(query) = url.query() else { return url.to_string() };
    let masked = |pair: &str| match pair.split_once('=') {
        Some((name, _)) if !SHOWN_QUERIES.contains(&name) => format!("{name}={MASKED}"),
        _ => pair.to_owned(),
    };
    let query: Vec<String> = query.split('&').map(masked).collect();
    let mut plain = url.clone();
    plain.set_query(None);
    format!("{plain}?{}", query.join("&"))
}

/// Returns a base URL as it may be shown, also one that is none.
pub fn shown_url(text: &str) -> String {
    let text = without_user(text);
    match Url::parse(&text) {
        Ok(url) if url.query().is_some() => shown(&url),
        _ => text,
    }
}

/// Returns the text without `user:password@`, which may be a secret.
fn without_user(text: &str) -> String {
    let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
    let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let rest = match rest[..authority_end].rfind('@') {
        Some(at) => &rest[at + 1..],
        None => rest,
    };
    if scheme.is_empty() { rest.to_owned() } else { format!("{scheme}://{rest}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(base: &str, expected: &str) {
        let url = BaseUrl::parse(base).unwrap().join("chat/completions");
        assert_eq!(url.as_str(), expected);
    }

    #[test]
    fn every_way_to_write_a_base_leads_to_one_url() {
        check("https://api.openai.com/v1", "https://api.openai.com/v1/chat/completions");
        check("https://api.openai.com/v1/", "https://api.openai.com/v1/chat/completions");
        check(" https://api.openai.com//\n", "https://api.openai.com/v1/chat/completions");
        check("localhost:8080", "http://localhost:8080/v1/chat/completions");
        check("http://127.0.0.1:1", "http://127.0.0.1:1/v1/chat/completions");
        check("https://x.y/api/v3/", "https://x.y/api/v3/chat/completions");
        check("https://x.y/v1/chat/completions", "https://x.y/v1/chat/completions");
        check(
            "https://a.openai.azure.com/openai/deployments/d?api-version=2024-10-21",
            "https://a.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21",
        );
        check("http://[::1]:8000/v1#x", "http://[::1]:8000/v1/chat/completions");
        let base = BaseUrl::parse("http://h:1/v1?a=b").unwrap();
        assert_eq!(base.on_host("/api/ps").as_str(), "http://h:1/api/ps");
    }

    #[test]
    fn what_is_no_base_gets_a_sentence() {
        let refused = |text: &str| BaseUrl::parse(text).unwrap_err().to_string();
        assert_eq!(refused(" "), "the base URL `` cannot be used: it is empty");
        assert_eq!(
            refused("ftp://x"),
            "the base URL `ftp://x` cannot be used: it must begin with `http://` or `https://`"
        );
        assert!(refused("http://").contains("host"));
        let error = refused("https://ann:sk-secret@x.y/v1");
        assert!(error.contains("`https://x.y/v1`") && !error.contains("secret"), "{error}");
        assert!(!refused("https://sk-secret@x y/").contains("secret"));
    }

    #[test]
    fn what_is_shown_of_an_url_holds_no_secret() {
        let base = BaseUrl::parse("https://x.y/v1?key=sk-secret&api-version=2024-10-21&t").unwrap();
        let expected = "https://x.y/v1?key=***&api-version=2024-10-21&t";
        assert_eq!((base.to_string().as_str(), shown(&base.url).as_str()), (expected, expected));
        assert_eq!(base.join("models").query(), Some("key=sk-secret&api-version=2024-10-21&t"));
        assert!(!format!("{base:?}").contains("secret"));
        assert_eq!(shown_url("https://ann:sk-secret@x.y/v1"), "https://x.y/v1");
        assert_eq!(shown_url("https://x.y/v1?sig=secret"), "https://x.y/v1?sig=***");
        assert_eq!(shown_url(""), "");
    }

    #[test]
    fn the_own_machine_is_known() {
        for (text, loopback, local) in [
            ("http://localhost:1", true, true),
            ("http://127.0.0.2", true, true),
            ("http://[::1]:3", true, true),
            ("http://0.0.0.0:8000", true, true),
            ("http://192.168.1.5:11434", false, true),
            ("https://api.openai.com", false, false),
            ("https://localhost.example.com", false, false),
        ] {
            let base = BaseUrl::parse(text).unwrap();
            assert_eq!((base.is_loopback(), base.is_local()), (loopback, local), "{text}");
        }
    }
}

//! Who is answered: only methods that read, only hosts that are meant, only browsers with the token where there is one.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{ALLOW, COOKIE, HOST, LOCATION, SET_COOKIE};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use constant_time_eq::constant_time_eq;

use crate::address::{ICON, STYLE};
use crate::answer;

/// Least and most letters of a token.
const LETTERS: std::ops::RangeInclusive<usize> = 16..=128;

/// What a browser must bring along.
#[derive(Clone)]
pub struct Token(String);

impl std::fmt::Debug for Token {
    /// Without its letters, which are nobody's business.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

impl Token {
    /// A token of one's own.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(text: &str) -> Result<Token, String> {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        if LETTERS.contains(&text.len()) && is_plain {
            return Ok(Token(text.to_owned()));
        }
        let found = text.chars().count();
        Err(format!("found {found} characters, expected {LETTERS:?} letters, digits, `-` and `_`"))
    }

    /// A token that cannot be guessed.
    ///
    /// # Errors
    /// If the host has no randomness.
    pub fn random() -> Result<Token, String> {
        let mut bytes = [0; 24];
        getrandom::fill(&mut bytes).map_err(|error| format!("the host's randomness: {error}"))?;
        Ok(Token(URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// Compares in a time that says nothing of how much agrees.
    fn is(&self, found: &str) -> bool {
        constant_time_eq(self.0.as_bytes(), found.as_bytes())
    }
}

/// Who is answered.
#[derive(Debug)]
pub struct Access {
    /// The address, if only this host reaches it.
    local: Option<IpAddr>,
    token: Option<Token>,
    /// Name of the cookie, another for each port: browsers do not tell the ports of a host apart.
    cookie: String,
}

impl Access {
    /// Who is answered at an address. Where other hosts reach it there is always a token.
    ///
    /// # Errors
    /// If the host has no randomness.
    pub fn new(at: SocketAddr, token: Option<Token>) -> Result<Access, String> {
        let local = at.ip().is_loopback().then_some(at.ip());
        let token = match (local, token) {
            (None, None) => Some(Token::random()?),
            (_, token) => token,
        };
        Ok(Access { local, token, cookie: format!("strata-{}", at.port()) })
    }

    /// What to open in a browser.
    pub fn url(&self, at: SocketAddr) -> String {
        let host = match at.ip() {
            ip if ip.is_unspecified() => format!("{}:{}", host_name(), at.port()),
            _ => at.to_string(),
        };
        let token = self.token.as_ref().map_or_else(String::new, |Token(token)| format!("?token={token}"));
        format!("http://{host}/{token}")
    }

    /// Whether a request names a host that is meant. A page elsewhere can make its own name mean this address, and would
    /// then read what it gets; but it cannot make a browser name another host than its own.
    fn is_meant(&self, headers: &HeaderMap) -> bool {
        let Some(local) = self.local else { return true };
        let mut hosts = headers.get_all(HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
        let Ok(host) = host.to_str() else { return false };
        // Any port: it may come through a tunnel.
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host,
        };
        if name.eq_ignore_ascii_case("localhost") {
            return true;
        }
        let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        address.parse::<IpAddr>().is_ok_and(|ip| ip == local || ip.is_loopback())
    }

    fn has_cookie(&self, token: &Token, headers: &HeaderMap) -> bool {
        let all = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.into_iter().any(|(name, value)| name == self.cookie && token.is(value))
    }
}

/// The host's name; its own address if it does not say.
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    if name.trim().is_empty() { "127.0.0.1".into() } else { name.trim().to_owned() }
}

/// Answers a request only if it may be answered. A token in an address is taken out of it and kept as a cookie.
pub async fn guard(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
    if !access.is_meant(request.headers()) {
        return answer::refusal(
            StatusCode::MISDIRECTED_REQUEST,
            "This page is for this host alone. Open it as localhost, with its port.",
        );
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let refusal =
            answer::refusal(StatusCode::METHOD_NOT_ALLOWED, "This page only shows; it takes nothing.");
        return ([(ALLOW, "GET, HEAD")], refusal).into_response();
    }
    let Some(token) = &access.token else { return next.run(request).await };
    if [STYLE, ICON].contains(&request.uri().path()) {
        return next.run(request).await;
    }
    if let Some(found) = given(request.uri()) {
        if token.is(found) {
            let cookie = format!("{}={found}; HttpOnly; SameSite=Lax; Path=/", access.cookie);
            let to = without_token(request.uri());
            return (StatusCode::SEE_OTHER, [(SET_COOKIE, cookie), (LOCATION, to)]).into_response();
        }
    } else if access.has_cookie(token, request.headers()) {
        return next.run(request).await;
    }
    answer::asks_for_token()
}

/// The token in an address.
fn given(uri: &Uri) -> Option<&str> {
    uri.query()?.split('&').find_map(|pair| pair.strip_prefix("token="))
}

/// An address of this site without its token.
fn without_token(uri: &Uri) -> String {
    let pairs = uri.query().unwrap_or_default().split('&');
    let rest: Vec<&str> = pairs.filter(|pair| !pair.is_empty() && !pair.starts_with("token=")).collect();
    // Two slashes at the beginning would be another host.
    let path = format!("/{}", uri.path().trim_start_matches('/'));
    if rest.is_empty() { path } else { format!("{path}?{}", rest.join("&")) }
}

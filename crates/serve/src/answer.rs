//! Responses: pages with their entity tags, refusals, and what browsers are forbidden with all of them.

use axum::extract::Request;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderName, IF_NONE_MATCH, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, html};
use sha2::{Digest, Sha256};

use crate::view::frame::Frame;

/// What every response says: nothing is embedded, guessed, kept by others or told to others.
const ALWAYS: [(HeaderName, &str); 6] = [
    (CACHE_CONTROL, "no-cache, private"),
    (REFERRER_POLICY, "no-referrer"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// What a page may load: this site's own style, script, icon and events; `styles` is what else of style stands in it, as a hash.
fn policy(styles: &str) -> String {
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self'{styles}; img-src 'self'; connect-src 'self'; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
}

/// Adds what every response says.
pub async fn always(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if !headers.contains_key(CONTENT_SECURITY_POLICY) {
        let strict = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
        headers.insert(CONTENT_SECURITY_POLICY, strict);
    }
    response
}

/// A page. Who has it already is told so.
pub fn page(asked: &HeaderMap, status: StatusCode, frame: &Frame<'_>) -> Response {
    let text = frame.document();
    let hash = match frame.colours {
        "" => String::new(),
        colours => format!(" 'sha256-{}'", STANDARD.encode(Sha256::digest(colours.as_bytes()))),
    };
    let mut response = file(asked, "text/html; charset=utf-8", text);
    let policy = HeaderValue::try_from(policy(&hash)).expect("a policy is ASCII");
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    if response.status() == StatusCode::OK {
        *response.status_mut() = status;
    }
    response
}

/// Text of a type. Who has it already is told so.
pub fn file(asked: &HeaderMap, kind: &'static str, text: impl Into<String>) -> Response {
    let text: String = text.into();
    let digest = Sha256::digest(text.as_bytes());
    let tag = format!("\"{}\"", STANDARD.encode(&digest[..15]));
    let known = asked.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let is_known = known.flat_map(|value| value.split(',')).any(|value| value.trim() == tag);
    let headers = [(CONTENT_TYPE, kind.to_owned()), (ETAG, tag)];
    if is_known {
        (StatusCode::NOT_MODIFIED, headers).into_response()
    } else {
        (headers, text).into_response()
    }
}

/// A page that says why there is nothing to see.
pub fn refusal(status: StatusCode, reason: &str) -> Response {
    let body = html! { section { p { (reason) } } };
    plain(status, status.canonical_reason().unwrap_or("Refused"), &body)
}

/// A page that says that something is not here, and where to look.
pub fn missing(asked: &HeaderMap, what: &str) -> Response {
    sorry(asked, StatusCode::NOT_FOUND, "Not found", what)
}

/// A page that says why there is no answer to what was asked, and where to look.
pub fn sorry(asked: &HeaderMap, status: StatusCode, title: &str, why: &str) -> Response {
    let body = html! { section { p { (why) } p { a href="/" { "What the store holds" } } } };
    page(asked, status, &Frame::new(title, &body))
}

/// Asks for the token.
pub fn asks_for_token() -> Response {
    let body = html! {
        section {
            p { "This page needs its token. Open the address that " code { "strata serve" } " has printed, or enter what follows "
                code { "token=" } " there." }
            form.search method="get" action="/" {
                label for="token" { "Token" }
                input id="token" name="token" type="password" autocomplete="off" required autofocus;
                button type="submit" { "Open" }
            }
        }
    };
    plain(StatusCode::UNAUTHORIZED, "Token needed", &body)
}

/// A page without the rest of the site.
fn plain(status: StatusCode, title: &str, body: &Markup) -> Response {
    page(&HeaderMap::new(), status, &Frame { bare: true, ..Frame::new(title, body) })
}

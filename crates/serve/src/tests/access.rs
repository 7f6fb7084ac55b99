//! Who is answered.

use super::*;

fn nothing(_: &Path) {}

#[tokio::test]
async fn only_methods_that_read_are_answered() {
    let site = Tested::local(nothing);
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "MADE-UP"] {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let answer = site.ask(method.clone(), "/", &[("host", "localhost")]).await;
        assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED, "{method}");
        assert_eq!(answer.headers["allow"], "GET, HEAD");
    }
    let head = site.ask(Method::HEAD, "/", &[("host", "localhost")]).await;
    assert_eq!((head.status, head.text.as_str()), (StatusCode::OK, ""));
    assert_eq!(site.get("/").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_name_that_was_made_to_mean_this_host_is_not_answered() {
    let site = Tested::local(nothing);
    for host in ["localhost", "LOCALHOST:1", "127.0.0.1:8327", "127.0.0.1", "[::1]:80", "[::1]"] {
        let answer = site.ask(Method::GET, "/", &[("host", host)]).await;
        assert_eq!(answer.status, StatusCode::OK, "{host}");
    }
    for host in [
        "example.org",
        "example.org:8327",
        "localhost.example.org",
        "127.0.0.1.example.org:8327",
        "localhost@example.org",
        "192.0.2.1:8327",
        "0.0.0.0:8327",
        "[::]:8327",
        "",
        ":8327",
        "localhost:x",
    ] {
        for path in ["/", "/events", "/style.css", "/none"] {
            let answer = site.ask(Method::GET, path, &[("host", host)]).await;
            assert_eq!(answer.status, StatusCode::MISDIRECTED_REQUEST, "{host} {path}");
        }
    }
    assert_eq!(site.ask(Method::GET, "/", &[]).await.status, StatusCode::MISDIRECTED_REQUEST);
    let twice = [("host", "localhost"), ("host", "example.org")];
    assert_eq!(site.ask(Method::GET, "/", &twice).await.status, StatusCode::MISDIRECTED_REQUEST);
}

#[tokio::test]
async fn without_its_token_nothing_of_the_store_is_shown() {
    let site = Tested::at(ELSEWHERE, Some(TOKEN), |folder| drop(put(folder, job("secret-workload", "m"), 1)));
    let cookie = format!("strata-8327={TOKEN}");
    for path in ["/", "/runs", "/diff", "/events", "/failures", "/script.js", "/none", "/paper/fuse"] {
        let (wrong, short) = (format!("{cookie}x"), &cookie[..cookie.len() - 1]);
        let other = format!("strata-1={TOKEN}");
        for headers in [
            &[][..],
            &[("cookie", wrong.as_str())],
            &[("cookie", short)],
            &[("cookie", other.as_str())],
            &[("cookie", "strata-8327")],
        ] {
            let answer = site.ask(Method::GET, path, headers).await;
            assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{path} {headers:?}");
            assert!(!answer.text.contains("secret-workload"));
        }
        let query = format!("{path}?token={TOKEN}x");
        let answer = site.ask(Method::GET, &query, &[("cookie", &cookie)]).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "a wrong token is not overlooked");
    }
    let several = format!("a=b; {cookie}; c=d");
    for headers in [&[("cookie", cookie.as_str())][..], &[("cookie", "x=y"), ("cookie", several.as_str())]] {
        let answer = site.ask(Method::GET, "/", headers).await;
        assert_eq!(answer.status, StatusCode::OK);
        assert!(answer.text.contains("secret-workload"));
    }
}

#[tokio::test]
async fn a_token_in_an_address_becomes_a_cookie_and_leaves_the_address() {
    let site = Tested::at(ELSEWHERE, Some(TOKEN), nothing);
    for (asked, expected) in [
        (format!("/?token={TOKEN}"), "/"),
        (format!("/runs?find=a&token={TOKEN}&page=2"), "/runs?find=a&page=2"),
        (format!("//example.org/x?token={TOKEN}"), "/example.org/x"),
    ] {
        let answer = site.ask(Method::GET, &asked, &[]).await;
        assert_eq!(
            (answer.status, &answer.headers["location"]),
            (StatusCode::SEE_OTHER, &expected.parse().unwrap())
        );
        let cookie = answer.headers["set-cookie"].to_str().unwrap();
        assert_eq!(cookie, format!("strata-8327={TOKEN}; HttpOnly; SameSite=Lax; Path=/"));
    }
}

#[test]
fn a_token_is_long_and_plain_and_never_printed() {
    for wrong in ["", "short", &"x".repeat(129), "0123456789abcde;", "0123456789abcdef ", "0123456789abcdé_"]
    {
        assert!(Token::new(wrong).unwrap_err().contains("expected 16..=128"), "{wrong}");
    }
    let token = Token::new(TOKEN).unwrap();
    assert_eq!(format!("{token:?}"), "Token");
    let local: SocketAddr = LOCAL.parse().unwrap();
    let elsewhere: SocketAddr = ELSEWHERE.parse().unwrap();
    assert_eq!(Access::new(local, None).unwrap().url(local), "http://127.0.0.1:8327/");
    let url = |at: SocketAddr| Access::new(at, None).unwrap().url(at);
    let made: Vec<String> = (0..2).map(|_| url(elsewhere)).collect();
    assert_ne!(made[0], made[1]);
    for url in made {
        let token = url.strip_prefix("http://192.0.2.1:8327/?token=").unwrap();
        assert!(token.len() == 32 && Token::new(token).is_ok(), "{token}");
    }
}

#[tokio::test]
async fn every_answer_forbids_what_it_does_not_need() {
    let site = Tested::at(ELSEWHERE, Some(TOKEN), |folder| drop(put(folder, job("w", "m"), 1)));
    let cookie = format!("strata-8327={TOKEN}");
    let with = [("cookie", cookie.as_str())];
    for (path, headers) in [
        ("/", &with[..]),
        ("/style.css", &[]),
        ("/script.js", &with),
        ("/events", &with),
        ("/none", &with),
        ("/", &[]),
        (&format!("/?token={TOKEN}"), &[]),
    ] {
        let answer = site.respond(Method::GET, path, headers).await;
        let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("referrer-policy"), "no-referrer");
        assert_eq!(header("cross-origin-resource-policy"), "same-origin");
        let policy = header("content-security-policy");
        assert!(
            policy.starts_with("default-src 'none'; ") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        assert!(!policy.contains("unsafe") && !policy.contains('*') && !policy.contains("http"), "{policy}");
    }
}

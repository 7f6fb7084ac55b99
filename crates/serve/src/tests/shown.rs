//! What is shown: escaped, bounded, and only what has an address.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::*;

pub const EVIL: &str = "<script>alert(1)</script>\"'&<img src=x>";
pub const ESCAPED: &str = "&lt;script&gt;alert(1)&lt;/script&gt;&quot;";

/// Whether a page has nothing of the evil text that a browser would act upon.
pub fn is_harmless(text: &str) -> bool {
    let scripts = text.matches("<script").count() - text.matches("<script src=\"/script.js\" defer>").count();
    scripts == 0 && !text.contains("<img") && !text.contains("\"'&<")
}

#[tokio::test]
async fn every_text_of_the_store_is_escaped() {
    let mut key = None;
    let mut sweep = None;
    let site = Tested::local(|folder| {
        let mut evil = job(EVIL, EVIL);
        evil.command = vec![EVIL.into()];
        evil.overrides = vec![EVIL.into()];
        evil.system = Some(EVIL.into());
        evil.launch_file = Some(EVIL.into());
        key = Some(put(folder, evil.clone(), 2));
        let failed = job(&format!("{EVIL}2"), EVIL);
        store::fail(folder, &failed, EVIL).unwrap();
        sweep = Some(store::announce(folder, &[EVIL.into()], [evil, failed].iter(), |_| false).unwrap());
        let wrong = format!("{} <b>.parquet", "0".repeat(32));
        std::fs::write(folder.join(wrong), "x").unwrap();
    });
    let id = site.site.watch.snapshot().store.as_ref().unwrap().sweeps().next().unwrap().id.clone();
    let key = key.unwrap();
    for path in
        ["/".to_owned(), "/runs".into(), format!("/run/{key}"), "/failures".into(), format!("/sweep/{id}")]
    {
        let answer = site.get(&path).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        assert!(answer.text.contains(ESCAPED), "{path} shows it: {}", answer.text);
        assert!(is_harmless(&answer.text), "{path}: {}", answer.text);
    }
    assert!(site.get("/failures").await.text.contains("&lt;b&gt;.parquet"));
    let asked = "/runs?find=%3Cscript%3Ealert(1)%3C/script%3E%22'%26%3Cimg+src%3Dx%3E";
    let answer = site.get(asked).await;
    assert!(answer.text.contains(ESCAPED) && is_harmless(&answer.text), "{}", answer.text);
}

#[tokio::test]
async fn an_address_names_keys_and_papers_and_never_files() {
    let site = Tested::local(|folder| {
        std::fs::write(folder.join("secret.toml"), "secret").unwrap();
        put(folder, job("w", "m"), 1);
    });
    let folder = site.folder.path().display().to_string().replace('/', "%2f");
    let zeros = "0".repeat(32);
    for path in [
        "/none".to_owned(),
        "/secret.toml".into(),
        "/run/secret.toml".into(),
        "/run/..%2fsecret.toml".into(),
        format!("/run/{folder}%2fsecret.toml"),
        format!("/run/{zeros}"),
        format!("/run/{}", "0".repeat(31)),
        format!("/run/{}", "A".repeat(32)),
        "/run/%00".into(),
        "/paper/none".into(),
        format!("/paper/{folder}%2fsecret.toml"),
        "/paper/..%2f..%2fsecret.toml".into(),
        "/paper/fuse?size=none".into(),
        "/paper/fuse?size=morpheus".into(),
        "/paper/fuse?figure=99".into(),
        "/paper/fuse?figure=..%2fx".into(),
        "/run".into(),
        "/sweep".into(),
    ] {
        let answer = site.get(&path).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
        assert!(!answer.text.contains("secret"), "{path}: {}", answer.text);
    }
    let over = site.get(&format!("/sweep/{zeros}")).await;
    assert!(over.text.contains("No such sweep is under way"), "{}", over.text);
}

#[tokio::test]
async fn a_page_lists_so_much_and_links_to_the_rest() {
    let mut key = None;
    let site = Tested::local(|folder| {
        for number in 0..250 {
            store::fail(folder, &job(&format!("job-{number:03}"), "m"), "no").unwrap();
        }
        key = Some(put(folder, job("w", "m"), 230));
    });
    for (page, listed, links) in [
        ("", 100, "<span aria-hidden=\"true\">Previous</span><a href=\"/failures?page=2\">Next</a>"),
        ("?page=3", 50, "<a href=\"/failures?page=2\">Previous</a><span aria-hidden=\"true\">Next</span>"),
        ("?page=99999999999999999999", 100, "<a href=\"/failures?page=2\">Next</a>"),
        ("?page=18446744073709551615", 50, "Page 3 of 3"),
        ("?page=0", 100, "Page 1 of 3"),
        ("?page=x", 100, "Page 1 of 3"),
        ("?page=1&page=2", 100, "Page 1 of 3"),
    ] {
        let answer = site.get(&format!("/failures{page}")).await;
        assert_eq!(answer.text.matches("class=\"failure\"").count(), listed, "{page}");
        assert!(answer.text.contains(links), "{page}: {}", answer.text);
    }
    let run = site.get(&format!("/run/{}?page=3", key.unwrap())).await;
    assert!(run.text.contains("Page 3 of 3"), "{}", run.text);
    assert_eq!((run.text.matches("<td>2").count(), run.text.contains(">1\u{202f}229<")), (30, true));
}

#[tokio::test]
async fn runs_are_found_by_words_of_their_names() {
    let site = Tested::local(|folder| {
        for (workload, variant) in [("gather", "gtx480"), ("gather", "dy-fuse"), ("saxpy", "dy-fuse")] {
            put(folder, job(workload, variant), 1);
        }
    });
    for (find, count) in [("", 3), ("Gather", 2), ("fuse+gather", 1), ("gather+none", 0), ("test", 3)] {
        let answer = site.get(&format!("/runs?find={find}")).await;
        assert_eq!(answer.text.matches("href=\"/run/").count(), count, "{find}");
    }
}

#[tokio::test]
async fn a_page_needs_no_style_or_script_but_its_own() {
    let mut key = None;
    let both = [measured("saxpy", &[], 1000, 400), measured("saxpy", &["l1d.ways=8"], 900, 400)];
    let site = Tested::local(|folder| {
        key = Some(put(folder, job("saxpy", "m"), 1));
        both.iter().for_each(|record| drop(store::put(folder, record).unwrap()));
    });
    let [left, right] = both.map(|record| record.job.key());
    let (run, with) = (format!("/run/{}", key.unwrap()), format!("/runs?with={left}"));
    let difference = format!("/diff?left={left}&right={right}");
    for path in ["/", "/runs", "/failures", &run, &with, &difference, "/paper/fuse?figure=13"] {
        let answer = site.made(path).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        assert!(!answer.text.contains(" style=") && !answer.text.contains("javascript:"), "{path}");
        assert!(!answer.text.contains(" onclick=") && is_harmless(&answer.text), "{path}");
        let policy = answer.headers["content-security-policy"].to_str().unwrap();
        let style = answer.text.split_once("<style>").map(|(_, rest)| rest.split_once("</style>").unwrap().0);
        let hash = style.map(|style| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(style))));
        assert_eq!(policy.contains("sha256"), hash.is_some(), "{path}");
        assert!(hash.is_none_or(|hash| policy.contains(&hash)), "{path}: {policy}");
    }
}

#[tokio::test]
async fn who_has_a_page_already_is_told_so() {
    let site = Tested::local(|_| ());
    for path in ["/", "/style.css"] {
        let first = site.get(path).await;
        let tag = first.headers["etag"].to_str().unwrap();
        let known = [("host", "localhost"), ("if-none-match", tag)];
        let again = site.ask(Method::GET, path, &known).await;
        assert_eq!((again.status, again.text.as_str()), (StatusCode::NOT_MODIFIED, ""), "{path}");
        let other = [("host", "localhost"), ("if-none-match", "\"x\"")];
        assert_eq!(site.ask(Method::GET, path, &other).await.text, first.text);
    }
}

#[tokio::test]
async fn a_run_says_what_it_waits_for_or_why_it_failed() {
    let (waits, failed) = (job("waits", "m"), job("failed", "m"));
    let mut sweep = None;
    let site = Tested::local(|folder| {
        store::fail(folder, &failed, "it trapped").unwrap();
        sweep = Some(store::announce(folder, &[], std::iter::once(&waits), |_| false).unwrap());
    });
    let answer = site.get(&format!("/run/{}", waits.key())).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
    assert!(answer.text.contains("waits or runs in a"), "{}", answer.text);
    let answer = site.get(&format!("/run/{}", failed.key())).await;
    assert!(answer.text.contains("it trapped"), "{}", answer.text);
    put(site.folder.path(), waits.clone(), 1);
    site.site.watch.look();
    assert_eq!(site.get(&format!("/run/{}", waits.key())).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_store_that_is_gone_is_an_empty_one_and_one_that_cannot_be_read_is_said_so() {
    let site = Tested::local(|folder| drop(put(folder, job("w", "m"), 1)));
    assert!(site.get("/").await.text.contains("1 run<"));
    let moved = site.folder.path().with_extension("moved");
    std::fs::rename(site.folder.path(), &moved).unwrap();
    site.site.watch.look();
    assert!(site.get("/").await.text.contains("0 runs"));
    std::fs::write(site.folder.path(), "a file").unwrap();
    site.site.watch.look();
    let answer = site.get("/").await;
    assert!(answer.text.contains("expected a folder of results"), "{}", answer.text);
    std::fs::remove_file(site.folder.path()).unwrap();
    std::fs::rename(&moved, site.folder.path()).unwrap();
    site.site.watch.look();
    assert!(site.get("/").await.text.contains("1 run<"));
}

//! What browsers are told.

use std::time::Duration;

use axum::body::BodyDataStream;
use futures_util::StreamExt;

use super::*;
use crate::site::LISTENERS;

async fn listen(site: &Tested) -> BodyDataStream {
    let response = site.respond(Method::GET, "/events", &[("host", "localhost")]).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    response.into_body().into_data_stream()
}

async fn next(events: &mut BodyDataStream) -> Option<String> {
    let event =
        tokio::time::timeout(Duration::from_secs(20), events.next()).await.expect("there is an event");
    event.map(|bytes| String::from_utf8(bytes.unwrap().to_vec()).unwrap())
}

#[tokio::test]
async fn a_result_that_comes_is_told_at_once_and_many_are_told_together() {
    let site = Tested::local(|_| ());
    let mut events = listen(&site).await;
    assert_eq!(next(&mut events).await.unwrap(), "data: {\"results\":1,\"sweeps\":0,\"papers\":0}\n\n");
    for number in 0..3 {
        put(site.folder.path(), job(&format!("w{number}"), "m"), 1);
        site.site.watch.look();
    }
    assert_eq!(next(&mut events).await.unwrap(), "data: {\"results\":4,\"sweeps\":0,\"papers\":0}\n\n");
    site.site.watch.look();
    store::fail(site.folder.path(), &job("x", "m"), "no").unwrap();
    site.site.watch.look();
    assert_eq!(next(&mut events).await.unwrap(), "data: {\"results\":5,\"sweeps\":0,\"papers\":0}\n\n");
}

#[tokio::test]
async fn a_sweep_is_told_when_it_begins_moves_and_ends() {
    let site = Tested::local(|_| ());
    let numbers = |event: Option<String>| event.unwrap();
    let mut events = listen(&site).await;
    numbers(next(&mut events).await);
    let jobs = [job("a", "m"), job("b", "m")];
    let sweep = store::announce(site.folder.path(), &[], jobs.iter(), |_| false).unwrap();
    site.site.watch.look();
    assert!(numbers(next(&mut events).await).contains("\"results\":1,\"sweeps\":1"));
    put(site.folder.path(), jobs[0].clone(), 1);
    site.site.watch.look();
    assert!(numbers(next(&mut events).await).contains("\"results\":2,\"sweeps\":2"));
    drop(sweep);
    site.site.watch.look();
    assert!(numbers(next(&mut events).await).contains("\"results\":2,\"sweeps\":3"));
}

#[tokio::test]
async fn there_is_room_for_so_many_and_for_others_when_they_go() {
    let site = Tested::local(|_| ());
    let mut all = Vec::new();
    for _ in 0..LISTENERS {
        all.push(listen(&site).await);
    }
    assert_eq!(site.get("/events").await.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(site.get("/").await.status, StatusCode::OK, "pages are answered all the same");
    all.pop();
    drop(listen(&site).await);
}

#[tokio::test]
async fn events_end_when_the_server_does() {
    let site = Tested::local(|_| ());
    let mut events = listen(&site).await;
    next(&mut events).await.unwrap();
    site.stop.send(true).unwrap();
    assert_eq!(next(&mut events).await, None);
}

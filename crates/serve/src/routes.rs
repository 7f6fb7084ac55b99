//! Addresses, and what they lead to. An address names no file: only keys, names of papers and numbers that parse.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::get;
use axum::{Router, middleware};
use serde::Deserialize;
use strata_lab::job::Key;
use strata_lab::page;
use strata_lab::paper::Paper;
use strata_lab::store::Store;
use strata_workloads::Size;

use crate::access::guard;
use crate::address::{ICON, SCRIPT, STYLE};
use crate::answer::{self, always, file, missing};
use crate::desk::{Piece, Wanted, What};
use crate::events::events;
use crate::site::{PAPERS, Site};
use crate::view::frame::{Frame, Topic};
use crate::view::{
    difference as difference_view, failures, list, overview, paper as paper_view, run, runs, sweep,
};
use crate::watch::Snapshot;

/// All of the site, behind its guard.
pub fn router(site: Arc<Site>) -> Router {
    let access = site.access.clone();
    Router::new()
        .route("/", get(overview))
        .route("/paper/{name}", get(paper))
        .route("/runs", get(runs))
        .route("/run/{key}", get(run))
        .route("/diff", get(difference))
        .route("/sweep/{id}", get(sweep))
        .route("/failures", get(failures))
        .route("/events", get(events))
        .route(STYLE, get(style))
        .route(SCRIPT, get(script))
        .route(ICON, get(icon))
        .fallback(nothing)
        .layer(middleware::from_fn_with_state(access, guard))
        .layer(middleware::from_fn(always))
        .with_state(site)
}

type Shared = State<Arc<Site>>;

async fn style(asked: HeaderMap) -> Response {
    file(&asked, "text/css; charset=utf-8", [page::STYLE, include_str!("view/live.css")].concat())
}

async fn script(asked: HeaderMap) -> Response {
    file(&asked, "text/javascript; charset=utf-8", [include_str!("view/live.js"), page::SCRIPT].concat())
}

async fn icon(asked: HeaderMap) -> Response {
    file(&asked, "image/svg+xml", include_str!("view/icon.svg"))
}

async fn nothing(asked: HeaderMap) -> Response {
    missing(&asked, "There is no such page.")
}

/// Which part of a list, counted from 1.
#[derive(Debug, Default, Deserialize)]
struct Listed {
    page: Option<String>,
    /// Words that what is listed contains.
    find: Option<String>,
    /// The run that another is picked to go with.
    with: Option<String>,
}

impl Listed {
    /// The part, counted from 0. What is no number is the first.
    fn part(&self) -> usize {
        let number: usize = self.page.as_deref().and_then(|page| page.parse().ok()).unwrap_or(1);
        number.saturating_sub(1)
    }
}

/// A query of an address; what does not parse counts as left out.
type Asked<T> = Result<Query<T>, axum::extract::rejection::QueryRejection>;

fn asked<T: Default>(query: Asked<T>) -> T {
    query.map(|Query(query)| query).unwrap_or_default()
}

/// Most letters that an answer repeats of what is no key.
const LETTERS: usize = 80;

/// The key that a part of a query holds.
fn key(name: &str, text: Option<&str>) -> Result<Key, String> {
    text.and_then(Key::read).ok_or_else(|| {
        let start = |text: &str| text.chars().take(LETTERS).collect::<String>();
        let found = text.map_or_else(|| "nothing".to_owned(), |text| format!("`{}`", start(text)));
        format!("{name}: found {found}, expected the key of a run: 32 digits, 0 to 9 and a to f")
    })
}

/// Says what is wrong with what was asked.
fn wrong(headers: &HeaderMap, why: &str) -> Response {
    answer::sorry(headers, StatusCode::BAD_REQUEST, "Bad request", why)
}

/// Says which job is not one that differences are of.
fn incomparable(headers: &HeaderMap, why: &str) -> Response {
    answer::sorry(headers, StatusCode::UNPROCESSABLE_ENTITY, "Nothing to compare", why)
}

/// A page made from the store by a thread that may take its time; until the store is open, a page that says so.
async fn from_store(
    site: Arc<Site>,
    headers: HeaderMap,
    topics: &'static [Topic],
    make: impl FnOnce(&Site, &Snapshot, &Store, &HeaderMap) -> Response + Send + 'static,
) -> Response {
    let snapshot = site.watch.snapshot();
    if snapshot.store.is_none() {
        let body = overview::opening(&site.watch.folder, snapshot.problem.as_deref());
        let frame = Frame { topics, ..Frame::new("Opening the store", &body) };
        return answer::page(&headers, StatusCode::OK, &frame);
    }
    let making = tokio::task::spawn_blocking(move || {
        let store = snapshot.store.as_ref().expect("it was looked at");
        make(&site, &snapshot, store, &headers)
    });
    making.await.unwrap_or_else(|_| {
        answer::refusal(StatusCode::INTERNAL_SERVER_ERROR, "This page could not be made. The others can.")
    })
}

async fn overview(State(site): Shared, headers: HeaderMap) -> Response {
    const TOPICS: &[Topic] = &[Topic::Results, Topic::Sweeps, Topic::Papers];
    from_store(site, headers, TOPICS, |site, snapshot, store, headers| {
        let papers = PAPERS.iter().map(|paper| {
            let size = usual(paper, &snapshot.sizes);
            let wanted = Wanted { paper: paper.name.clone(), size, what: What::Verdicts };
            let piece = if store.is_empty() { None } else { site.desk.ask(&wanted) };
            overview::Card { paper, size, piece }
        });
        let body = overview::markup(&site.watch.folder, snapshot, store, papers.collect());
        let frame = Frame { topics: TOPICS, ..Frame::new("What the store holds", &body) };
        answer::page(headers, StatusCode::OK, &frame)
    })
    .await
}

/// The first of a paper's sizes at which the store has results, which is the usual one; the smallest if it has none.
fn usual(paper: &Paper, held: &BTreeSet<Size>) -> Size {
    paper.sizes.iter().copied().find(|size| held.contains(size)).unwrap_or(Size::Test)
}

#[derive(Debug, Default, Deserialize)]
struct OfPaper {
    size: Option<String>,
    figure: Option<String>,
}

async fn paper(
    State(site): Shared,
    Path(name): Path<String>,
    query: Asked<OfPaper>,
    headers: HeaderMap,
) -> Response {
    const TOPICS: &[Topic] = &[Topic::Results, Topic::Papers];
    let OfPaper { size, figure } = asked(query);
    from_store(site, headers, TOPICS, move |site, snapshot, _, headers| {
        let Some(paper) = PAPERS.iter().find(|paper| paper.name == name) else {
            return missing(headers, "There is no such paper.");
        };
        let size = match size.as_deref().map(str::parse::<Size>) {
            None => usual(paper, &snapshot.sizes),
            Some(Ok(size)) if size == Size::Test || paper.sizes.contains(&size) => size,
            Some(_) => return missing(headers, "The paper has no inputs of that size."),
        };
        if let Some(figure) = &figure
            && !paper_view::has_part(paper, figure)
        {
            return missing(headers, "The paper has no such figure or table.");
        }
        let wanted = Wanted { paper: name, size, what: What::Page(figure.clone()) };
        let piece = site.desk.ask(&wanted);
        let choice = paper_view::choice(paper, size, figure.as_deref(), &snapshot.sizes);
        let simulator = site.watch.simulator.as_deref();
        match piece.as_deref() {
            Some(Ok(Piece::Page(parts))) => {
                let body = paper_view::markup(&choice, parts, snapshot.problem.as_deref(), simulator);
                let frame = Frame {
                    topics: TOPICS,
                    parts: Some(parts),
                    colours: &parts.colours,
                    ..Frame::new(&parts.title, &body)
                };
                answer::page(headers, StatusCode::OK, &frame)
            }
            Some(Err(error)) => answer::refusal(StatusCode::INTERNAL_SERVER_ERROR, error),
            _ => {
                let body = paper_view::waiting(&choice);
                let frame = Frame { topics: TOPICS, waits: true, ..Frame::new(&paper.title, &body) };
                answer::page(headers, StatusCode::OK, &frame)
            }
        }
    })
    .await
}

async fn runs(State(site): Shared, query: Asked<Listed>, headers: HeaderMap) -> Response {
    const TOPICS: &[Topic] = &[Topic::Results];
    let listed = asked(query);
    let with = match listed.with.as_deref().map(|text| key("with", Some(text))).transpose() {
        Ok(with) => with,
        Err(why) => return wrong(&headers, &why),
    };
    from_store(site, headers, TOPICS, move |_, snapshot, store, headers| {
        let find = listed.find.as_deref().unwrap_or_default();
        let with = match with.as_ref().map(|key| (key, store.run(key))) {
            None => None,
            Some((key, Some(run))) if list::is_measured(&run.job) => Some((key, run)),
            Some((key, Some(_))) => {
                return incomparable(
                    headers,
                    &format!("with: found the profile {key}, expected a run on a machine"),
                );
            }
            Some((key, None)) => {
                return missing(headers, &format!("with: found no run {key}, expected one of the store"));
            }
        };
        let body = runs::markup(store, &snapshot.newest, find, listed.part(), with);
        answer::page(headers, StatusCode::OK, &Frame { topics: TOPICS, ..Frame::new("Runs", &body) })
    })
    .await
}

async fn failures(State(site): Shared, query: Asked<Listed>, headers: HeaderMap) -> Response {
    const TOPICS: &[Topic] = &[Topic::Results];
    let listed = asked(query);
    from_store(site, headers, TOPICS, move |_, snapshot, store, headers| {
        let body = failures::markup(store, &snapshot.passed_over, listed.part());
        answer::page(headers, StatusCode::OK, &Frame { topics: TOPICS, ..Frame::new("Failures", &body) })
    })
    .await
}

async fn sweep(
    State(site): Shared,
    Path(id): Path<String>,
    query: Asked<Listed>,
    headers: HeaderMap,
) -> Response {
    const TOPICS: &[Topic] = &[Topic::Results, Topic::Sweeps];
    let listed = asked(query);
    from_store(site, headers, TOPICS, move |_, _, store, headers| {
        let found = store.sweeps().find(|sweep| sweep.id == id);
        let Some(sweep) = found else {
            let body = sweep::over();
            // It may have ended just now, before the eyes of whoever asks.
            return answer::page(headers, StatusCode::OK, &Frame::new("A sweep that is over", &body));
        };
        let body = sweep::markup(store, sweep, listed.part());
        answer::page(headers, StatusCode::OK, &Frame { topics: TOPICS, ..Frame::new("Sweep", &body) })
    })
    .await
}

async fn run(
    State(site): Shared,
    Path(key): Path<String>,
    query: Asked<Listed>,
    headers: HeaderMap,
) -> Response {
    const TOPICS: &[Topic] = &[Topic::Results];
    let listed = asked(query);
    let Some(key) = Key::read(&key) else { return missing(&headers, "There is no such run.") };
    let readers = site.clone();
    let _reader = readers.readers.acquire().await.expect("it is never closed");
    from_store(site, headers, TOPICS, move |_, _, store, headers| match store.get(&key) {
        Ok(Some(record)) => {
            let address = |part: usize| format!("/run/{key}?page={}#launches", part + 1);
            let parts = page::run(&record, &key, listed.part(), &address);
            let body = run::markup(&parts, &key, &record.job, store.written(&key));
            // A result never changes.
            let frame =
                Frame { parts: Some(&parts), colours: &parts.colours, ..Frame::new(&parts.title, &body) };
            answer::page(headers, StatusCode::OK, &frame)
        }
        Ok(None) => {
            let body = run::lacking(store, &key);
            let frame = Frame { topics: TOPICS, ..Frame::new("A run without a result", &body) };
            answer::page(headers, StatusCode::NOT_FOUND, &frame)
        }
        Err(error) => answer::refusal(StatusCode::INTERNAL_SERVER_ERROR, &error),
    })
    .await
}

/// The runs of a difference.
#[derive(Debug, Default, Deserialize)]
struct Pair {
    left: Option<String>,
    right: Option<String>,
}

/// The keys of two runs.
fn pair(query: Asked<Pair>) -> Result<[Key; 2], String> {
    let Ok(Query(Pair { left, right })) = query else {
        return Err("Found a question that cannot be read, expected left=KEY&right=KEY".to_owned());
    };
    let [left, right] = [key("left", left.as_deref())?, key("right", right.as_deref())?];
    if left == right {
        return Err(format!("left and right: found {left} twice, expected the keys of two runs"));
    }
    Ok([left, right])
}

async fn difference(State(site): Shared, query: Asked<Pair>, headers: HeaderMap) -> Response {
    const TOPICS: &[Topic] = &[Topic::Results];
    let keys = match pair(query) {
        Ok(keys) => keys,
        Err(why) => return wrong(&headers, &why),
    };
    let readers = site.clone();
    let _reader = readers.readers.acquire().await.expect("it is never closed");
    from_store(site, headers, TOPICS, move |_, _, store, headers| {
        let [left, right] = [0, 1].map(|side| store.get(&keys[side]));
        let records = match (left, right) {
            (Ok(Some(left)), Ok(Some(right))) => [left, right],
            (Ok(left), Ok(right)) => {
                let sides = keys.iter().zip([left, right]);
                let lacking: Vec<&Key> =
                    sides.filter(|(_, record)| record.is_none()).map(|(key, _)| key).collect();
                let body = difference_view::lacking(store, &lacking);
                let frame = Frame { topics: TOPICS, ..Frame::new("A run without a result", &body) };
                return answer::page(headers, StatusCode::NOT_FOUND, &frame);
            }
            (Err(error), _) | (_, Err(error)) => {
                return answer::refusal(StatusCode::INTERNAL_SERVER_ERROR, &error);
            }
        };
        match difference_view::Shown::of(&keys, &records) {
            Ok(shown) => {
                let parts = shown.parts(store.folder());
                // Results never change.
                let frame = Frame {
                    parts: Some(&parts),
                    colours: &parts.colours,
                    ..Frame::new(&parts.title, &parts.body)
                };
                answer::page(headers, StatusCode::OK, &frame)
            }
            Err(why) => incomparable(headers, &why),
        }
    })
    .await
}

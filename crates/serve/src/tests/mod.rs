//! What the site answers, asked without a socket.

mod access;
mod difference;
mod events;
mod shown;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Method, Request, StatusCode};
use axum::response::Response;
use strata_lab::job::{Job, Key};
use strata_lab::record::{Record, Row, Value};
use strata_lab::store;
use strata_lab::variant::Variant;
use strata_workloads::Size;
use tokio::sync::watch as channel;
use tower::ServiceExt;

use crate::access::{Access, Token};
use crate::routes::router;
use crate::site::Site;
use crate::watch::Watch;

const LOCAL: &str = "127.0.0.1:8327";
const ELSEWHERE: &str = "192.0.2.1:8327";
const TOKEN: &str = "a-token-of-the-tests";

/// A site over a store in a temporary folder, which has been looked at once.
struct Tested {
    folder: tempfile::TempDir,
    site: Arc<Site>,
    router: Router,
    stop: channel::Sender<bool>,
}

impl Drop for Tested {
    fn drop(&mut self) {
        self.site.end();
    }
}

/// What came back.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    text: String,
}

impl Tested {
    fn at(listen: &str, token: Option<&str>, fill: impl FnOnce(&Path)) -> Tested {
        let folder = tempfile::tempdir().unwrap();
        fill(folder.path());
        let watch = Arc::new(Watch::new(folder.path().to_owned(), None));
        watch.look();
        let at: SocketAddr = listen.parse().unwrap();
        let access = Access::new(at, token.map(|token| Token::new(token).unwrap())).unwrap();
        let (stop, stopped) = channel::channel(false);
        let site = Arc::new(Site::new(watch, access, stopped));
        let router = router(site.clone());
        Tested { folder, site, router, stop }
    }

    fn local(fill: impl FnOnce(&Path)) -> Tested {
        Tested::at(LOCAL, None, fill)
    }

    async fn respond(&self, method: Method, path: &str, headers: &[(&str, &str)]) -> Response {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap()
    }

    async fn ask(&self, method: Method, path: &str, headers: &[(&str, &str)]) -> Answer {
        let response = self.respond(method, path, headers).await;
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        Answer { status, headers, text: String::from_utf8(bytes.to_vec()).unwrap() }
    }

    /// Asks as a browser on this host does.
    async fn get(&self, path: &str) -> Answer {
        self.ask(Method::GET, path, &[("host", "localhost:8327")]).await
    }

    /// Asks again until a page of the desk is made.
    async fn made(&self, path: &str) -> Answer {
        for _ in 0..600 {
            let answer = self.get(path).await;
            if !answer.text.contains("being looked up") {
                return answer;
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        panic!("{path} is not made");
    }
}

/// A job of these names, without a machine: another for each pair.
fn job(workload: &str, variant: &str) -> Job {
    let job = Job::profile("saxpy", Size::Test).unwrap();
    Job { workload: workload.into(), variant: variant.into(), inputs: variant.into(), ..job }
}

/// Stores a result of a job and returns its key.
fn put(folder: &Path, job: Job, launches: u32) -> Key {
    let row = |launch, group: &str, counter: &str, value: u64| Row {
        launch,
        group: group.into(),
        counter: counter.into(),
        value: Value::Count(value),
    };
    let mut rows = vec![row(None, "run", "cycles", 1_234_567), row(None, "sm", "issue_slots", 10)];
    rows.extend([row(None, "sm", "issued", 4), row(None, &job.workload, &job.variant, 0)]);
    rows.extend(
        (0..launches).map(|number| row(Some(number), &job.workload, "cycles", 1000 + u64::from(number))),
    );
    let key = job.key();
    store::put(folder, &Record { job, rows }).unwrap();
    key
}

/// A run of a workload on a gtx480, whose 15 SMs with two schedulers each have 30 issue slots in a cycle. A tenth of its slots issue
/// where it takes 1,000 cycles, and all others wait for memory.
fn measured(workload: &str, sets: &[&str], cycles: u64, misses: u64) -> Record {
    let sets = sets.iter().map(|set| (*set).to_owned()).collect();
    let variant = Variant { name: "gtx480".into(), base: "gtx480".into(), system: None, sets, version: None };
    let count = |launch, group: &str, counter: &str, value| Row {
        launch,
        group: group.into(),
        counter: counter.into(),
        value: Value::Count(value),
    };
    let of_run = |group, counter, value| count(None, group, counter, value);
    let rows = vec![
        of_run("run", "cycles", cycles),
        of_run("sm", "issue_slots", 30 * cycles),
        of_run("sm", "issued", 3000),
        of_run("sm", "stall_memory", 30 * cycles - 3000),
        of_run("l1d", "loads", 500),
        of_run("l1d", "load_misses", misses),
        count(Some(0), "kernel", "cycles", cycles),
    ];
    Record { job: Job::timing(workload, Size::Test, &variant).unwrap(), rows }
}

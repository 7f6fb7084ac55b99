//! Tells browsers what has changed, as server-sent events: numbers only, which never pile up for a slow one. The browser then
//! asks for its page again.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tokio::sync::watch;

use crate::answer;
use crate::listen::over;
use crate::site::Site;
use crate::watch::News;

/// Least time between two events for a browser.
const PAUSE: Duration = Duration::from_millis(300);

/// How often a browser without news hears that there is none.
const ALIVE: Duration = Duration::from_secs(10);

/// The events for one browser, the first at once.
pub async fn events(State(site): State<Arc<Site>>) -> Response {
    let Ok(permit) = site.listeners.clone().try_acquire_owned() else {
        return answer::refusal(StatusCode::SERVICE_UNAVAILABLE, "Too many browsers look at this page.");
    };
    let (news, stop) = (site.watch.news(), site.stop.clone());
    let events =
        stream::unfold((news, stop, false, permit), |(mut news, mut stop, told, permit)| async move {
            if told {
                tokio::select! {
                    () = next(&mut news) => {}
                    () = over(&mut stop) => return None,
                }
            }
            let News { results, sweeps, papers } = *news.borrow_and_update();
            let text = format!("{{\"results\":{results},\"sweeps\":{sweeps},\"papers\":{papers}}}");
            Some((Ok::<_, Infallible>(Event::default().data(text)), (news, stop, true, permit)))
        });
    Sse::new(events).keep_alive(KeepAlive::new().interval(ALIVE)).into_response()
}

/// Waits for news, and a little for more of it. Never returns when there will be none.
async fn next(news: &mut watch::Receiver<News>) {
    if news.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
    tokio::time::sleep(PAUSE).await;
}

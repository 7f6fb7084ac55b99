//! Connections, and their limits: nobody can hold the server by being slow, silent or many.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Semaphore, watch};
use tokio_io_timeout::TimeoutStream;

/// Most connections at once. More wait in the host's queue.
const CONNECTIONS: usize = 512;

/// How long a browser may take to say what it wants, and to take the next bytes of an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Most bytes of a request's head.
const HEAD_BYTES: usize = 32 << 10;

/// How long answers may take to end when the server ends.
const LAST: Duration = Duration::from_millis(500);

/// What becomes true when the process is interrupted or asked to end.
///
/// # Errors
/// If signals cannot be caught.
pub fn stop() -> Result<watch::Receiver<bool>, String> {
    let (send, stop) = watch::channel(false);
    let catch = |kind| signal(kind).map_err(|error| format!("signals: {error}"));
    let (mut interrupt, mut terminate, mut hang_up) =
        (catch(SignalKind::interrupt())?, catch(SignalKind::terminate())?, catch(SignalKind::hangup())?);
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hang_up.recv() => {}
        }
        // Nobody needs to know if all is over.
        let _ = send.send(true);
    });
    Ok(stop)
}

/// Waits for the end.
pub async fn over(stop: &mut watch::Receiver<bool>) {
    // Who would say it may be gone, which is the end, too.
    drop(stop.wait_for(|stop| *stop).await);
}

/// Answers until `stop` says so.
pub async fn serve(listener: TcpListener, router: Router, stop: watch::Receiver<bool>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    let mut stopped = stop.clone();
    loop {
        let permit = room.clone().acquire_owned().await.expect("it is never closed");
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = over(&mut stopped) => break,
        };
        match accepted {
            Ok((stream, _)) => {
                let (router, stop) = (router.clone(), stop.clone());
                tokio::spawn(async move {
                    connection(stream, router, stop).await;
                    drop(permit);
                });
            }
            // Out of files, most likely: others end soon.
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
    let all = u32::try_from(CONNECTIONS).expect("it is small");
    let _ = tokio::time::timeout(LAST, room.acquire_many(all)).await;
}

async fn connection(stream: TcpStream, router: Router, mut stop: watch::Receiver<bool>) {
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(PATIENCE));
    let service = TowerToHyperService::new(router);
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_buf_size(HEAD_BYTES);
    let connection = builder.serve_connection(TokioIo::new(Box::pin(stream)), service);
    let mut connection = std::pin::pin!(connection);
    // What goes wrong with a connection is the browser's business: there is nobody else to tell.
    tokio::select! {
        _ = connection.as_mut() => {}
        () = over(&mut stop) => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

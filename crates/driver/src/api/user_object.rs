//! Clients' objects that live as long as graphs refer to them.

use crate::api::api;
use crate::client::{Bytes, HostFunction, Out};
use crate::graph::parts::{Graph, UserObject};
use crate::state;
use crate::status::{Answer, Status};
use crate::table::Handle;

/// The flag that every object must have: its destructor does not wait.
const NO_DESTRUCTOR_SYNC: u32 = 1;
/// Flag of a graph's reference: it is the caller's, handed over.
const MOVE: u32 = 1;

/// Refuses a number of references that is 0 or not a positive `int`.
fn check(count: u32) -> Answer {
    if count == 0 || count > i32::MAX as u32 { Err(Status::InvalidValue) } else { Ok(()) }
}

api! {
    /// Makes an object with a destructor.
    cuUserObjectCreate = "cuUserObjectCreate" 11030 (
        object: Out<Handle<UserObject>>, data: Bytes, destroy: HostFunction, references: u32, flags: u32,
    ) {
        state::with(|state| {
            let place = object.place()?;
            check(references)?;
            if destroy.is_null() || flags != NO_DESTRUCTOR_SYNC {
                return Err(Status::InvalidValue);
            }
            place.put(state.user_objects.insert(UserObject { destroy, data: data.address(), references }));
            Ok(())
        })
    }

    /// Adds references.
    cuUserObjectRetain = "cuUserObjectRetain" 11030 (object: Handle<UserObject>, count: u32) {
        check(count)?;
        state::with(|state| state.retain(object, count))
    }

    /// Removes references; the destructor is called when none is left.
    cuUserObjectRelease = "cuUserObjectRelease" 11030 (object: Handle<UserObject>, count: u32) {
        check(count)?;
        state::with(|state| state.release(object, count))?.finish()
    }

    /// Adds references of a graph.
    cuGraphRetainUserObject = "cuGraphRetainUserObject" 11030 (
        graph: Handle<Graph>, object: Handle<UserObject>, count: u32, flags: u32,
    ) {
        check(count)?;
        state::with(|state| {
            state.graph(graph)?;
            state.user_objects.get(object)?;
            let held = state.graph(graph)?.objects.get(&object).copied().unwrap_or(0);
            let held = held.checked_add(count).ok_or(Status::InvalidValue)?;
            match flags {
                0 => state.retain(object, count)?,
                MOVE => {}
                _ => return Err(Status::InvalidValue),
            }
            state.graphs.get_mut(graph)?.objects.insert(object, held);
            Ok(())
        })
    }

    /// Removes references of a graph.
    cuGraphReleaseUserObject = "cuGraphReleaseUserObject" 11030 (
        graph: Handle<Graph>, object: Handle<UserObject>, count: u32,
    ) {
        check(count)?;
        let gone = state::with(|state| {
            state.graph(graph)?;
            let objects = &mut state.graphs.get_mut(graph)?.objects;
            let held = objects.get_mut(&object).ok_or(Status::InvalidValue)?;
            *held = held.checked_sub(count).ok_or(Status::InvalidValue)?;
            if *held == 0 {
                objects.remove(&object);
            }
            state.release(object, count)
        })?;
        gone.finish()
    }
}

//! The launch functions that preceded `cuLaunchKernel` and that PyCUDA still uses: a function holds the shape
//! and arguments of its next launch. Also reference-counted contexts.

use strata_workloads::Shape;

use crate::api::{api, launch};
use crate::client::{Bytes, Out};
use crate::current;
use crate::objects::{Attributes, Context, Function, Next, Stream};
use crate::state;
use crate::status::{Answer, Status};
use crate::table::Handle;

/// Maximum size of the arguments in bytes (CUDA C programming guide, "Execution Configuration", up to compute
/// capability 6.x).
const MAX_BYTES: usize = 4096;

/// Changes the settings of a function's next launch.
fn change(function: Handle<Function>, what: impl FnOnce(&mut Next) -> Answer) -> Answer {
    state::with_current(|state, _| what(&mut state.functions.get_mut(function)?.next))
}

/// Writes bytes into the arguments of the next launch.
fn argument(function: Handle<Function>, offset: i32, bytes: &[u8]) -> Answer {
    change(function, |next| {
        let start = usize::try_from(offset).map_err(|_| Status::InvalidValue)?;
        let end =
            start.checked_add(bytes.len()).filter(|end| *end <= MAX_BYTES).ok_or(Status::InvalidValue)?;
        if next.arguments.len() < end {
            next.arguments.resize(end, 0);
        }
        next.arguments[start..end].copy_from_slice(bytes);
        Ok(())
    })
}

fn run(function: Handle<Function>, grid: [i32; 2], on: Handle<Stream>) -> Answer {
    let mut sides = [1; 3];
    for (side, asked) in sides.iter_mut().zip(grid) {
        *side = u32::try_from(asked).ok().filter(|side| *side > 0).ok_or(Status::InvalidValue)?;
    }
    launch::launch(function, on, Attributes::new(), |state, function, entry| {
        let next = &state.functions.get(function)?.next;
        let block = launch::packed(entry, &next.arguments)?;
        Ok((Shape::new(sides, next.block).with_shared(next.shared), block))
    })
}

api! {
    /// Sets the size of a CTA in the next launch, in threads.
    cuFuncSetBlockShape = "cuFuncSetBlockShape" 2000 (function: Handle<Function>, x: i32, y: i32, z: i32) {
        change(function, |next| {
            if [x, y, z].iter().any(|side| *side <= 0) {
                return Err(Status::InvalidValue);
            }
            next.block = [x, y, z].map(|side| side as u32);
            Ok(())
        })
    }

    /// Sets the dynamic shared memory of the next launch.
    cuFuncSetSharedSize = "cuFuncSetSharedSize" 2000 (function: Handle<Function>, bytes: u32) {
        change(function, |next| {
            next.shared = bytes;
            Ok(())
        })
    }

    /// Sets the total size of the arguments in bytes.
    cuParamSetSize = "cuParamSetSize" 2000 (function: Handle<Function>, bytes: u32) {
        change(function, |next| {
            let bytes = bytes as usize;
            if bytes > MAX_BYTES {
                return Err(Status::InvalidValue);
            }
            next.arguments.resize(bytes, 0);
            Ok(())
        })
    }

    /// Sets a 32-bit integer argument.
    cuParamSeti = "cuParamSeti" 2000 (function: Handle<Function>, offset: i32, value: u32) {
        argument(function, offset, &value.to_le_bytes())
    }

    /// Sets a float argument.
    cuParamSetf = "cuParamSetf" 2000 (function: Handle<Function>, offset: i32, value: f32) {
        argument(function, offset, &value.to_le_bytes())
    }

    /// Sets bytes of an argument.
    cuParamSetv = "cuParamSetv" 2000 (function: Handle<Function>, offset: i32, bytes: Bytes, count: u32) {
        if count as usize > MAX_BYTES {
            return Err(Status::InvalidValue);
        }
        argument(function, offset, bytes.read(count as usize)?)
    }

    /// Launches a grid of one CTA.
    cuLaunch = "cuLaunch" 2000 (function: Handle<Function>) {
        run(function, [1, 1], Handle::NULL)
    }

    /// Launches a grid. Returns when the launch is complete.
    cuLaunchGrid = "cuLaunchGrid" 2000 (function: Handle<Function>, width: i32, height: i32) {
        run(function, [width, height], Handle::NULL)
    }

    /// Launches a grid in a stream. Returns when the launch is complete.
    cuLaunchGridAsync = "cuLaunchGridAsync" 2000 (
        function: Handle<Function>, width: i32, height: i32, stream: Handle<Stream>,
    ) {
        run(function, [width, height], stream)
    }

    /// Increments the current context's reference count.
    cuCtxAttach = "cuCtxAttach" 2000 (context: Out<Handle<Context>>, flags: u32) {
        state::with_current(|state, current| {
            let place = context.place()?;
            if flags != 0 {
                return Err(Status::InvalidValue);
            }
            state.contexts.get_mut(current)?.attached += 1;
            place.put(current);
            Ok(())
        })
    }

    /// Decrements a context's reference count, and destroys the context when it reaches 0.
    cuCtxDetach = "cuCtxDetach" 2000 (context: Handle<Context>) {
        state::with(|state| {
            let known = state.contexts.get_mut(context)?;
            if known.primary || current::context() != Some(context) {
                return Err(Status::InvalidContext);
            }
            match known.attached.checked_sub(1) {
                Some(fewer) => known.attached = fewer,
                None => {
                    state.destroy_context(context)?;
                    current::pop();
                }
            }
            Ok(())
        })
    }
}

//! Functions that compilers call before `main` and around launches.

use std::cell::RefCell;

use crate::api::{api, plain_api};
use crate::client::{Bytes, Dim3, Out, Text};
use crate::context;
use crate::driver::Kernel;
use crate::error::{self, Answer, Error};
use crate::registry::{self, BinaryId};

/// A launch configuration that waits for its launch.
struct Configuration {
    grid: Dim3,
    block: Dim3,
    shared: u64,
    stream: u64,
}

thread_local! {
    static CONFIGURED: RefCell<Vec<Configuration>> = const { RefCell::new(Vec::new()) };
}

/// Converts a fat binary's handle from its form in the client.
fn id(handle: Bytes) -> BinaryId {
    BinaryId(handle.address())
}

/// Drops a registration error. Registration cannot fail; the error shows when the symbol is used.
fn later(registered: Answer) {
    if let Err(error) = registered {
        error::note(error);
    }
}

plain_api! {
    /// Registers a fat binary. It is read when something in it is first used.
    __cudaRegisterFatBinary(wrapper: Bytes) -> Bytes | Bytes::NULL; {
        Bytes::at(registry::register(wrapper).0)
    }

    /// Marks the end of a fat binary's registrations; nothing to do.
    __cudaRegisterFatBinaryEnd(_binary: Bytes) -> () | (); {}

    /// Unregisters a fat binary and everything in it.
    __cudaUnregisterFatBinary(binary: Bytes) -> () | (); {
        registry::unregister(id(binary));
    }

    /// Registers a kernel under the address of its host function.
    __cudaRegisterFunction(
        binary: Bytes, host: Bytes, _device: Bytes, name: Text, _limit: i32, _thread: Bytes, _cta: Bytes,
        _block: Bytes, _grid: Bytes, _warp: Bytes,
    ) -> () | (); {
        later(registry::register_function(id(binary), host, name));
    }

    /// Registers a variable under the address of its host variable.
    __cudaRegisterVar(
        binary: Bytes, host: Bytes, _device: Bytes, name: Text, _external: i32, bytes: u64, _constant: i32,
        _global: i32,
    ) -> () | (); {
        later(registry::register_variable(id(binary), host, name, bytes));
    }

    /// Not supported: host variables that kernels access by name.
    __cudaRegisterHostVar(_binary: Bytes, name: Text, _host: Bytes, _bytes: u64) -> () | (); {
        crate::log::once(&format!("variables of the host in kernels are not supported: {}", name.get().unwrap_or("?")));
    }

    /// Registers a managed variable under the pointer through which the host reaches it.
    __cudaRegisterManagedVar(
        binary: Bytes, host: Bytes, _device: Bytes, name: Text, _external: i32, bytes: u64, _constant: i32,
        _global: i32,
    ) -> () | (); {
        later(registry::register_managed(id(binary), host, name, bytes));
    }

    /// Registers a texture under the address of its reference.
    __cudaRegisterTexture(
        binary: Bytes, reference: Bytes, _device: Bytes, name: Text, _dimensions: i32, normalized: i32,
        _external: i32,
    ) -> () | (); {
        later(registry::register_texture(id(binary), reference, name, normalized != 0));
    }

    /// Registers a surface under the address of its reference.
    __cudaRegisterSurface(
        binary: Bytes, reference: Bytes, _device: Bytes, name: Text, _dimensions: i32, _external: i32,
    ) -> () | (); {
        later(registry::register_surface(id(binary), reference, name));
    }

    /// Not supported: functions shared by host and device.
    __cudaRegisterUnifiedTable(_binary: Bytes, _table: Bytes) -> () | (); {
        crate::log::once("functions that host and device share are not supported");
    }

    /// Loads a fat binary so that the host can use its managed variables.
    __cudaInitModule(binary: Bytes) -> u8 | 0; {
        let loaded = context::ready().and_then(|driver| registry::initialise(driver, id(binary)));
        loaded.map_err(error::note).is_ok().into()
    }

    /// Stores the configuration of `<<<...>>>` for the launch that follows. Returns 0 on success.
    __cudaPushCallConfiguration(grid: Dim3, block: Dim3, shared: u64, stream: u64) -> u32 | 1; {
        CONFIGURED.with_borrow_mut(|stack| stack.push(Configuration { grid, block, shared, stream }));
        0
    }
}

api! {
    /// Writes and removes the configuration stored by the last `<<<...>>>`.
    __cudaPopCallConfiguration(grid: Out<Dim3>, block: Out<Dim3>, shared: Out<u64>, stream: Out<u64>) {
        let last = CONFIGURED.with_borrow_mut(Vec::pop).ok_or(Error::MissingConfiguration)?;
        grid.put(last.grid)?;
        block.put(last.block)?;
        shared.put(last.shared)?;
        stream.put(last.stream)
    }

    /// Writes the kernel that a host function stands for.
    __cudaGetKernel(kernel: Out<Kernel>, function: Bytes) {
        let place = kernel.place()?;
        place.put(registry::kernel(context::ready()?, function)?);
        Ok(())
    }
}

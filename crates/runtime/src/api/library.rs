//! Libraries: images that a program loads explicitly.

use crate::api::api;
use crate::client::{Bytes, Out, Text};
use crate::context;
use crate::driver::{Kernel, Library};
use crate::error::Answer;
use crate::log;
use crate::registry;

/// Refuses compiler options, which apply to machine code only.
fn no_options(count: u32) {
    if count > 0 {
        log::once("options of a library are not supported: they change nothing");
    }
}

fn load(library: Out<Library>, image: Bytes) -> Answer {
    let place = library.place()?;
    place.put(registry::load(context::ready()?, image)?);
    Ok(())
}

api! {
    /// Loads a library from PTX or a fat binary in memory.
    cudaLibraryLoadData(
        library: Out<Library>, image: Bytes, _options: Bytes, _values: Bytes, count: u32, _library_options: Bytes,
        _library_values: Bytes, library_count: u32,
    ) {
        no_options(count.max(library_count));
        load(library, image)
    }

    /// Loads a library from a PTX file.
    cudaLibraryLoadFromFile(
        library: Out<Library>, name: Text, _options: Bytes, _values: Bytes, count: u32, _library_options: Bytes,
        _library_values: Bytes, library_count: u32,
    ) {
        no_options(count.max(library_count));
        let (place, mut found, none) = (library.place()?, Library::NULL, Bytes::NULL);
        context::ready()?.cuLibraryLoadFromFile(&mut found, name, none, none, 0, none, none, 0)?;
        place.put(found);
        Ok(())
    }

    /// Unloads a library and everything in it.
    cudaLibraryUnload(library: Library) {
        context::ready()?.cuLibraryUnload(library)
    }

    /// Writes a handle of a kernel that is valid in every context.
    cudaLibraryGetKernel(to: Out<Kernel>, library: Library, name: Text) {
        let (place, mut kernel) = (to.place()?, Kernel::NULL);
        context::ready()?.cuLibraryGetKernel(&mut kernel, library, name)?;
        registry::note_kernel(kernel);
        place.put(kernel);
        Ok(())
    }

    /// Writes the number of kernels in a library.
    cudaLibraryGetKernelCount(count: Out<u32>, library: Library) {
        context::ready()?.cuLibraryGetKernelCount(count, library)
    }

    /// Writes the first `room` kernels of a library.
    cudaLibraryEnumerateKernels(to: Bytes, room: u32, library: Library) {
        context::ready()?.cuLibraryEnumerateKernels(to, room, library)?;
        let kernels = to.values::<u64>();
        (0..room as usize).try_for_each(|index| {
            registry::note_kernel(Kernel(kernels.at(index)?));
            Ok(())
        })
    }

    /// Writes the address and size of a variable.
    cudaLibraryGetGlobal(address: Out<u64>, bytes: Out<u64>, library: Library, name: Text) {
        let (mut found, mut size) = (0, 0);
        context::ready()?.cuLibraryGetGlobal(&mut found, &mut size, library, name)?;
        address.put_if_wanted(found);
        bytes.put_if_wanted(size);
        Ok(())
    }

    /// Writes the address and size of a managed variable.
    cudaLibraryGetManaged(address: Out<u64>, bytes: Out<u64>, library: Library, name: Text) {
        let (mut found, mut size) = (0, 0);
        context::ready()?.cuLibraryGetManaged(&mut found, &mut size, library, name)?;
        address.put_if_wanted(found);
        bytes.put_if_wanted(size);
        Ok(())
    }
}

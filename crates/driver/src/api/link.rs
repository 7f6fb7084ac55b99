//! Links PTX texts into an image that can be loaded.

use strata_ptx::front::ast::DEFAULT_HEAP_BYTES;

use crate::api::{api, module};
use crate::client::{Bytes, In, Out, Text};
use crate::image::{self, Image};
use crate::jit::Jit;
use crate::log;
use crate::objects::Link;
use crate::settings::Capability;
use crate::state;
use crate::status::{Answer, Status};
use crate::table::Handle;

/// Kinds of link inputs: PTX and fat binaries. Both are told by their first bytes.
const KINDS: [u32; 2] = [1, 2];

/// Adds what `image` makes of an input of a kind, under a device's capability.
fn add(
    link: Handle<Link>,
    kind: u32,
    name: &str,
    jit: &Jit,
    image: impl FnOnce(Capability, &Jit) -> Answer<Image>,
) -> Answer {
    state::with(|state| {
        let options = jit.over(state.links.get(link)?.options);
        if !KINDS.contains(&kind) {
            log::once(format!("cuLinkAdd: input of kind {kind} is not supported, only PTX is"));
            options.complain(&format!("{name}: only PTX can be linked"))?;
            return Err(Status::NotSupported);
        }
        let image = image(state.settings.capability, &options)?;
        let compile = state.settings.machine.compile_options();
        image.program(compile, DEFAULT_HEAP_BYTES, state.settings.capability, &options)?;
        state.links.get_mut(link)?.image.texts.extend(image.texts);
        Ok(())
    })
}

api! {
    /// Creates a link. Its log buffers belong to the client and must live until the link is destroyed.
    cuLinkCreate_v2 / cuLinkCreate 5050 = "cuLinkCreate" 6050 (
        count: u32, options: In<u32>, values: Bytes, link: Out<Handle<Link>>,
    ) {
        state::with_current(|state, _| {
            let place = link.place()?;
            let options = Jit::read(count, options, values)?;
            place.put(state.links.insert(Link { image: Image::default(), options, result: None }));
            Ok(())
        })
    }

    /// Adds a PTX text, or that of a fat binary, in memory.
    cuLinkAddData_v2 / cuLinkAddData 5050 = "cuLinkAddData" 6050 (
        link: Handle<Link>, kind: u32, data: Bytes, bytes: usize, name: Text, count: u32, options: In<u32>,
        values: Bytes,
    ) {
        let jit = Jit::read(count, options, values)?;
        let name = name.if_given()?.unwrap_or(image::UNNAMED);
        if bytes == 0 || data.is_null() {
            return Err(Status::InvalidValue);
        }
        add(link, kind, name, &jit, |capability, jit| {
            let image = Image::of_bytes(name, data.read(bytes)?, capability, jit);
            image.map_err(|status| if status == Status::InvalidImage { Status::InvalidPtx } else { status })
        })
    }

    /// Adds a file of PTX or a fat binary.
    cuLinkAddFile_v2 / cuLinkAddFile 5050 = "cuLinkAddFile" 6050 (
        link: Handle<Link>, kind: u32, path: Text, count: u32, options: In<u32>, values: Bytes,
    ) {
        let jit = Jit::read(count, options, values)?;
        let path = path.get()?;
        add(link, kind, path, &jit, |capability, jit| module::file(path, capability, jit))
    }

    /// Completes the link. The image belongs to the link.
    cuLinkComplete = "cuLinkComplete" 5050 (link: Handle<Link>, image: Out<*const u8>, bytes: Out<usize>) {
        state::with(|state| {
            let place = image.place()?;
            let options = state.settings.machine.compile_options();
            let capability = state.settings.capability;
            let link = state.links.get_mut(link)?;
            link.image.registers = link.options.max_registers();
            link.image.program(options, DEFAULT_HEAP_BYTES, capability, &link.options)?;
            let kept = link.result.get_or_insert_with(|| link.image.to_bytes());
            place.put(kept.as_ptr());
            bytes.put_if_wanted(kept.len());
            link.options.done()
        })
    }

    /// Destroys a link and its image.
    cuLinkDestroy = "cuLinkDestroy" 5050 (link: Handle<Link>) {
        state::with(|state| state.links.remove(link).map(|_| ()))
    }
}

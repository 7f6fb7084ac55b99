//! A kernel on two cards that have the same texture: the reference executor's and the modelled GPU's.

use strata_gpu::device::{ArrayShape, Backend, Card, Functional, Modelled, ModuleId};
use strata_gpu::gpu::{Gpu, GpuOptions};
use strata_gpu::machine::Machine;
use strata_gpu::program::Program;
use strata_ptx::isa::Geometry;
use strata_ptx::texture::{
    Addressing, Channel, Filter, Format, Header, Image, Layout, Levels, Read, Texture,
};
use strata_workloads::{DeviceError, DevicePtr, Module, Shape};

use crate::support::{PLAIN, gtx480, module};

/// Threads of a launch, in blocks of 96: whole warps and a partial grid.
pub const THREADS: u32 = 192;

/// A kernel that gives each thread four words of `at`, runs `body` on them (`%r0` to `%r3`, `%f0` to `%f3` the same bits; the
/// texture's handle in `%t`), and stores `%r4` to `%r7`.
pub fn kernel(declarations: &str, body: &str) -> String {
    module(&format!(
        "{declarations}\n.visible .entry k(.param .u64 at, .param .u64 out, .param .u64 handle) {{\n\
         .reg .b32 %r<32>; .reg .b64 %rd<8>; .reg .f32 %f<8>; .reg .b16 %h<8>; .reg .b64 %t; .reg .pred %p<4>;\n\
         ld.param.u64 %rd0, [at]; ld.param.u64 %rd1, [out]; ld.param.u64 %t, [handle];\n\
         mov.u32 %r8, %ctaid.x; mov.u32 %r9, %ntid.x; mov.u32 %r10, %tid.x; mad.lo.u32 %r11, %r8, %r9, %r10;\n\
         mul.wide.u32 %rd2, %r11, 16; add.u64 %rd0, %rd0, %rd2; add.u64 %rd1, %rd1, %rd2;\n\
         ld.global.v4.b32 {{%r0, %r1, %r2, %r3}}, [%rd0];\n\
         mov.b32 %f0, %r0; mov.b32 %f1, %r1; mov.b32 %f2, %r2; mov.b32 %f3, %r3;\n\
         mov.u32 %r4, 0; mov.u32 %r5, 0; mov.u32 %r6, 0; mov.u32 %r7, 0;\n\
         {body}\n\
         st.global.v4.b32 [%rd1], {{%r4, %r5, %r6, %r7}};\nret;\n}}\n"
    ))
}

/// How a texture is made and read.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    pub format: Format,
    pub geometry: Geometry,
    pub sides: [u32; 3],
    /// In an array; else in rows of linear memory.
    pub array: bool,
    pub addressing: Addressing,
    pub filter: Filter,
    pub read: Read,
    pub normalized: bool,
    /// Levels of detail, of an array.
    pub levels: u32,
}

impl Spec {
    pub const fn new(geometry: Geometry, sides: [u32; 3]) -> Spec {
        Spec {
            format: Format { channel: Channel::F32, channels: 4 },
            geometry,
            sides,
            array: true,
            addressing: Addressing::Clamp,
            filter: Filter::Point,
            read: Read::Element,
            normalized: false,
            levels: 1,
        }
    }

    pub fn texture(&self, image: Image) -> Texture {
        Texture {
            image,
            addressing: [self.addressing; 3],
            filter: self.filter,
            read: self.read,
            normalized: self.normalized,
            border: [0.0; 4],
            levels: Levels { count: self.levels, most: self.levels as f32, ..Levels::ONE },
        }
    }

    /// Makes the image on a card, filled with `bytes`, x fastest, level by level.
    pub fn image<B: Backend>(&self, card: &mut Card<B>, bytes: &[u8]) -> Image {
        let [width, height, depth] = self.sides;
        let (format, geometry) = (self.format, self.geometry);
        let image = if self.array {
            let shape = ArrayShape { format, geometry, width, height, depth };
            card.alloc_levels("texels", shape, self.levels).unwrap()
        } else {
            let row = u64::from(width) * format.bytes() as u64;
            let pitch = row.next_multiple_of(32);
            let layout = if height == 1 { Layout::Linear } else { Layout::Rows { pitch } };
            let room = if height == 1 { row } else { pitch * u64::from(height) };
            let base = card.alloc("texels", room).unwrap().0;
            Image { base, format, geometry, width, height, depth, layout }
        };
        let mut rest = bytes;
        for level in (0..self.levels).map(|n| image.level(n)) {
            for (z, y) in (0..level.depth).flat_map(|z| (0..level.height).map(move |y| (z, y))) {
                let (row, behind) = rest.split_at(level.row_bytes() as usize);
                card.write_row(&level, (0, y, z), row).unwrap();
                rest = behind;
            }
        }
        image
    }
}

/// A card with a module and an image.
pub struct Bench<B: Backend> {
    pub card: Card<B>,
    pub module: ModuleId,
    pub image: Image,
    at: DevicePtr,
    out: DevicePtr,
}

impl<B: Backend> Bench<B> {
    pub fn new(backend: B, machine: &Machine, text: &str, spec: &Spec, texels: &[u8]) -> Bench<B> {
        let mut card = Card::new(backend);
        let text = Module { name: "texture.ptx", text };
        let program =
            Program::parse(text, machine.compile_options()).unwrap_or_else(|error| panic!("{error}"));
        let module = card.load(program).unwrap();
        let at = card.alloc("at", u64::from(16 * THREADS)).unwrap();
        let out = card.alloc("out", u64::from(16 * THREADS)).unwrap();
        let image = spec.image(&mut card, texels);
        Bench { card, module, image, at, out }
    }

    /// Runs the kernel with words for each thread; what it stored.
    pub fn run(&mut self, handle: u64, words: &[[u32; 4]]) -> Result<Vec<[u32; 4]>, DeviceError> {
        let bytes: Vec<u8> = words.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
        self.card.write(self.at, &bytes)?;
        let entry = self.card.kernel(self.module, "k").unwrap_or_else(|error| panic!("{error}"));
        let params: Vec<u8> =
            [self.at.0, self.out.0, handle].iter().flat_map(|word| word.to_le_bytes()).collect();
        self.card.launch(&entry, Shape::new([THREADS / 96, 1, 1], [96, 1, 1]), &params, &mut |_| {})?;
        let mut bytes = vec![0; 16 * THREADS as usize];
        self.card.read(self.out, &mut bytes)?;
        let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
        Ok(bytes.chunks(16).map(|four| std::array::from_fn(|n| word(&four[4 * n..4 * n + 4]))).collect())
    }

    /// The image's bytes, x fastest.
    pub fn bytes(&mut self) -> Vec<u8> {
        let image = self.image;
        let mut all = Vec::new();
        for z in 0..image.depth {
            for y in 0..image.height {
                let mut row = vec![0; image.row_bytes() as usize];
                self.card.read_row(&image, (0, y, z), &mut row).unwrap();
                all.extend(row);
            }
        }
        all
    }
}

pub fn machine() -> Machine {
    gtx480(&["gpu.sms=2", "gpu.memory_mib=16"])
}

pub fn functional() -> Functional {
    Functional::new(1 << 30, Default::default())
}

pub fn modelled(machine: &Machine, options: GpuOptions) -> Modelled {
    Modelled::new(Gpu::new(machine, options).unwrap(), machine).unwrap()
}

/// What a kernel makes of a header, on both backends: the same results, and the same bytes in the image afterwards.
pub fn both(
    text: &str,
    spec: &Spec,
    texels: &[u8],
    header: impl Fn(Image) -> Header,
    words: &[[u32; 4]],
) -> Result<(Vec<[u32; 4]>, Vec<u8>), String> {
    fn one<B: Backend>(
        mut bench: Bench<B>,
        header: &impl Fn(Image) -> Header,
        words: &[[u32; 4]],
    ) -> Result<(Vec<[u32; 4]>, Vec<u8>), DeviceError> {
        let handle = match header(bench.image) {
            Header::Texture(texture) => bench.card.create_texture(texture).unwrap(),
            Header::Surface(image) => bench.card.create_surface(image).unwrap(),
        };
        let results = bench.run(handle, words)?;
        Ok((results, bench.bytes()))
    }
    let machine = machine();
    let functional = one(Bench::new(functional(), &machine, text, spec, texels), &header, words);
    let timed = one(Bench::new(modelled(&machine, PLAIN), &machine, text, spec, texels), &header, words);
    match (functional, timed) {
        (Ok(functional), Ok(timed)) => {
            assert_eq!(functional, timed, "{spec:?}\n{text}");
            Ok(functional)
        }
        (Err(functional), Err(timed)) => {
            let kind = |error: &DeviceError| match error {
                DeviceError::Failed { failure, .. } => format!("{failure:?}"),
                other => other.to_string(),
            };
            assert_eq!(kind(&functional), kind(&timed), "{functional}\n{timed}");
            Err(format!("{}: {functional}\n{timed}", kind(&functional)))
        }
        (functional, timed) => panic!("{functional:?}\n{timed:?}"),
    }
}

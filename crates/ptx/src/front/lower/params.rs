//! Parameters: of the kernel, and of calls.

use super::builder::Builder;
use super::memory::Transfer;
use super::operand::{Resolved, integer_of, operands};
use super::scope::Symbol;
use crate::front::ast::{self, DeclType, Instruction, Operand};
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::front::layout::layout;
use crate::ir::{Constant, Param, VDst, VReg, VSrc};
use crate::isa::{FloatMode, Op, Space, Ty};

/// Most bytes of a kernel's parameters (PTX ISA 8.1 and later; 4352 before).
const MAX_PARAM_BYTES: u64 = 32764;

impl<'a> Builder<'a> {
    /// Lays out the parameters of the kernel.
    pub(super) fn kernel_params(&mut self, function: &'a ast::Function) -> Result<(), Fail> {
        let mut end = 0_u64;
        for variable in &function.params {
            let text = self.text(variable.name);
            let DeclType::Scalar(ty) = variable.ty else {
                return Err(Diagnostic::unsupported(
                    variable.place,
                    "texture, sampler or surface as a parameter",
                )
                .found(format!("`{text}`"))
                .expected("a 64-bit handle"));
            };
            let layout = layout(variable)?;
            let offset = end.next_multiple_of(u64::from(layout.align));
            end = offset + layout.bytes;
            if end > MAX_PARAM_BYTES {
                return Err(Diagnostic::invalid(variable.place, "too many parameter bytes")
                    .found(format!("{end}"))
                    .expected(format!("at most {MAX_PARAM_BYTES}")));
            }
            let (offset, bytes) = (offset as u32, layout.bytes as u32);
            self.out.params.push(Param { name: text.to_string(), ty, offset, bytes, align: layout.align });
            self.declare(variable.name, variable.place, Symbol::Param { offset, bytes })?;
        }
        Ok(())
    }

    /// `.maxntid` and its kin.
    pub(super) fn launch_bounds(&mut self, function: &ast::Function) -> Result<(), Fail> {
        for directive in &function.directives {
            let value = |n: usize| directive.values.get(n).map_or(1, |value| *value as u32);
            let bounds = &mut self.out.launch_bounds;
            match self.module.names.text(directive.name) {
                "maxntid" => {
                    bounds.max_threads = Some(value(0).saturating_mul(value(1)).saturating_mul(value(2)));
                }
                "reqntid" => bounds.required = Some([value(0), value(1), value(2)]),
                "minnctapersm" => bounds.min_ctas = Some(value(0)),
                "maxnreg" => bounds.max_registers = Some(value(0)),
                "reqnctapercluster" => {
                    let shape = [value(0), value(1), value(2)];
                    if shape
                        .iter()
                        .try_fold(1u32, |all, n| all.checked_mul(*n))
                        .is_none_or(|all| all == 0 || all > 16)
                    {
                        return Err(Diagnostic::invalid(directive.place, "cluster that cannot be")
                            .found(format!("{shape:?}"))
                            .expected("1 to 16 CTAs"));
                    }
                    bounds.cluster = Some(shape);
                }
                "maxclusterrank" => bounds.max_cluster = Some(value(0)),
                "explicitcluster" => bounds.explicit_cluster = true,
                // An upper bound of the CTAs that share an SM was a hint to old compilers.
                "maxnctapersm" | "noreturn" | "abi_preserve" | "abi_preserve_control" => {}
                other => {
                    return Err(Diagnostic::unsupported(directive.place, "launch directive")
                        .found(format!("`.{other}`")));
                }
            }
        }
        Ok(())
    }

    /// A `.param` declared in a body: an argument or result of a call.
    pub(super) fn argument(&mut self, variable: &ast::Variable) -> Result<Symbol, Fail> {
        let layout = layout(variable)?;
        if variable.dims.is_empty() && variable.vector == 1 {
            return Ok(Symbol::Argument(self.fresh(layout.scalar)));
        }
        self.storage(layout.bytes, layout.align, variable.place)
    }

    /// `ld.param` of a parameter by name; false when the address is a register's.
    pub(super) fn load_param(&mut self, i: &Instruction, transfer: &Transfer) -> Result<bool, Fail> {
        let [dst, address] = operands(i)?;
        let Some((name, offset)) = address.kind.named_address() else { return Ok(false) };
        let ty = transfer.mode.ty;
        match self.resolve(name, address.place)? {
            Resolved::Param { offset: start, bytes } => {
                let elements = self.elements(dst, transfer.mode.vector)?;
                let end = offset.saturating_add(ty.bytes() as i64 * elements.len() as i64);
                if offset < 0 || end > i64::from(bytes) {
                    return Err(Diagnostic::invalid(address.place, "access outside the parameter")
                        .found(format!("bytes {offset} to {end}"))
                        .expected(format!("bytes 0 to {bytes}")));
                }
                for (n, element) in elements.into_iter().enumerate() {
                    let offset = start + offset as u32 + (n * ty.bytes()) as u32;
                    let wide = self.dst_relaxed(&element, ty)?;
                    self.copy(wide.dst, ty, VSrc::Const(Constant::Param { offset }));
                    self.extend(wide, ty);
                }
                Ok(true)
            }
            Resolved::Argument(register) => {
                if transfer.mode.vector != 1 {
                    return Err(self.wrong_kind(dst, "one register, for a scalar parameter"));
                }
                let wide = self.dst_relaxed(dst, ty)?;
                self.whole(address, register, ty, offset)?;
                self.copy(wide.dst, ty, VSrc::Reg(register, false));
                self.extend(wide, ty);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// `st.param` to a scalar parameter; false when it lies in memory.
    pub(super) fn store_param(&mut self, i: &Instruction, transfer: &Transfer) -> Result<bool, Fail> {
        let [address, value] = operands(i)?;
        let Some((name, offset)) = address.kind.named_address() else { return Ok(false) };
        let ty = transfer.mode.ty;
        match self.resolve(name, address.place)? {
            Resolved::Param { .. } => {
                Err(Diagnostic::invalid(address.place, "store to a parameter of the kernel")
                    .expected("a parameter of a call"))
            }
            Resolved::Argument(register) => {
                if transfer.mode.vector != 1 {
                    return Err(self.wrong_kind(value, "one register, for a scalar parameter"));
                }
                let value = self.src_relaxed(value, ty)?;
                self.whole(address, register, ty, offset)?;
                self.copy(VDst::Reg(register), ty, value);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// A scalar parameter is read and written from its first byte.
    fn whole(&self, address: &Operand, register: VReg, ty: Ty, offset: i64) -> Result<(), Fail> {
        let held = self.ty(register);
        if offset == 0 && ty.bytes() <= held.bytes() && held.rows() == ty.rows() {
            return Ok(());
        }
        Err(Diagnostic::unsupported(address.place, "access to part of a scalar call parameter")
            .found(format!("{} bytes at offset {offset}", ty.bytes()))
            .expected(format!("{} bytes at offset 0", held.bytes())))
    }

    /// dst = src as `ty`; values narrower than a row are extended.
    pub(super) fn copy(&mut self, dst: VDst, ty: Ty, src: VSrc) {
        let VDst::Reg(register) = dst else { return };
        if ty.bytes() < self.ty(register).bytes().min(4) {
            let from = integer_of(ty);
            let to = if ty.is_signed() { Ty::S32 } else { Ty::U32 };
            self.emit(Op::Cvt { to, from, mode: FloatMode::DEFAULT }, &[dst], &[src]);
        } else {
            self.emit(Op::Mov(ty), &[dst], &[src]);
        }
    }

    /// The memory space that a `.param` access with a computed or local address goes to.
    pub(super) fn param_space(&mut self, address: &Operand) -> Result<Space, Fail> {
        if let Some((name, _)) = address.kind.named_address()
            && let Resolved::Address { space: Space::Local, .. } | Resolved::Frame { .. } =
                self.resolve(name, address.place)?
        {
            return Ok(Space::Local);
        }
        Ok(Space::Param)
    }
}

//! Functions that map or copy a tile of global memory: each is one instruction.

use super::builder::Builder;
use super::call::scalar;
use crate::front::ast::{self, Operand};
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::isa::{Op, TileOp, Ty};

impl<'a> Builder<'a> {
    /// A call of one of the functions of [`TileOp`].
    pub(super) fn tile(
        &mut self,
        op: TileOp,
        callee: &ast::Function,
        arguments: &'a [Operand],
    ) -> Result<(), Fail> {
        let found = callee.params.iter().map(|param| scalar(param).map(|ty| ty.bytes() as u64));
        let found = found.collect::<Result<Vec<u64>, Fail>>()?;
        if !callee.returns.is_empty() || found != op.parameters() {
            return Err(Diagnostic::invalid(
                callee.place,
                "declaration of a function that the device provides",
            )
            .found(shape(callee.returns.len(), &found))
            .expected(shape(0, &op.parameters())));
        }
        let mut src = Vec::with_capacity(arguments.len());
        for (argument, bytes) in arguments.iter().zip(found) {
            src.push(self.argument_register(argument, if bytes == 8 { Ty::B64 } else { Ty::B32 })?);
        }
        if op == TileOp::ChgMap {
            src.rotate_left(1);
        }
        self.emit(Op::Tile(op), &[], &src);
        Ok(())
    }
}

/// A prototype in words.
fn shape(results: usize, bytes: &[u64]) -> String {
    let bytes: Vec<String> = bytes.iter().map(u64::to_string).collect();
    format!("{results} results and parameters of {} bytes", bytes.join(", "))
}

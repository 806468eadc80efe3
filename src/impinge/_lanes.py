"""Vectors of LANES numbers, which kernels use like single numbers.

The compiler makes vectors of loops by itself only where it sees that arrays do not overlap and that sums may be kept in
registers; here it has no choice.

    load(array, at)            LANES numbers of a flat array from place `at` on, an uint64
    store(array, at, lanes)    put them there
    spread(array, value)       LANES times a value, in the type of an array
    + − * /, < <= > >=         of lanes, or lanes and single numbers, which become of the lanes' type; a product may be
                               fused with the sum that it goes into
    abs(x), sqrt(x), larger(x, y)
    choose(mask, x, y)         x where the mask is true, else y; masks have & and |
    bits(mask)                 uint64, whose bit k is lane k's
    total(x)                   sum of all lanes
    HAS_ROOM                   whether a processor's registers hold eight lanes of float64 and more: 32 of 8 numbers

There is no way to move lanes or to take one alone: LLVM 20 takes the wrong one for that in some sums of products.
With the compiler off, lanes are arrays of NumPy, and masks those of bools.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

__all__ = ["HAS_ROOM", "LANES", "bits", "choose", "larger", "load", "spread", "sqrt", "store", "total"]

LANES = 16
_config: Any = numba.config  # made at run time, so that type checkers do not know its fields
_FUSE = ("contract",)


def _features() -> str:
    """What the compiler may use of this processor."""
    chosen = _config.CPU_FEATURES
    return str(binding.get_host_cpu_features().flatten() if chosen is None else chosen)


HAS_ROOM = "+avx512f" in _features().split(",")


class _Lanes(types.Type):
    """LANES numbers of one type."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(f"Lanes({dtype})")


class _Mask(types.Type):
    """LANES bits."""

    def __init__(self) -> None:
        super().__init__("Mask")


@register_model(_Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: _Lanes) -> None:
        super().__init__(manager, kind, ir.VectorType(manager.lookup(kind.dtype).get_value_type(), LANES))


@register_model(_Mask)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: _Mask) -> None:
        super().__init__(manager, kind, ir.VectorType(ir.IntType(1), LANES))


def _spread_value(builder: Any, vector: Any, value: Any) -> Any:
    """A vector of LANES times the value."""
    nothing = ir.Constant(vector, ir.Undefined)
    places = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(builder.insert_element(nothing, value, ir.IntType(32)(0)), nothing, places)


def _as_lanes(context: Any, builder: Any, value: Any, kind: Any, lanes: _Lanes) -> Any:
    """A value of some type as lanes."""
    if kind == lanes:
        return value
    number = context.cast(builder, value, kind, lanes.dtype)
    return _spread_value(builder, context.get_value_type(lanes), number)


# Operators


def _operands(arguments: tuple[Any, ...]) -> _Lanes | None:
    """The type of lanes that the two operands of an operator become."""
    if len(arguments) != 2 or not any(isinstance(kind, _Lanes) for kind in arguments):
        return None
    first = next(kind for kind in arguments if isinstance(kind, _Lanes))
    fits = all(kind == first or isinstance(kind, (types.Float, types.Integer)) for kind in arguments)
    return first if fits else None


def _define(operation: Any, result: Callable[[_Lanes], Any], emit: Callable[[Any, Any, Any], Any]) -> None:
    """Teach the compiler an operator of two lanes, or of lanes and a number."""

    class Template(AbstractTemplate):
        def generic(self, arguments: Any, keywords: Any) -> Any:
            lanes = _operands(arguments)
            return None if lanes is None or keywords else signature(result(lanes), *arguments)

    infer_global(operation)(Template)

    def lower(context: Any, builder: Any, called: Any, values: Any) -> Any:
        lanes = _operands(called.args)
        both = (_as_lanes(context, builder, *one, lanes) for one in zip(values, called.args, strict=True))
        return emit(builder, *both)

    for kinds in ((_Lanes, _Lanes), (_Lanes, types.Number), (types.Number, _Lanes)):
        lower_builtin(operation, *kinds)(lower)


def _define_all() -> None:
    def comparison(sign: str) -> Callable[[Any, Any, Any], Any]:
        return lambda builder, x, y: builder.fcmp_ordered(sign, x, y)

    for operation, name in (
        (operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul"), (operator.truediv, "fdiv"),
    ):  # fmt: skip
        _define(operation, lambda lanes: lanes, lambda b, x, y, name=name: getattr(b, name)(x, y, flags=_FUSE))
    for operation, sign in ((operator.lt, "<"), (operator.le, "<="), (operator.gt, ">"), (operator.ge, ">=")):
        _define(operation, lambda lanes: _Mask(), comparison(sign))

    class OfLanes(AbstractTemplate):
        def generic(self, arguments: Any, keywords: Any) -> Any:
            return signature(*arguments, *arguments) if isinstance(arguments[0], _Lanes) else None

    infer_global(abs)(OfLanes)
    lower_builtin(abs, _Lanes)(_emit_of_each("fabs"))

    class OfMasks(AbstractTemplate):
        def generic(self, arguments: Any, keywords: Any) -> Any:
            return signature(_Mask(), *arguments) if all(isinstance(kind, _Mask) for kind in arguments) else None

    for operation, name in ((operator.and_, "and_"), (operator.or_, "or_")):
        infer_global(operation)(type(f"OfMasks_{name}", (OfMasks,), {}))
        lower_builtin(operation, _Mask, _Mask)(
            lambda context, builder, called, values, name=name: getattr(builder, name)(*values)
        )


# Functions


def _place(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> tuple[Any, int]:
    """Pointer to LANES numbers of an array, and how they are aligned."""
    number = context.get_data_type(kind.dtype)
    pointer = builder.gep(context.make_array(kind)(context, builder, array).data, [at])
    return builder.bitcast(pointer, ir.VectorType(number, LANES).as_pointer()), context.get_abi_sizeof(number)


def _load(typing: Any, array: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, called: Any, values: Any) -> Any:
        pointer, align = _place(context, builder, called.args[0], *values)
        return builder.load(pointer, align=align)

    return _Lanes(array.dtype)(array, types.uint64), generate


def _store(typing: Any, array: Any, at: Any, lanes: Any) -> Any:
    def generate(context: Any, builder: Any, called: Any, values: Any) -> Any:
        pointer, align = _place(context, builder, called.args[0], *values[:2])
        builder.store(values[2], pointer, align=align)
        return context.get_dummy_value()

    return types.void(array, types.uint64, _Lanes(array.dtype)), generate


def _spread(typing: Any, array: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, called: Any, values: Any) -> Any:
        return _as_lanes(context, builder, values[1], called.args[1], called.return_type)

    return _Lanes(array.dtype)(array, value), generate


def _emit_of_each(name: str) -> Callable[..., Any]:
    """How to call an intrinsic of LLVM for each lane."""

    def generate(context: Any, builder: Any, called: Any, values: Any) -> Any:
        vector = context.get_value_type(called.return_type)
        full_name = f"llvm.{name}.v{LANES}f{called.return_type.dtype.bitwidth}"
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(vector, [vector]), full_name)
        return builder.call(function, values)

    return generate


def _sqrt(typing: Any, x: Any) -> Any:
    return x(x), _emit_of_each("sqrt")


def _larger(typing: Any, x: Any, y: Any) -> Any:
    def generate(context: Any, builder: Any, called: Any, values: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *values), *values)

    return x(x, x), generate


def _choose(typing: Any, mask: Any, x: Any, y: Any) -> Any:
    lanes = x if isinstance(x, _Lanes) else y

    def generate(context: Any, builder: Any, called: Any, values: Any) -> Any:
        both = (_as_lanes(context, builder, values[k], called.args[k], lanes) for k in (1, 2))
        return builder.select(values[0], *both)

    return lanes(mask, x, y), generate


def _bits(typing: Any, mask: Any) -> Any:
    def generate(context: Any, builder: Any, called: Any, values: Any) -> Any:
        return builder.zext(builder.bitcast(values[0], ir.IntType(LANES)), ir.IntType(64))

    return types.uint64(mask), generate


def _total(typing: Any, x: Any) -> Any:
    def generate(context: Any, builder: Any, called: Any, values: Any) -> Any:
        sums, half, number = values[0], LANES // 2, ir.IntType(32)
        while half:
            halves = []
            for begin in (0, half):
                places = ir.Constant(ir.VectorType(number, half), list(range(begin, begin + half)))
                halves.append(builder.shuffle_vector(sums, ir.Constant(sums.type, ir.Undefined), places))
            sums, half = builder.fadd(*halves), half // 2
        return builder.extract_element(sums, number(0))

    return x.dtype(x), generate


# The same with the compiler off


def _load_array(array: Any, at: Any) -> Any:
    return array[int(at) : int(at) + LANES].copy()


def _store_array(array: Any, at: Any, lanes: Any) -> None:
    array[int(at) : int(at) + LANES] = lanes


def _spread_array(array: Any, value: Any) -> Any:
    return np.full(LANES, value, array.dtype)


def _bits_of_array(mask: Any) -> Any:
    return np.uint64(sum(1 << k for k in range(LANES) if mask[k]))


def _sum_array(x: Any) -> Any:
    while len(x) > 1:
        x = x[: len(x) // 2] + x[len(x) // 2 :]
    return x[0]


def _pick(generated: Callable[..., Any], python: Callable[..., Any]) -> Any:
    return python if _config.DISABLE_JIT else intrinsic(generated)


if not _config.DISABLE_JIT:
    _define_all()
load = _pick(_load, _load_array)
store = _pick(_store, _store_array)
spread = _pick(_spread, _spread_array)
sqrt = _pick(_sqrt, np.sqrt)
larger = _pick(_larger, np.maximum)
choose = _pick(_choose, np.where)
bits = _pick(_bits, _bits_of_array)
total = _pick(_total, _sum_array)

"""Loops over lanes shared out among threads, compiled.

A loop over lanes is a kernel `loop(first, stop, *arguments)`. `share` cuts the lanes into a share for each thread and
each share into parts. The caller works on its own share, every helper on its own, so that a lane is mostly worked on by
the same core; then the caller takes over what a helper that is late has not begun. Helpers wait for work in compiled
code, without Python's lock; who has waited a tenth of a millisecond or two in vain sleeps, and is woken by the next
call, which goes on by itself meanwhile.

All they share is the board, words of 64 bits that are read and written atomically (acquire and release).
"""

from __future__ import annotations

import platform
import sys
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.callconv import RETCODE_USEREXC
from numba.extending import intrinsic

from tabletop.jit import COMPILED, entry, kernel

PARTS = 8  # of a share, at most
PATIENCE = 4000  # glances at the board before a helper sleeps: 40 to 140 cycles each
GRACE = 64  # glances before a thread takes over lanes of another, which lie in the cache of its core
FAIR = 1000  # glances before a thread that waits lets others have its core

# The board, int64: how many threads there are, whether they are at work, what a loop raised; from LINE a block of two cache
# lines for each thread. The first tells it what to do: its share, see `claim`; the loop and its arguments, both addresses;
# the lanes; the threads that share them, and in how many parts each. In the second it says how many parts it has finished
# since it began, and whether it is awake.
LINE = 16
CREW, BUSY, RAISED = range(3)
SHARE, WORK, ARGUMENTS, SIZE, THREADS, EACH = range(6)
DONE, AWAKE = 8, 9

# Compiled: words of memory -----------------------------------------------------------------------------------------------

INT = ir.IntType(64)
BYTES = ir.IntType(8).as_pointer()
LOOP = ir.FunctionType(INT, [BYTES, INT, INT])  # returns what it raised, see `run`
UNKNOWN = 1  # raised, but not in compiled code
X86 = platform.machine() in ("x86_64", "AMD64")


def _word(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    """Return the pointer to word `values[1]` of the array `values[0]`."""
    array = context.make_array(signature.args[0])(context, builder, values[0])
    return builder.gep(array.data, [values[1]])


@intrinsic
def peek(_, words, place):
    """Return a word."""

    def generate(context, builder, signature, values):
        return builder.load_atomic(_word(context, builder, signature, values), "acquire", 8)

    return types.int64(words, types.int64), generate


@intrinsic
def poke(_, words, place, value):
    """Write a word."""

    def generate(context, builder, signature, values):
        builder.store_atomic(values[2], _word(context, builder, signature, values), "release", 8)
        return context.get_dummy_value()

    return types.void(words, types.int64, types.int64), generate


@intrinsic
def increase(_, words, place, number):
    """Add a number to a word."""

    def generate(context, builder, signature, values):
        builder.atomic_rmw("add", _word(context, builder, signature, values), values[2], "acq_rel")
        return context.get_dummy_value()

    return types.void(words, types.int64, types.int64), generate


@intrinsic
def replace(_, words, place, old, new):
    """Write a word if it is still `old`, and tell whether it was."""

    def generate(context, builder, signature, values):
        word = _word(context, builder, signature, values)
        pair = builder.cmpxchg(word, values[2], values[3], "acq_rel", "acquire")
        return builder.extract_value(pair, 1)

    return types.boolean(words, types.int64, types.int64, types.int64), generate


@intrinsic
def pause(_):
    """Spend a moment, as one who waits for another core should."""

    def generate(context, builder, signature, values):
        if X86:
            function = cgutils.get_or_insert_function(
                builder.module, ir.FunctionType(ir.VoidType(), []), "llvm.x86.sse2.pause"
            )
            builder.call(function, [])
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def give_way(_):
    """Let another thread have the core, where the system can."""

    def generate(context, builder, signature, values):
        if sys.platform != "win32":
            function = cgutils.get_or_insert_function(
                builder.module, ir.FunctionType(ir.IntType(32), []), "sched_yield"
            )
            builder.call(function, [])
        return context.get_dummy_value()

    return types.void(), generate


# Compiled: a loop and its arguments as two addresses ---------------------------------------------------------------------


@intrinsic
def job_compiled(typing, loop, arguments):
    """See `job`: the addresses of a function that calls the loop, and of its arguments, which hold until the caller returns."""
    call = loop.get_call_type(typing, (types.int64, types.int64, *arguments), {})

    def generate(context, builder, signature, values):
        place = cgutils.alloca_once_value(builder, values[1])
        function = ir.Function(builder.module, LOOP, builder.module.get_unique_name(f"{builder.function.name}.loop"))
        function.linkage = "internal"
        inner = ir.IRBuilder(function.append_basic_block())
        packed = inner.load(inner.bitcast(function.args[0], place.type))
        compiled = loop.dispatcher.get_compile_result(call)
        context.active_code_library.add_linking_library(compiled.library)
        given = [*function.args[1:], *cgutils.unpack_tuple(inner, packed, len(arguments))]
        status, _ = context.call_internal_no_propagate(inner, compiled.fndesc, call, given)
        raised = inner.select(status.is_user_exc, inner.ptrtoint(status.excinfoptr, INT), INT(UNKNOWN))
        inner.ret(inner.select(status.is_error, raised, INT(0)))
        addresses = [builder.ptrtoint(function, INT), builder.ptrtoint(place, INT)]
        return context.make_tuple(builder, signature.return_type, addresses)

    return types.UniTuple(types.int64, 2)(loop, arguments), generate


@intrinsic
def run(_, function, arguments, first, stop):
    """Do a `job` for the lanes first..stop-1. Return 0, the address of the exception it raised, or UNKNOWN."""

    def generate(context, builder, signature, values):
        function = builder.inttoptr(values[0], LOOP.as_pointer())
        return builder.call(function, [builder.inttoptr(values[1], BYTES), values[2], values[3]])

    return types.int64(types.int64, types.int64, types.int64, types.int64), generate


@intrinsic
def raise_again(_, raised):
    """Raise an exception by its address."""

    def generate(context, builder, signature, values):
        place = context.call_conv._get_excinfo_argument(builder.function)
        with builder.if_then(builder.icmp_unsigned("!=", values[0], INT(0))):
            builder.store(builder.inttoptr(values[0], place.type.pointee), place)
            context.call_conv._return_errcode_raw(builder, RETCODE_USEREXC)
        return context.get_dummy_value()

    return types.void(types.int64), generate


# Compiled: sharing out ---------------------------------------------------------------------------------------------------

FIELD = (1 << 16) - 1
ROUNDS = (1 << 31) - 1


@kernel
def block(thread):
    """Return where the block of a thread begins."""
    return LINE * (1 + thread)


@kernel
def claim(board, thread, own):
    """Take parts of a thread's share: of the own one three quarters of what is left, from the front, else the last one.

    Return the first one's number in the share and the number after the last one's, equal if nothing was left. The word
    of a share holds the first part left and, from bit 0, the one after the last, 16 bits each. Above them is a number
    that no other round of work has, so that nothing of this round can be claimed by who has looked at an earlier.
    """
    place = block(thread) + SHARE
    while True:
        word = peek(board, place)
        first, stop = (word >> 16) & FIELD, word & FIELD
        left = stop - first
        if left <= 0:
            return first, first
        if own and replace(board, place, word, word + ((left - left // 4) << 16)):
            return first, stop - left // 4
        if not own and replace(board, place, word, word - 1):
            return stop - 1, stop


@kernel
def work_on(board, thread, me):
    """Work on the share of a thread until nothing is left of it."""
    finished = 0
    first, stop = claim(board, thread, thread == me)
    while first < stop:
        told = block(thread)
        each, size = board[told + EACH], board[told + SIZE]
        parts, before = each * board[told + THREADS], each * thread
        begin, end = size * (before + first) // parts, size * (before + stop) // parts
        raised = run(board[told + WORK], board[told + ARGUMENTS], begin, end)
        if raised != 0:
            poke(board, RAISED, raised)
        finished += stop - first
        first, stop = claim(board, thread, thread == me)
    if finished > 0:
        increase(board, block(me) + DONE, finished)


@kernel
def all_done(board):
    """Return how many parts have been finished since the crew began."""
    done = 0
    for thread in range(board[CREW]):
        done += peek(board, block(thread) + DONE)
    return done


@kernel
def wait(glances):
    """Wait a moment, having waited `glances` of them."""
    pause()
    if glances % FAIR == FAIR - 1:
        give_way()


@kernel
def share_compiled(board, threads, size, work):
    """See `share`."""
    function, arguments = work
    if threads > 1 and size >= threads and replace(board, BUSY, 0, 1):
        raised = together(board, threads, size, function, arguments)
        poke(board, BUSY, 0)
    else:
        raised = run(function, arguments, 0, size)
    if raised == UNKNOWN:
        raise RuntimeError("a loop over lanes failed")
    raise_again(raised)


@kernel
def together(board, threads, size, function, arguments):
    """Do a job on several threads. Return what it raised, as `run`, of several exceptions any."""
    each = min(PARTS, size // threads)
    finished = all_done(board) + threads * each
    poke(board, RAISED, 0)
    for thread in range(threads - 1, -1, -1):
        told = block(thread)
        board[told + WORK], board[told + ARGUMENTS] = function, arguments
        board[told + SIZE], board[told + THREADS], board[told + EACH] = size, threads, each
        rounds = (peek(board, told + SHARE) >> 32) + 1
        poke(board, told + SHARE, (rounds & ROUNDS) << 32 | each)
    work_on(board, 0, 0)
    glances = 0
    while all_done(board) < finished:
        wait(glances)
        glances += 1
        if glances == GRACE:
            for thread in range(1, threads):
                work_on(board, thread, 0)
    return peek(board, RAISED)


@entry
def help_out(board, me):
    """Work on the own share whenever there is one, until there has been none for a while."""
    poke(board, block(me) + AWAKE, 1)
    glances = 0
    while glances < PATIENCE:
        word = peek(board, block(me) + SHARE)
        if (word >> 16) & FIELD < word & FIELD:
            work_on(board, me, me)
            glances = 0
        wait(glances)
        glances += 1
    poke(board, block(me) + AWAKE, 0)


def job_plainly(loop, arguments):
    """See `job`: without compilation both are as they are."""
    return loop, arguments


def share_plainly(board, threads, size, work):
    """See `share`: without compilation there is one thread."""
    loop, arguments = work
    loop(0, size, *arguments)


# job(loop, arguments): make of a kernel loop(first, stop, *arguments) over lanes and the tuple of its arguments what `share`
# takes. Arrays are given whole; one made by the caller must be used by it after `share`, or it is freed before.
# share(board, threads, size, job): do a job for all lanes below `size` on `threads` threads, of which the caller is one; on
# one, if others are at it. What the loop raises is raised when all parts are finished.
job, share = (job_compiled, share_compiled) if COMPILED else (job_plainly, share_plainly)

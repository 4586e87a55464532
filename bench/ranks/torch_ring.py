#!/usr/bin/env python3
"""The ring of bench/ranks with PyTorch: zigzag parts, torch.distributed over gloo, one thread a rank.

torch.distributed.tensor.experimental.context_parallel has no sharding rule for attention on the CPU (2.13), so this is its algorithm by hand:
keys and values go round with batch_isend_irecv while SDPA's CPU kernel works on those that are there, and results are merged by
their log-sum-exps. Prints one rank's time and that of all, forward and backward. --ranks 2 --length 16384 --repeat 5
"""
import argparse
import os
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

attend = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
attend_backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward


def merge(out, lse, more, more_lse):
    """Results over two sets of keys as one, in place."""
    both = torch.logaddexp(lse, more_lse)
    out.mul_((lse - both).exp()[..., None]).add_(more * (more_lse - both).exp()[..., None])
    lse.copy_(both)


def pieces(me, source, q_len):
    """Which of the own queries and of the keys of `source` meet: halves of a zigzag part, [early, late]."""
    half = q_len // 2
    return (slice(0, q_len), slice(0, half)) if source < me else (slice(half, q_len), slice(0, q_len))


def exchange(tensors, me, size):
    """Sends to the next rank and receives from the one before: (work, what comes)."""
    coming = [torch.empty_like(x) for x in tensors]
    ops = [dist.P2POp(dist.isend, x, (me + 1) % size) for x in tensors] + [dist.P2POp(dist.irecv, x, (me - 1) % size) for x in coming]
    return dist.batch_isend_irecv(ops), coming


def ring(q, k, v, me, size):
    for step in range(size):
        if step + 1 < size:
            work, coming = exchange((k, v), me, size)
        if step == 0:
            out, lse = attend(q, k, v, 0.0, True)
        else:
            rows, keys = pieces(me, (me - step) % size, q.shape[2])
            more, more_lse = attend(q[:, :, rows], k[:, :, keys], v[:, :, keys], 0.0, False)
            merge(out[:, :, rows], lse[:, :, rows], more, more_lse)
        if step + 1 < size:
            for each in work:
                each.wait()
            k, v = coming
    return out, lse


def ring_backward(dout, q, k, v, out, lse, me, size):
    dk_dv = None
    for step in range(size):
        if step + 1 < size:
            work, coming = exchange((k, v), me, size)
        if step == 0:
            dq, *gradients = attend_backward(dout, q, k, v, out, lse, 0.0, True)
            gradients = [x.contiguous() for x in gradients]
        else:
            rows, keys = pieces(me, (me - step) % size, q.shape[2])
            more, *parts = attend_backward(dout[:, :, rows], q[:, :, rows], k[:, :, keys], v[:, :, keys], out[:, :, rows], lse[:, :, rows], 0.0, False)
            dq[:, :, rows] += more
            for each in returning:
                each.wait()
            gradients = dk_dv
            for sum_, part in zip(gradients, parts):
                sum_[:, :, keys] += part
        returning, dk_dv = exchange(gradients, me, size)
        if step + 1 < size:
            for each in work:
                each.wait()
            k, v = coming
    for each in returning:
        each.wait()
    return dq, *dk_dv


def timed(call):
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def check(me, size):
    """Against one process, at a short length."""
    torch.manual_seed(1)
    length = 64 * size
    q, k, v, dout = (torch.randn(1, 2, length, 64) for _ in range(4))
    whole, lse = attend(q, k, v, 0.0, True)
    wanted = [whole, *attend_backward(dout, q, k, v, whole, lse, 0.0, True)]
    rows = torch.cat([torch.arange(n * 32, n * 32 + 32) for n in (me, 2 * size - 1 - me)])
    mine = [x[:, :, rows].contiguous() for x in (q, k, v, dout)]
    out, lse = ring(*mine[:3], me, size)
    got = [out, *ring_backward(mine[3], *mine[:3], out, lse, me, size)]
    for one, other in zip(got, wanted):
        torch.testing.assert_close(one, other[:, :, rows], rtol=1e-4, atol=1e-5)


def rank(me, given):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(given.port))
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[me % os.cpu_count()]})
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=me, world_size=given.ranks)
    torch.manual_seed(me)
    check(me, given.ranks)
    q, k, v, dout = (torch.rand(1, 1, given.length // given.ranks, 64) * 2 - 1 for _ in range(4))
    alone, together = [1e300, 1e300], [1e300, 1e300]
    for _ in range(given.repeat):
        dist.barrier()
        if me == 0:
            a, b, c, d = (torch.rand(1, 1, given.length, 64) * 2 - 1 for _ in range(4))
            seconds, (out, lse) = timed(lambda: attend(a, b, c, 0.0, True))
            alone[0] = min(alone[0], seconds)
            alone[1] = min(alone[1], timed(lambda: attend_backward(d, a, b, c, out, lse, 0.0, True))[0])
        dist.barrier()
        seconds, (out, lse) = timed(lambda: ring(q, k, v, me, given.ranks))
        dist.barrier()
        back, _ = timed(lambda: ring_backward(dout, q, k, v, out, lse, me, given.ranks))
        slowest = torch.tensor([seconds, back])
        dist.all_reduce(slowest, dist.ReduceOp.MAX)
        together = [min(x, float(y)) for x, y in zip(together, slowest)]
    if me == 0:
        print(f"torch {torch.__version__}, gloo, ranks {given.ranks}, N {given.length}")
        for name, one, many in zip(("forward", "backward"), alone, together):
            print(f"{name:8} one rank {one:.3f} s; ring {many:.3f} s, efficiency {100 * one / many / given.ranks:.1f} %")
    dist.destroy_process_group()


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name, default in (("ranks", 2), ("length", 16384), ("repeat", 5), ("port", 29513)):
        words.add_argument(f"--{name}", type=int, default=default)
    options = words.parse_args()
    mp.spawn(rank, (options,), options.ranks)

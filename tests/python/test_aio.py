"""The asyncio twins."""

import asyncio

import numpy as np
import pytest

import phasor_tables
from phasor_tables import aio, errors, local


def run(work):
    return asyncio.run(asyncio.wait_for(work, 60))


def test_everything_a_table_does(server):
    expected = local.sinusoidal(512)

    async def work():
        async with aio.Client(server.address) as client:
            table = await client.sinusoidal(width=512)
            assert np.array_equal(await table.read(7, 3), expected.read(7, 3))
            out = np.empty((9000, 512), np.float32)
            assert await table.read(-5, 9000, out=out) is out
            assert np.array_equal(out, expected.read(-5, 9000))
            assert np.array_equal(await table.gather([5, 10**9]), expected.gather([5, 10**9]))
            assert np.array_equal(await table.gather([0.5]), expected.gather([0.5]))
            rows = expected.read(0, 4)
            assert np.array_equal(await table.shift(rows, 2), expected.shift(rows, 2))
            assert np.array_equal(await table.frequencies(), expected.frequencies())
            assert table.fingerprint == expected.fingerprint
            assert (await client.server_info()).max_width == 65536

    run(work())


def test_cursors_of_many_tasks_share_blocks(server):
    expected = local.learned_init(2000, 256).read(0, 2000)

    async def walk(table, start):
        position = start
        async for row in table.cursor(start):
            assert np.array_equal(row, expected[position])
            position += 1
        return position

    async def work():
        async with aio.Client(server.address) as client:
            table = await client.learned_init(2000, 256)
            ends = await asyncio.gather(*(walk(table, start) for start in range(0, 64, 8)))
            assert ends == [2000] * 8
            assert client.counters().rpcs <= 1 + 8 + 1

    run(work())


def test_errors_name_the_field(server):
    async def work():
        async with aio.Client(server.address) as client:
            with pytest.raises(errors.InvalidArgument) as raised:
                await client.sinusoidal(width=3)
            assert raised.value.field == "spec.sinusoidal.width"
            table = await client.learned_init(4, 4)
            with pytest.raises(errors.OutOfRange) as raised:
                await table.gather([1, 4])
            assert raised.value.field == "positions[1]"

    run(work())


def test_fallback(tmp_path):
    async def work():
        client = aio.Client(f"unix:{tmp_path}/nobody", fallback="local", timeout=2)
        table = await client.sinusoidal(width=64)
        assert np.array_equal(await table.read(0, 3000), local.sinusoidal(64).read(0, 3000))
        assert client.counters().local_fallbacks == 2
        await client.close()

    run(work())


def test_no_server_is_unavailable(tmp_path):
    async def work():
        client = aio.Client(f"unix:{tmp_path}/nobody", timeout=0.3)
        with pytest.raises(errors.Unavailable):
            await client.sinusoidal(width=64)
        await client.close()

    run(work())


def test_one_who_gives_up_does_not_end_the_others(server):
    async def work():
        async with aio.Client(server.address) as client:
            table = await client.sinusoidal(width=512)
            given_up = asyncio.ensure_future(table.read(0, 1))
            other = asyncio.ensure_future(table.read(1, 1))
            await asyncio.sleep(0)
            given_up.cancel()
            assert np.array_equal(await other, local.sinusoidal(512).read(1, 1))
            with pytest.raises(asyncio.CancelledError):
                await given_up

    run(work())


def test_the_twins_have_the_same_methods():
    for name in ("Client", "Table", "Cursor"):
        blocking, twin = getattr(phasor_tables, name), getattr(aio, name)
        names = {n for n in dir(blocking) if not n.startswith("_")}
        assert names == {n for n in dir(twin) if not n.startswith("_")}

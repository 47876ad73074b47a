"""A plan for 10⁸ and 10⁹ chunks from measured figures, and what it does when a machine is lost.

python benchmarks/simulate_scale.py [--chunks 1e8 1e9] [--skew 1.0] [--busy 0.5] [--seed 1] [--json]

First arithmetic (``plan``): machines, memory, disk, days of indexing and cost, from ``MEASURED``.
Then a simulation of events: tenants of Zipf's sizes, each whole in one of many shards (a small one
by its hash, a large one alone), each shard on ``--replicas`` machines. Questions come at random,
to tenants as often as they are large. After a while one machine is lost: what it was computing is
asked again, the others make the missing copies, which costs them time, and go on without it.
Latency is queue and search; what networks and proxies add is not in it. The same seed gives the
same figures.

Prices and machines are assumptions (``Machine``), not measurements. ``by hash`` is what the hottest
machine would have if shards were put on machines by their hash and not by what they carry.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from common import arguments, report

MEASURED = {
    "search_ms": ((10_000, 3.2), (100_000, 5.4), (300_000, 10.2), (1_000_000, 23.9)),
    "memory_bytes": 1_745,
    "index_bytes": 2_537,
    "catalog_bytes": 3_395,
    "chunks_a_second": 780,
    "p95_to_p50": 1.32,
}
"""Of one collection, on two cores, at 7fe6261, bytes on disk at bbd1505 (docs/scaling.md says how).

Median of a hybrid search by rows; resident memory, index files and catalog a chunk; text files
read, cut, embedded and written in a second by one machine; the tail of equal searches.
"""


@dataclass(frozen=True)
class Machine:
    """One server, as assumed. ``usable``: the share of its memory that indexes may take."""

    cores: int = 4
    memory_gb: float = 64.0
    usable: float = 0.7
    euros_a_month: float = 60.0
    copies_gb_a_second: float = 0.2
    copying_takes: float = 0.2
    """The share of its computing time that a machine spends while it copies."""


@dataclass(frozen=True)
class Load:
    """What is simulated besides the data; times in seconds."""

    skew: float = 1.0
    chunks_a_tenant: int = 1_000
    rows_a_part: int = 1_000_000
    replicas: int = 2
    shards_a_machine: int = 20
    busy: float = 0.5
    before: float = 6.0
    after: float = 6.0
    noticed_after: float = 5.0
    gives_up_after: float = 1.0
    """How long a question waits for a machine that does not answer before it asks another."""
    seed: int = 1


# -- arithmetic ----------------------------------------------------------------------------


def search_ms(rows: Any) -> Any:
    """Median searches in collections of so many rows: between and beyond what was measured."""
    sizes, times = zip(*MEASURED["search_ms"], strict=True)
    slope = (times[-1] - times[-2]) / (sizes[-1] - sizes[-2])
    return np.interp(rows, sizes, times) + np.maximum(0.0, np.subtract(rows, sizes[-1])) * slope


def plan(chunks: int, machine: Machine, load: Load) -> dict[str, float]:
    """Machines, memory, disk and cost of so many chunks.

    Index files stand twice on disk while a new generation is written beside the old one.
    """
    memory = chunks * MEASURED["memory_bytes"] * load.replicas / 1e9
    disk = chunks * (2 * MEASURED["index_bytes"] + MEASURED["catalog_bytes"]) * load.replicas / 1e9
    machines = max(load.replicas + 1, math.ceil(memory / (machine.memory_gb * machine.usable)))
    return {
        "machines": machines,
        "memory_gb": memory,
        "disk_gb": disk,
        "disk_gb_a_machine": disk / machines,
        "shards": machines * load.shards_a_machine,
        "index_days_of_one_machine": chunks / MEASURED["chunks_a_second"] / 86_400,
        "index_hours_of_all": chunks / MEASURED["chunks_a_second"] / machines / 3_600,
        "euros_a_month": machines * machine.euros_a_month,
        "euros_a_month_a_million_chunks": machines * machine.euros_a_month / chunks * 1e6,
    }


def zipf_sizes(tenants: int, chunks: int, skew: float) -> np.ndarray:
    """Sizes that fall with the rank to the power of ``skew``, at least 1, of so many in all."""
    weights = np.arange(1, tenants + 1, dtype=np.float64) ** -skew
    return np.maximum(1, np.floor(weights * (chunks / weights.sum()) + 1e-9)).astype(np.int64)


@dataclass(frozen=True)
class Shards:
    """What is put on machines: rows and load of each, and which shards each tenant is in.

    A tenant beyond ``rows_a_part`` has several shards from ``first`` on; one that is larger than
    the mean of the shared shards has one to itself. Load is in searching seconds for each question
    that anyone asks.
    """

    rows: np.ndarray
    load: np.ndarray
    first: np.ndarray
    parts: np.ndarray


def shards_of(sizes: np.ndarray, share: np.ndarray, shared: int, rows_a_part: int) -> Shards:
    """Divide tenants, of sizes that fall, into shards; ``share`` is how often each is asked."""
    parts = -(-sizes // rows_a_part)
    taken = share * search_ms(sizes / parts) / 1000
    alone = (sizes >= sizes.sum() / shared) | (parts > 1)
    own = parts[alone]
    first = np.empty(len(sizes), np.int64)
    first[alone] = shared + np.cumsum(own) - own
    first[~alone] = _hashed(np.flatnonzero(~alone)) % shared
    rows = np.bincount(first[~alone], sizes[~alone], shared)
    load = np.bincount(first[~alone], taken[~alone], shared)
    rows = np.append(rows, np.repeat((sizes / parts)[alone], own))
    load = np.append(load, np.repeat(taken[alone], own))
    return Shards(rows, load, first, parts)


def _hashed(numbers: np.ndarray) -> np.ndarray:
    return (numbers * 0x9E3779B1) % (1 << 32)


def placed(load: Sequence[float], machines: int, replicas: int) -> list[tuple[int, ...]]:
    """Put shards on machines, the heaviest first, each copy where there is least by then.

    Of those, one that shares least with the shard's other machines: they have to take over what
    it has when it is lost.
    """
    has = np.zeros(machines)
    shares = np.zeros((machines, machines))
    found: list[tuple[int, ...]] = [()] * len(load)
    for shard in sorted(range(len(load)), key=lambda one: (-load[one], one)):
        chosen: list[int] = []
        # A question is asked of one copy.
        part = load[shard] / replicas
        for _ in range(replicas):
            worst = has + shares[chosen].sum(axis=0)
            worst[chosen] = np.inf
            chosen.append(int(np.argmin(worst)))
        has[chosen] += part
        for one in chosen:
            shares[one, chosen] += part
        found[shard] = tuple(chosen)
    return found


def by_hash(shards: int, machines: int, replicas: int) -> list[tuple[int, ...]]:
    """Put shards on machines by their number alone."""
    at = _hashed(np.arange(shards)) % machines
    return [tuple((int(one) + copy) % machines for copy in range(replicas)) for one in at]


def carried(places: Sequence[tuple[int, ...]], what: Sequence[float], machines: int) -> np.ndarray:
    """Sum what the shards of each machine have, each copy having its part of it."""
    found = np.zeros(machines)
    for copies, one in zip(places, what, strict=True):
        for machine in copies:
            found[machine] += one / len(copies)
    return found


def hottest(places: Sequence[tuple[int, ...]], load: Sequence[float], alive: list[int]) -> float:
    """What the machine with the most to do has, to the mean of those that are there."""
    of_each = carried(places, load, max(alive) + 1)[alive]
    return float(of_each.max() / of_each.mean())


def without(places: Sequence[tuple[int, ...]], lost: int) -> list[tuple[int, ...]]:
    """Take a machine away from every shard."""
    return [tuple(one for one in copies if one != lost) for copies in places]


@dataclass(frozen=True)
class Move:
    """One copy of a shard that is made anew."""

    shard: int
    source: int
    target: int


def repaired(
    places: Sequence[tuple[int, ...]], load: Sequence[float], lost: int, machines: int
) -> tuple[list[tuple[int, ...]], list[Move]]:
    """Give each shard of a lost machine another copy where there is least; return what moves."""
    left = without(places, lost)
    of_each = carried(left, load, machines)
    moves: list[Move] = []
    found = list(left)
    missing = [shard for shard, copies in enumerate(places) if lost in copies]
    for shard in sorted(missing, key=lambda one: (-load[one], one)):
        free = [one for one in range(machines) if one != lost and one not in left[shard]]
        target = min(free, key=lambda one: (of_each[one], one))
        part = load[shard] / (len(left[shard]) + 1)
        for machine in left[shard]:
            of_each[machine] -= load[shard] / len(left[shard]) - part
        of_each[target] += part
        found[shard] = (*left[shard], target)
        moves.append(Move(shard, left[shard][0], target))
    return found, moves


def copying_seconds(moves: Sequence[Move], gigabytes: Sequence[float], machine: Machine) -> float:
    """How long the busiest machine sends or receives; a machine does one of each at a time."""
    busy: dict[tuple[str, int], float] = {}
    for move in moves:
        for end in (("from", move.source), ("to", move.target)):
            busy[end] = busy.get(end, 0.0) + gigabytes[move.shard]
    return max(busy.values(), default=0.0) / machine.copies_gb_a_second


# -- events --------------------------------------------------------------------------------


@dataclass
class Cluster:
    """Machines with queues, one of which is lost at a time.

    ``places`` are the copies of each shard until ``whole_at``, ``then`` those afterwards.
    """

    cores: int
    machines: int
    places: Sequence[tuple[int, ...]]
    then: Sequence[tuple[int, ...]]
    lost: int
    lost_at: float
    noticed_at: float
    whole_at: float
    gives_up_after: float
    slowed: frozenset[int]
    copying_takes: float

    def __post_init__(self) -> None:
        self._free = [[0.0] * self.cores for _ in range(self.machines)]

    def latencies(self, asked: Sequence[tuple[float, int, int, float]]) -> list[float]:
        """Answer questions; return the seconds of each, in their order.

        A question is (when, first shard, how many shards, searching seconds in each); it is
        answered when all its shards are. Its copies are asked of the machine that is free first.
        """
        done = [0.0] * len(asked)
        waiting = [
            (when, number, shard)
            for number, (when, first, parts, _) in enumerate(asked)
            for shard in range(first, first + parts)
        ]
        heapq.heapify(waiting)
        while waiting:
            now, number, shard = heapq.heappop(waiting)
            again, ended = self._answered(now, shard, asked[number][3])
            if again is not None:
                heapq.heappush(waiting, (again, number, shard))
            else:
                done[number] = max(done[number], ended)
        return [ended - when for ended, (when, *_) in zip(done, asked, strict=True)]

    def _answered(self, now: float, shard: int, seconds: float) -> tuple[float | None, float]:
        """Search one shard; return when to ask again where that fails, and when it has ended."""
        copies = (self.then if now >= self.whole_at else self.places)[shard]
        if now >= self.noticed_at:
            copies = tuple(one for one in copies if one != self.lost)
        if not copies:
            # The only copy is lost: nobody answers until it is made from the catalog again.
            return self.whole_at, 0.0
        machine = min(copies, key=lambda one: (max(self._free[one][0], now), one))
        if machine == self.lost and now >= self.lost_at:
            others = [one for one in copies if one != self.lost]
            if not others:
                return max(self.noticed_at, now + self.gives_up_after), 0.0
            # One that does not answer seems busy until those who asked it give up.
            self._run(machine, now, self.gives_up_after)
            machine = min(others, key=lambda one: (self._free[one][0], one))
            return None, self._run(machine, now + self.gives_up_after, seconds)
        ended = self._run(machine, now, seconds)
        if machine == self.lost and ended > self.lost_at:
            return self.lost_at + self.gives_up_after, 0.0
        return None, ended

    def _run(self, machine: int, now: float, seconds: float) -> float:
        free = self._free[machine]
        begun = max(now, free[0])
        if machine in self.slowed and self.noticed_at <= begun < self.whole_at:
            seconds /= 1 - self.copying_takes
        heapq.heapreplace(free, begun + seconds)
        return begun + seconds


def percentiles(seconds: np.ndarray) -> dict[str, float]:
    """p50, p95 and p99 in ms: of n values in order, the one after that share of them."""
    ordered = np.sort(seconds)
    at = {name: min(len(ordered) - 1, int(share * len(ordered))) for name, share in
          (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))}  # fmt: skip
    return {f"{name}_ms": float(ordered[one]) * 1000 for name, one in at.items()}


def simulated(chunks: int, machine: Machine, load: Load) -> dict[str, float]:
    """Lose the machine that has the most to do, and say what that does to searches."""
    chooser = np.random.default_rng(load.seed)
    machines = int(plan(chunks, machine, load)["machines"])
    sizes = zipf_sizes(max(1, chunks // load.chunks_a_tenant), chunks, load.skew)
    share = sizes / sizes.sum()
    shards = shards_of(sizes, share, machines * load.shards_a_machine, load.rows_a_part)
    # What is asked often and what is large are both to be spread.
    weight = shards.load / shards.load.sum() + shards.rows / shards.rows.sum()
    places = placed(weight.tolist(), machines, load.replicas)
    hashed = by_hash(len(weight), machines, load.replicas)
    alive = list(range(machines))
    lost = int(np.argmax(carried(places, shards.load, machines)))
    then, moves = repaired(places, weight.tolist(), lost, machines)
    gigabytes = shards.rows * (MEASURED["index_bytes"] + MEASURED["catalog_bytes"]) / 1e9
    lasts = copying_seconds(moves, gigabytes.tolist(), machine)
    noticed = load.before + load.noticed_after
    cluster = Cluster(
        machine.cores, machines, places, then, lost, load.before, noticed, noticed + lasts,
        load.gives_up_after, frozenset(one for move in moves for one in (move.source, move.target)),
        machine.copying_takes,
    )  # fmt: skip
    rate = load.busy * machines * machine.cores / float(shards.load.sum())
    asked, when = _questions(chooser, rate, cluster.whole_at + load.after, sizes, share, shards)
    taken = np.array(cluster.latencies(asked))
    left = [one for one in alive if one != lost]
    spans = {
        "before": (1.0, load.before - 1.0),
        "unnoticed": (load.before, noticed),
        "copying": (noticed, cluster.whole_at),
        "after": (cluster.whole_at + 1.0, math.inf),
    }
    figures: dict[str, float] = {
        "tenants": len(sizes),
        "largest_tenant_chunks": int(sizes[0]),
        "tenants_in_several_shards": int((shards.parts > 1).sum()),
        "questions_a_second": rate,
        "hottest_to_mean": hottest(places, shards.load, alive),
        "hottest_to_mean_by_hash": hottest(hashed, shards.load, alive),
        "hottest_to_mean_at_loss": hottest(without(places, lost), shards.load, left),
        "hottest_to_mean_at_loss_by_hash": hottest(without(hashed, lost), shards.load, left),
        "hottest_to_mean_after": hottest(then, shards.load, left),
        "fullest_to_mean": hottest(places, shards.rows, alive),
        "moved_gb": float(sum(gigabytes[move.shard] for move in moves)),
        "moved_share": float(
            sum(shards.rows[move.shard] for move in moves) / shards.rows.sum() / load.replicas
        ),
        "copying_seconds": lasts,
    }
    for name, (start, end) in spans.items():
        inside = taken[(when >= start) & (when < end)]
        figures |= {f"{name}_{key}": value for key, value in percentiles(inside).items()}
    figures["slowest_ms"] = float(taken.max()) * 1000
    return figures


def _questions(
    chooser: np.random.Generator,
    rate: float,
    until: float,
    sizes: np.ndarray,
    share: np.ndarray,
    shards: Shards,
) -> tuple[list[tuple[float, int, int, float]], np.ndarray]:
    """Questions at random times, of tenants as often as they are large."""
    count = int(rate * until)
    when = np.sort(chooser.random(count) * until)
    tenants = np.searchsorted(np.cumsum(share), chooser.random(count) * (1 - 1e-12))
    tenants = np.minimum(tenants, len(sizes) - 1)
    parts = shards.parts[tenants]
    medians = search_ms(sizes[tenants] / parts) / 1000
    spread = math.log(MEASURED["p95_to_p50"]) / 1.645
    seconds = medians * np.exp(spread * chooser.standard_normal(count))
    columns = (when, shards.first[tenants], parts, seconds)
    return list(zip(*(column.tolist() for column in columns), strict=True)), when


def measure(chunks: int, machine: Machine, load: Load) -> dict[str, Any]:
    """The plan for a size, its simulation, and what was assumed."""
    return {
        "chunks": chunks,
        **plan(chunks, machine, load),
        **simulated(chunks, machine, load),
    }


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--chunks", type=float, nargs="+", default=[1e8, 1e9])
    for name, kind in (("skew", float), ("busy", float), ("replicas", int), ("seed", int)):
        parser.add_argument(f"--{name}", type=kind, default=getattr(Load(), name))
    parser.add_argument("--memory-gb", type=float, default=Machine().memory_gb)
    parser.add_argument("--cores", type=int, default=Machine().cores)
    parser.add_argument("--euros-a-month", type=float, default=Machine().euros_a_month)
    given = parser.parse_args()
    machine = Machine(given.cores, given.memory_gb, euros_a_month=given.euros_a_month)
    load = replace(
        Load(), skew=given.skew, busy=given.busy, replicas=given.replicas, seed=given.seed
    )
    found = [measure(int(chunks), machine, load) for chunks in given.chunks]
    if given.json:
        report({"machine": asdict(machine), "load": asdict(load), "sizes": found}, True)
        return
    for name in found[0]:
        values = "".join(f"{one[name]:>16,.4g}" for one in found)
        print(f"{name:<34}{values}")


if __name__ == "__main__":
    main()

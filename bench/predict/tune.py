"""What `shardlens tune` finds in a grid, held against the best of that grid, of which every point is measured.

The grid is swept with repeats in random order. Then a search with nothing but the start goes over the same grid, in a library of
its own. It has met its goal where the sweep does not call slower, beyond noise, what the search found, and where it took a
quarter of the sweep's runs at most. Where nothing in the grid can be told from its best, any point would do: that meets nothing.
"""
import pathlib
import tempfile

from predict import Program, option_parser, print_rows

GRIDS = {
    "buckets": ["bucket_cap_mb=0.125,0.25,0.5,1,2,25", "overlap_comm=true,false", "sharding_strategy=ddp,zero1"],
    "strategies": ["sharding_strategy=ddp,zero1,no_shard,shard_grad_op,full_shard", "bucket_cap_mb=0.25,0.5,1,2,25",
                   "overlap_comm=true,false", "backward_prefetch=pre,none", "forward_prefetch=false,true"],
    "large": ["sharding_strategy=ddp,zero1,no_shard,shard_grad_op,full_shard", "bucket_cap_mb=0.125,0.25,0.5,1,2,4,8,25,100",
              "overlap_comm=true,false", "backward_prefetch=pre,post,none", "forward_prefetch=false,true"],
}
SHARE = 0.25  # of the grid's runs


def parse_options():
    parser = option_parser("tune", __doc__)
    parser.add_argument("--grid", choices=GRIDS, default="strategies", help="what is searched; default strategies")
    parser.add_argument("--over", action="append", help="KEY=V1,V2,… of a grid of your own, instead of --grid; may be given again")
    parser.add_argument("--set", action="append", default=[], dest="settings", help="KEY=VALUE of all runs, the start's values among them")
    parser.add_argument("--link", default="latency_us=300,gbit_per_s=1", help="simulated; default latency_us=300,gbit_per_s=1")
    parser.add_argument("--model", default="tiny", help="default tiny")
    parser.add_argument("--ranks", type=int, default=2, help="default 2")
    parser.add_argument("--device", default="cpu", help="default cpu")
    parser.add_argument("--steps", type=int, default=23, help="of each run, of which 3 are not measured; default 23")
    parser.add_argument("--repeats", type=int, default=2, help="runs of each of the grid's points; default 2")
    parser.add_argument("--searches", type=int, default=1, help="how often it is searched; default once")
    parser.add_argument("--seed", type=int, default=1, help="of the sweep's order; default 1")
    return parser.parse_args()


class Desk:
    """Asks the program, in libraries below one folder."""

    def __init__(self, options, folder):
        self.options, self.folder = options, pathlib.Path(folder)

    def job(self):
        settings = {"model": self.options.model, "ranks": self.options.ranks, "device": self.options.device,
                    "steps": self.options.steps, "batch_per_rank": 2, "sequence_length": 64, "simulate_link": self.options.link}
        return settings | dict(assignment.split("=", 1) for assignment in self.options.settings)

    def ask(self, command, library, settings, *arguments):
        axes = [word for axis in self.axes() for word in ("--over", axis)]
        program = Program(self.options, self.folder / library)
        # That a point failed is one of its results; the others count. What it says meanwhile goes to standard error.
        return program.ask(command, *program.assignments(settings), *axes, *arguments, may_fail=True, stderr=None)

    def axes(self):
        return self.options.over or GRIDS[self.options.grid]

    def sweep(self):
        varied = {axis.split("=", 1)[0] for axis in self.axes()}
        settings = {key: value for key, value in self.job().items() if key not in varied}  # the start's alone
        return self.ask("sweep", "grid", settings, "--repeat", str(self.options.repeats), "--no-early-stop", "--seed",
                        str(self.options.seed), "--name", "grid")

    def search(self, number):
        return self.ask("tune", f"search {number}", self.job(), "--budget", "10h", "--name", "search")


def with_settings(points, settings):
    """The swept point that is `settings`, of which those that have no effect are left out."""
    return next((point for point in points if all(point["settings"].get(key) == value for key, value in settings.items())), None)


def summary_rows(sweep, points):
    best = next((point for point in points if point["verdict"] == "best"), None)
    if best is None:
        raise RuntimeError("no point of the grid could be measured")
    near = [point for point in points if point["verdict"] in ("best", "within_noise", "not_known")]
    half = (best["step_ms"]["high"] - best["step_ms"]["low"]) / 2
    name = ", ".join(f"{key}={value}" for key, value in best["settings"].items())
    slowest = max(point["step_ms"]["mean"] for point in points)
    return [
        {"what": f"the grid's best: {name}", "value": best["step_ms"]["mean"], "unit": "ms", "peer": f"± {half:.1f} ms (95 %)"},
        {"what": "the grid's worst", "value": slowest, "unit": "ms", "ratio": slowest / best["step_ms"]["mean"]},
        {"what": "points that cannot be told from the best", "value": len(near), "unit": "points", "peer": f"of {len(points)}",
         "ratio": len(near) / len(points)},
    ], best, near


def search_rows(found, points, best, near, grid_runs):
    if found["best"] is None:
        raise RuntimeError(found["verdict"])
    start = with_settings(points, found["start"]["settings"])
    chosen = with_settings(points, found["best"]["settings"])
    name = ", ".join(f"{key}={value}" for key, value in found["best"]["settings"].items())
    runs = len(found["runs"])
    tells = len(near) < len(points)
    row = {"what": f"tune found: {name}", "value": found["best"]["value"], "unit": "ms", "peer": found["verdict"]}
    if chosen is None:  # a start that is not in the grid, say
        return [row | {"budget": "in the grid", "met": False}]
    ratio = chosen["step_ms"]["mean"] / best["step_ms"]["mean"]
    rows = [row, {"what": "the found point, as the grid measured it", "value": chosen["step_ms"]["mean"], "unit": "ms",
                  "peer": f"best {best['step_ms']['mean']:.1f} ms", "ratio": ratio, "budget": "within noise",
                  "met": chosen in near if tells else None},
            {"what": "runs of the search", "value": runs, "unit": "runs", "peer": f"grid {grid_runs}", "ratio": runs / grid_runs,
             "budget": f"<= {SHARE}", "met": runs <= SHARE * grid_runs if tells else None}]
    if start is not None:
        rows.append({"what": "the start, as the grid measured it", "value": start["step_ms"]["mean"], "unit": "ms",
                     "ratio": start["step_ms"]["mean"] / best["step_ms"]["mean"]})
    return rows


def bench(options):
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(options, folder)
        sweep = desk.sweep()
        points = [point for point in sweep["points"] if point["step_ms"]["mean"]]
        rows, best, near = summary_rows(sweep, points)
        grid_runs = sum(len(point["runs"]) for point in points)
        for number in range(options.searches):
            rows += search_rows(desk.search(number), points, best, near, grid_runs)
        return rows


if __name__ == "__main__":
    print_rows(parse_options(), bench)

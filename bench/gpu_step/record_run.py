"""Records one short run of ranks that share a GPU: record_run.py RANK_PROGRAM FOLDER NAME RANKS KEY=VALUE…

The run is FOLDER/NAME; `shardlens report FOLDER/NAME` reads it.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "strategies"))
from rank_group import RankGroup

SETTINGS = dict(model="tiny", device="cuda", oversubscribe="true", batch_per_rank=8, sequence_length=128, steps=20,
                threads_per_rank=1, seed=3)


def main():
    program, folder, name, count, *assignments = sys.argv[1:]
    folder, count = pathlib.Path(folder).resolve(), int(count)
    settings = {**SETTINGS, "ranks": count, **dict(each.split("=", 1) for each in assignments)}
    file = folder / "settings.yaml"
    file.write_text("".join(f"{key}: \"{value}\"\n" if key == "inject" else f"{key}: {value}\n"
                            for key, value in settings.items()))
    RankGroup([program, "--settings", file, "--run", folder / name], count, folder / "ranks").wait(300)


if __name__ == "__main__":
    try:
        main()
    except (RuntimeError, OSError) as error:
        sys.exit(f"error: {error}")

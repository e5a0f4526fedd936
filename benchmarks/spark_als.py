"""``python -m benchmarks.spark_als FOLDER REG``: one fit of Spark MLlib's ALS in a process of its own with its JVM.

FOLDER holds ``train.parquet`` and ``test.parquet`` (user, item, rating). The table is cached and counted, and a small
fit made, before the clock starts: only the fit counts. Prints seconds and the RMSE of the test ratings as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

RANK, ITERATIONS = 32, 10
CORES, MEMORY = 2, "6g"


def fit(folder: Path, reg: float) -> dict:
    """Fit, and predict within the range of the ratings; pairs whose user or item is new get the mean."""
    from pyspark.ml.recommendation import ALS
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as F

    spark = (
        SparkSession.builder.master(f"local[{CORES}]")
        .appName("als")
        .config("spark.driver.memory", MEMORY)
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", str(4 * CORES))
        .config("spark.default.parallelism", str(4 * CORES))
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    train = spark.read.parquet(str(folder / "train.parquet")).repartition(4 * CORES).cache()
    test = spark.read.parquet(str(folder / "test.parquet")).cache()
    low, high, mean = train.agg(F.min("rating"), F.max("rating"), F.avg("rating")).first()
    columns = {"userCol": "user", "itemCol": "item", "ratingCol": "rating", "seed": 0, "regParam": reg}
    ALS(rank=4, maxIter=2, **columns).fit(train.sample(0.02, seed=0))  # the JVM has compiled what it will run
    started = time.perf_counter()
    model = ALS(rank=RANK, maxIter=ITERATIONS, **columns).fit(train)
    seconds = time.perf_counter() - started
    known = F.when(F.isnan("prediction"), F.lit(mean)).otherwise(F.col("prediction"))
    kept = F.least(F.greatest(known, F.lit(low)), F.lit(high))
    error = model.transform(test).select(F.avg((kept - F.col("rating")) ** 2)).first()[0]
    spark.stop()
    return {"seconds": seconds, "rmse": error**0.5}


if __name__ == "__main__":
    print(json.dumps(fit(Path(sys.argv[1]), float(sys.argv[2]))))

"""Texts made to drive a pattern into trying everything: no rule may need more than linear time.

scripts/bench_reading measures that; the tests only look at what comes out.
"""

HOSTILE = (
    "a" * 200_000,
    '"' * 200_000,
    "password=" * 20_000,
    "password='" * 20_000,
    "://" * 60_000,
    "a@" * 100_000,
    "curl -u " * 25_000,
    ("-----BE" + "GIN PRIVATE KEY-----") * 8_000,
    ("-----E" + "ND PRIVATE KEY-----\n") * 8_000,
    "eyJ" * 60_000,
    "/home/" * 30_000,
    "drwxr-xr-x 2 " * 15_000,
    "[user]\n" * 25_000,
    "?a" * 100_000,
    "token is " * 20_000,
    ":5432" * 40_000,
    "_" * 200_000,
    "A1b" * 60_000,
)

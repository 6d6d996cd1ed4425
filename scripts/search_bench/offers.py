"""(to come)"""


def run(bench, options):
    return []

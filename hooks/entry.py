# Started by file path with `-I -S`, so the package's folder is not on sys.path yet: hook.sh names it.
import sys

sys.path.insert(0, sys.argv[1])
from skill_learner.hook_runtime import process  # noqa: E402

process.run()

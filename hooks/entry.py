# Started by path with `-I -S`: the package's folder is not on sys.path, so hook.sh names it.
import sys

sys.path.insert(0, sys.argv[1])
from skill_learner.hook_runtime import load_modules_fast

load_modules_fast(sys.argv[1])
from skill_learner.hook_runtime import process  # noqa: E402

process.run()

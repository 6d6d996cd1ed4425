"""`python -m skill_learner`: what the hooks start, since no script needs to be on PATH for it."""

from skill_learner.cli.main import main

if __name__ == "__main__":
    main()

"""`python -m botz` is the `botz` command."""

from botz.cli.main import main

if __name__ == "__main__":
    main()

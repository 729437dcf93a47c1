"""`python -m chaosproxy` is `chaosproxy`."""

from chaosproxy.cli.main import main

if __name__ == "__main__":
    main()

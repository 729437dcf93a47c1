"""`python -m chaosproxy` is `chaosproxy`. Must not know: any command."""

from chaosproxy.cli.main import main

if __name__ == "__main__":
    main()
